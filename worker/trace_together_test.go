package worker_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/internal/corpus"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/storetest"
)

// The sessions of kernel and heap are one trace, whatever the order in which their files come.
func TestPairOfFilesIsOneTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	scenario := etltest.Invent(1, etltest.ScenarioSize{})
	kernel, heap := scenario.Pair(etltest.Format{})
	alone := start(t)
	merged := alone.report(alone.settled(alone.upload("merged.etl", string(scenario.File(etltest.Format{})))))
	captures := alone.captures(1)
	type file struct {
		name    string
		content []byte
	}
	k, h := file{"kernel.etl", kernel}, file{"heap.etl", heap}
	for what, steps := range map[string][][]file{
		"kernel first":        {{k}, {h}},
		"heap first":          {{h}, {k}},
		"both at once":        {{k, h}},
		"the pair again":      {{k, h}, {h, k}},
		"one under two names": {{k, {"copy-of-kernel.etl", kernel}}, {h}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			var run int64
			for _, files := range steps {
				var wait sync.WaitGroup
				for _, f := range files {
					wait.Go(func() { p.upload(f.name, string(f.content)) })
				}
				wait.Wait()
				run = p.upload(files[0].name, string(files[0].content)) // changes nothing
				p.settled(run)
			}
			r := p.report(p.settled(run))
			if got, want := figures(r), figures(merged); got != want {
				t.Error("the pair gives other numbers than the merged trace: " + difference(got, want))
			}
			if n := p.captures(run); n != captures {
				t.Errorf("%d captures, merged has %d", n, captures)
			}
			names := evidenceNames(r)
			for _, want := range []string{"kernel.etl used=true", "heap.etl used=true"} {
				if !slices.Contains(names, want) && what != "one under two names" {
					t.Errorf("the report names %v", names)
				}
			}
			if len(names) != 2 {
				t.Errorf("the report names %v", names)
			}
			separate := 0
			for _, owner := range p.owners(run) {
				var name, state, with string
				if n, _ := fmt.Sscanf(owner, "%s %s with %s", &name, &state, &with); n < 3 {
					separate++
				}
				if state != "read" {
					t.Errorf("%s", owner)
				}
			}
			if separate != 1 {
				t.Errorf("files hang on %v", p.owners(run))
			}
		})
	}
}

// The kernel's half of a trace holds no memory events where only heaps were recorded: by itself it is no trace.
func TestHalfOfATrace(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	scenario := etltest.Invent(1, etltest.ScenarioSize{Steps: 100})
	scenario.Regions = nil
	kernel, heap := scenario.Pair(etltest.Format{})
	p := start(t)
	run := p.settled(p.upload("kernel.etl", string(kernel)))
	list, err := storetest.Now(t, p.Store).ListEvidence(t.Context(), run.ID)
	if err != nil || run.State() != "failed" || list[0].ErrorCode != tracecapture.CodeNoMemory {
		t.Fatalf("%+v %+v %v", run, list, err)
	}
	run = p.settled(p.upload("heap.etl", string(heap)))
	if owners := p.owners(run.ID); run.State() != "ready" ||
		!slices.Equal(owners, []string{"heap.etl read", "kernel.etl read with heap.etl"}) {
		t.Errorf("%s: %v", run.State(), owners)
	}
	if name := p.report(run).Process.Name; name == "" {
		t.Error("the process has no name, which the kernel's half tells")
	}
}

// A trace of another boot is a trace of its own, beside a pair of one boot.
func TestTraceOfAnotherBoot(t *testing.T) {
	scenario := etltest.Invent(1, etltest.ScenarioSize{})
	kernel, heap := scenario.Pair(etltest.Format{})
	other := etltest.Invent(9, etltest.ScenarioSize{Steps: 40}).File(etltest.Format{Frequency: 3_000_000})
	for _, order := range [][]string{{"kernel.etl", "other.etl", "heap.etl"}, {"other.etl", "heap.etl", "kernel.etl"},
		{"heap.etl", "kernel.etl", "other.etl"}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			p := start(t)
			var run int64
			for _, name := range order {
				run = p.upload(name, string(map[string][]byte{"kernel.etl": kernel, "heap.etl": heap, "other.etl": other}[name]))
			}
			p.settled(run)
			owners := p.owners(run)
			if !slices.Contains(owners, "other.etl read") || len(owners) != 3 {
				t.Error(owners)
			}
			pair := slices.DeleteFunc(owners, func(s string) bool { return s == "other.etl read" })
			if !slices.Equal(pair, []string{"heap.etl read", "kernel.etl read with heap.etl"}) &&
				!slices.Equal(pair, []string{"heap.etl read with kernel.etl", "kernel.etl read"}) {
				t.Error(pair)
			}
		})
	}
}

// Files that are no part of a trace are recordings of their own: a file of another time of the same boot, and the
// merged file beside the files that it was made from.
func TestRecordingsApart(t *testing.T) {
	scenario := etltest.Invent(1, etltest.ScenarioSize{Steps: 100})
	kernel, heap := scenario.Pair(etltest.Format{})
	later := etltest.Invent(2, etltest.ScenarioSize{Steps: 100})
	later.Start = scenario.Start + 9_000_000 // 0.9 s, after the end of the first: still the same boot
	if scenario.End > 900_000_000 {
		t.Fatal("the first lasts too long")
	}
	for what, files := range map[string]map[string][]byte{
		"another time": {"b-first.etl": scenario.File(etltest.Format{}),
			"a-second.etl": later.File(etltest.Format{Origin: 9_500_000_000_123 + 9_000_000})},
		"the merged trace": {"merged.etl": scenario.File(etltest.Format{}), "kernel.etl": kernel, "heap.etl": heap},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			var run int64
			for name, content := range files {
				run = p.upload(name, string(content))
			}
			p.settled(run)
			apart := 0
			for _, owner := range p.owners(run) {
				if !strings.Contains(owner, " with ") {
					apart++
				}
				if strings.HasPrefix(owner, "merged.etl") && owner != "merged.etl read" {
					t.Error(owner)
				}
			}
			if apart != 2 {
				t.Errorf("%v", p.owners(run))
			}
			if names := evidenceNames(p.report(p.settled(run))); what == "another time" &&
				!slices.Equal(names, []string{"b-first.etl used=false", "a-second.etl used=true"}) {
				t.Errorf("the report is of %v, not of the last trace", names)
			}
		})
	}
}

// The recordings of one run of a program in the lab are the same report: merged, compressed, with stack keys, and as
// the pair of files that was never merged.
func TestRecordingsOfOneRunInTheLab(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	folder := corpus.Path(t, "lab", "A", "etl_x64")
	p := start(t)
	want := ""
	for _, names := range [][]string{{"merged_plain.etl"}, {"merged_keys_compressed.etl"}, {"heap.etl", "kernel.etl"}} {
		var id int64
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "lab", Build: names[0]}, name, bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			id = e.RunID
		}
		run := p.settled(id)
		if run.State() != "ready" {
			t.Fatalf("%v: %+v", names, run)
		}
		got := figures(p.report(run))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%v: %s", names, difference(got, want))
		}
	}
}
