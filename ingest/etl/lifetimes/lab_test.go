package lifetimes_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/lifetimes"
	"heapdrift/internal/corpus"
)

type usage struct{ Count, Bytes int64 }

type classes struct{ AIFO, AIFI, AOFO, AOFI usage }

type visibleTruth struct {
	Alloc, Free, Realloc int64
	UnknownFrees         int64 `json:"unknown_frees"`
	AllocOntoLive        int64 `json:"alloc_onto_live"`
	Destroy              usage `json:"ended_by_heap_destroy"`
	Exit                 usage `json:"ended_by_process_exit"`
	Outstanding          usage
	PerStack             map[string]usage `json:"outstanding_per_process_and_stack"`
}

// truth is the part of a scenario's truth.json that lifetimes answer.
type truth struct {
	Runs []struct {
		Name  string
		PID   uint32
		Files []struct {
			File     string
			Zero     int64 `json:"qpc_of_tick_0"`
			Dropped  int64 `json:"events_dropped_on_purpose"`
			KeyCount int64 `json:"stack_key_definitions"`
		} `json:"etl_files"`
		Visible  *visibleTruth `json:"visible_in_file"`
		Warnings []string      `json:"expected_warnings"`
		Windows  []struct {
			Name string
			T1   int64 `json:"t1_ticks"`
			T2   int64 `json:"t2_ticks"`
			classes
			PerStack []classes `json:"per_stack"`
			PerHeap  []struct {
				Handle string
				classes
				LiveAtEnd usage `json:"live_at_end"`
			} `json:"per_heap"`
			Virtual *struct {
				Count, Size     int64
				Impacting       int64            `json:"impacting_size"`
				ImpactingCount  int64            `json:"impacting_count"`
				OutstandingAtT1 int64            `json:"outstanding_at_t1"`
				OutstandingAtT2 int64            `json:"outstanding_at_t2"`
				Transient       usage            `json:"transient_AIFI"`
				PerStack        map[string][]int `json:"per_stack_count_size_impacting"`
			}
		}
	}
}

// track follows a trace to its end.
func track(t *testing.T, trace *rawTrace) (*lifetimes.Tracker, *labRows) {
	t.Helper()
	sink := &labRows{}
	tr := lifetimes.New(sink)
	for i := range trace.events {
		if err := tr.Add(&trace.events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Finish(); err != nil {
		t.Fatal(err)
	}
	return tr, sink
}

type labRows struct{ rows []allocations.Row }

func (c *labRows) AddRows(rows []allocations.Row) error {
	c.rows = append(c.rows, rows...)
	return nil
}

func TestLab(t *testing.T) {
	for _, scenario := range []string{"A", "B", "D", "F"} {
		root := corpus.Path(t, "lab", scenario)
		text, err := os.ReadFile(filepath.Join(root, "truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var all truth
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		seen := map[string]uint32{} // runs of one process id in one file: the PID is used again
		for i := range all.Runs {
			r := &all.Runs[i]
			files := r.Files
			if files == nil && i > 0 && all.Runs[i-1].Name == r.Name {
				files = all.Runs[i-1].Files
			}
			for _, f := range files {
				path := labFile(root, r.Name, f.File)
				file, err := os.ReadFile(path)
				if err != nil || compressed(file) || filepath.Base(path) == "kernel.etl" {
					continue // compressed twins hold the same events
				}
				t.Run(scenario+"/"+r.Name+"/"+filepath.Base(path), func(t *testing.T) {
					// Keys are not resolved here; two thirds of the stacks of a WOW64 process come with three more frames.
					stacks := f.KeyCount == 0 && r.Name != "A/etl_wow64"
					trace := readRaw(t, file, f.Zero)
					tr, sink := track(t, trace)
					if r.Visible != nil {
						checkVisible(t, tr, sink.rows, r.Visible, stacks)
					}
					if len(r.Warnings) > 0 && r.Name != "F/alloc_onto_live" && r.Name != "F/no_rundown" {
						return // damaged: the windows are what the process did, not what the file shows
					}
					nth := seen[path+strconv.Itoa(int(r.PID))]
					seen[path+strconv.Itoa(int(r.PID))]++
					for instance, pid := range trace.pids {
						if pid != r.PID {
							continue
						}
						if nth == 0 {
							checkWindows(t, &all, i, tr, sink.rows, uint32(instance), stacks)
						}
						nth--
					}
				})
			}
		}
	}
}

// labFile is where a trace of a run lies: in the folder of the run, or beside the truth.
func labFile(root, run, file string) string {
	for _, dir := range []string{filepath.Join(filepath.Dir(root), run), filepath.Join(root, run),
		filepath.Join(root, run, "etl"), root} {
		if path := filepath.Join(dir, file); fileExists(path) {
			return path
		}
	}
	return filepath.Join(root, file)
}

func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// compressed looks at the flag of the second buffer.
func compressed(file []byte) bool {
	size := int(file[0]) | int(file[1])<<8 | int(file[2])<<16
	return size+0x36 < len(file) && file[size+0x34]&0x40 != 0
}

func checkVisible(t *testing.T, tr *lifetimes.Tracker, rows []allocations.Row, want *visibleTruth, stacks bool) {
	t.Helper()
	got := visibleTruth{
		Alloc: tr.Events[lifetimes.HeapAlloc], Free: tr.Events[lifetimes.HeapFree], Realloc: tr.Events[lifetimes.HeapRealloc],
		UnknownFrees: tr.Anomalies.UnknownFrees, AllocOntoLive: tr.Anomalies.LostFrees,
	}
	perStack := map[uint32]usage{}
	for _, r := range rows {
		u := map[allocations.End]*usage{
			allocations.EndDestroy: &got.Destroy, allocations.EndExit: &got.Exit, allocations.EndNone: &got.Outstanding,
		}[r.End]
		if u == nil || r.UnknownFree || r.Kind != allocations.KindHeap {
			continue
		}
		u.Count++
		u.Bytes += int64(r.Size)
		if r.End == allocations.EndNone {
			s := perStack[r.Site]
			perStack[r.Site] = usage{s.Count + 1, s.Bytes + int64(r.Size)}
		}
	}
	wantStacks := sorted(want.PerStack)
	if gotStacks := sorted(perStack); stacks && !slices.Equal(gotStacks, wantStacks) {
		t.Errorf("outstanding per stack %+v, want %+v", gotStacks, wantStacks)
	}
	w := *want
	w.PerStack = nil
	if g, w := mustJSON(t, got), mustJSON(t, w); g != w {
		t.Errorf("visible in the file\n%s, want\n%s", g, w)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sorted[K comparable](m map[K]usage) []usage {
	var out []usage
	for _, u := range m {
		out = append(out, u)
	}
	slices.SortFunc(out,
		func(a, b usage) int { return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Count, b.Count)) })
	return out
}

func checkWindows(t *testing.T, all *truth, run int, tr *lifetimes.Tracker, rows []allocations.Row,
	instance uint32, stacks bool) {
	t.Helper()
	sites := tr.Sites()
	for _, want := range all.Runs[run].Windows {
		w := allocations.NewWindow(want.T1*100, want.T2*100, len(sites))
		if err := w.AddRows(rows); err != nil {
			t.Fatal(err)
		}
		sum := func(kind allocations.Kind, heap uint64) allocations.WindowUsage {
			return w.Total(func(i int) bool {
				return sites[i].Process == instance && sites[i].Kind == kind && (heap == 0 || sites[i].Heap == heap)
			})
		}
		if got := classesOf(sum(allocations.KindHeap, 0)); got != want.classes {
			t.Errorf("%s: %+v, want %+v", want.Name, got, want.classes)
		}
		for _, h := range want.PerHeap {
			handle, err := strconv.ParseUint(h.Handle, 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			c := sum(allocations.KindHeap, handle)
			if got := classesOf(c); got != h.classes || usage(c.Outstanding()) != h.LiveAtEnd {
				t.Errorf("%s, heap %#x: %+v, want %+v", want.Name, handle, got, h)
			}
		}
		perStack := map[uint32]allocations.WindowUsage{}
		for i, s := range sites {
			if s.Process == instance && s.Kind == allocations.KindHeap {
				perStack[s.Stack] = perStack[s.Stack].Add(w.Sites[i])
			}
		}
		var got, wanted []classes
		for _, c := range perStack {
			if c := classesOf(c); c != (classes{}) {
				got = append(got, c)
			}
		}
		for _, c := range want.PerStack {
			if c != (classes{}) {
				wanted = append(wanted, c)
			}
		}
		order := func(a, b classes) int { return cmp.Compare(mustJSON(t, a), mustJSON(t, b)) }
		slices.SortFunc(got, order)
		slices.SortFunc(wanted, order)
		if stacks && !slices.Equal(got, wanted) {
			t.Errorf("%s: stacks\n%+v, want\n%+v", want.Name, got, wanted)
		}
		if v := want.Virtual; v != nil {
			c := sum(allocations.KindVirtual, 0)
			g := [...]int64{c.Allocated().Count, c.Allocated().Bytes, c.AIFO.Bytes, c.AIFO.Count, c.AtStart().Bytes,
				c.Outstanding().Bytes, c.AIFI.Count, c.AIFI.Bytes}
			x := [...]int64{v.Count, v.Size, v.Impacting, v.ImpactingCount, v.OutstandingAtT1, v.OutstandingAtT2,
				v.Transient.Count, v.Transient.Bytes}
			if g != x {
				t.Errorf("%s, virtual: %v, want %v", want.Name, g, x)
			}
		}
	}
}

func classesOf(c allocations.WindowUsage) classes {
	return classes{usage(c.AIFO), usage(c.AIFI), usage(c.AOFO), usage(c.AOFI)}
}
