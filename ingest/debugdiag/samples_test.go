package debugdiag_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
	"heapdrift/internal/corpus"
)

// truth is the content of the sample, as its author describes it.
type truth struct {
	Dump        string `json:"dump"`
	Allocations int64  `json:"allocations"`
	Bytes       int64  `json:"bytes"`
	Handles     int64  `json:"handles"`
	Duration    int64  `json:"duration_s"`
	Modules     []struct {
		Name      string `json:"name"`
		Count     int64  `json:"count"`
		Functions []struct {
			Name        string `json:"name"`
			Type        int    `json:"type"`
			Count       int64  `json:"count"`
			Bytes       int64  `json:"bytes"`
			Probability int    `json:"probability"`
			Stacks      int    `json:"stacks"`
		} `json:"functions"`
	} `json:"modules"`
	VM struct {
		Largest  int64 `json:"largest"`
		Free     int64 `json:"free"`
		Reserved int64 `json:"reserved"`
		Commit   int64 `json:"commit"`
	} `json:"vm"`
}

// types are the names of the allocation types that the sample has, by number.
var types = map[int]string{0: "Heap allocation(s)", 1: "C/C++ runtime allocation(s)", 4: "Virtual memory allocation(s)"}

func TestSample(t *testing.T) {
	path := corpus.Path(t, "dumps", "synthetic", "debugdiag_memoryanalysis_synthetic.mht")
	var want truth
	text, err := os.ReadFile(strings.TrimSuffix(path, ".mht") + ".truth.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	captures, err := debugdiag.Read(t.Context(), file)
	if err != nil || len(captures) != 1 {
		t.Fatalf("%d captures, %v", len(captures), err)
	}
	c := captures[0]
	if len(c.Warnings) > 0 {
		t.Errorf("%+v", c.Warnings)
	}
	if c.Kind != capture.KindDebugDiag || c.Shape != capture.ShapeSnapshot ||
		c.Process != (capture.Process{Name: "leakyapp.exe", PID: 4660, Bits: 64, Machine: "TESTBOX"}) ||
		len(c.Snapshots) != 1 || !c.Snapshots[0].TakenAt.Equal(time.Date(2024, 3, 14, 10, 22, 7, 0, time.UTC)) {
		t.Errorf("%v %v %+v %+v", c.Kind, c.Shape, c.Process, c.Snapshots)
	}
	checkSampleTotals(t, c, &want)
	checkSampleFunctions(t, c, &want)
	s := c.Memory.Space
	near := func(what string, got, want, unit int64) {
		if got-want > unit/100 || want-got > unit/100 {
			t.Errorf("%s is %d, and not %d", what, got, want)
		}
	}
	near("the largest hole", s.LargestFree, want.VM.Largest, 1<<40)
	for i, state := range []struct {
		name  string
		bytes int64
		unit  int64
	}{{"MEM_COMMIT", want.VM.Commit, 1 << 20}, {"MEM_RESERVE", want.VM.Reserved, 1 << 30},
		{"MEM_FREE", want.VM.Free, 1 << 40}} {
		if s.States[i].Name != state.name {
			t.Errorf("%+v", s.States)
		}
		near(state.name, s.States[i].Bytes, state.bytes, state.unit)
	}
	if s.LargestFreeAt != 0x7fff0000 {
		t.Errorf("%v", s.LargestFreeAt)
	}
}

func checkSampleTotals(t *testing.T, c *capture.Capture, want *truth) {
	t.Helper()
	total, margin := c.Total(0), int64(0)
	for _, claim := range c.Memory.Claims {
		margin += claim.UsageMargin
	}
	if total.Count != want.Allocations || total.Bytes > want.Bytes+margin || total.Bytes < want.Bytes-margin {
		t.Errorf("%+v, want %d in %d", total, want.Bytes, want.Allocations)
	}
	if h := c.Memory.Handles; len(h) != 1 || h[0] != (capture.HandleType{Type: "Event", Count: want.Handles}) {
		t.Errorf("%+v", h)
	}
	var managers []string
	for _, g := range c.Memory.Groups {
		if g.By != capture.ByManager {
			t.Errorf("%+v", g)
		}
		managers = append(managers, g.Key)
	}
	if got := strings.Join(managers,
		", "); got != "Virtual memory manager, Heap memory manager, C/C++ runtime memory manager" {
		t.Error(got)
	}
	if !hasNote(c, capture.TopicLeakTrack, "LeakTrack 2.2.0.14") || !hasNote(c, capture.TopicLeakTrack, "95425 seconds") ||
		want.Duration != 95425 {
		t.Errorf("%+v", c.Memory.Notes)
	}
	if n := c.Memory.Notes[0]; n.Topic != capture.TopicWarning ||
		!strings.HasPrefix(n.Text, "leaky.dll is responsible for 3.58 MBytes") ||
		!strings.HasPrefix(n.Advice, "If this is unexpected") {
		t.Errorf("%+v", n)
	}
}

func checkSampleFunctions(t *testing.T, c *capture.Capture, want *truth) {
	t.Helper()
	functions := 0
	for _, m := range want.Modules {
		for _, f := range m.Functions {
			functions++
			at := -1
			for i, claim := range c.Memory.Claims {
				if strings.Contains(render(c, claim.Stack), f.Name) {
					at = i
				}
			}
			if at < 0 {
				t.Errorf("%s is missing", f.Name)
				continue
			}
			claim, site := c.Memory.Claims[at], c.Sites[at]
			if claim.Usage.Count != f.Count || claim.Usage.Bytes < f.Bytes-claim.UsageMargin ||
				claim.Usage.Bytes > f.Bytes+claim.UsageMargin || claim.Percent != f.Probability ||
				claim.Type != types[f.Type] || len(claim.Samples) != f.Stacks || claim.Detached {
				t.Errorf("%+v, want %+v", claim, f)
			}
			if site.Stack != claim.Stack || site.Usage[0] != claim.Usage || site.Kind == capture.KindVirtual != (f.Type == 4) ||
				site.Heap != capture.NoHeap != (f.Type == 0) {
				t.Errorf("%+v", site)
			}
		}
	}
	if functions != len(c.Memory.Claims) || functions != len(c.Sites) || len(c.Modules) != len(want.Modules) {
		t.Errorf("%d functions, %d claims, %d sites, %+v", functions, len(c.Memory.Claims), len(c.Sites), c.Modules)
	}
	if s := c.Memory.Claims[1].Samples[0]; s.Address != 0x2a3f10 || s.Size != 64 ||
		s.Note != "00:30:20 since tracking started" ||
		render(c, s.Stack) != `ntdll!RtlAllocateHeap+7c < leaky!Cache::Add<int>+34 (d:\src\leaky\cache.cpp, 118) < leakyapp!Worker+a1 (d:\src\app\worker.cpp, 42)` {
		t.Errorf("%+v %s", s, render(c, s.Stack))
	}
	if c.Heaps[0].Handle != 0x260000 {
		t.Errorf("%+v", c.Heaps)
	}
}
