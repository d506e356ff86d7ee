package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// tracedOf is a process of a trace; 0 began before it.
func tracedOf(name string, pid uint32, sites int, began int64) store.StoredCapture {
	c := traced(sites)
	c.Process.Name, c.Process.PID = name, pid
	if began != 0 {
		c.Trace.Began = began
	}
	return store.StoredCapture{Capture: c, ArtifactKey: fmt.Sprintf("%s-%d-%d", name, pid, began),
		Table: store.AllocationTable{Key: "table"}}
}

func choices(t testing.TB, s *store.Store, run int64, limit int) string {
	t.Helper()
	list, all, err := storetest.Now(t, s).ListProcesses(t.Context(), run, limit)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for i, c := range list {
		words = append(words, c.Choose)
		if i > 0 && list[i-1].Held < c.Held || c.Bits != 64 || !c.Trace {
			t.Errorf("%+v", c)
		}
	}
	return fmt.Sprintf("%s of %d", strings.Join(words, " "), all)
}

func TestChooseProcess(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.etl")
	choose := func(process string, want error) {
		t.Helper()
		if err := s.UpdateProcess(t.Context(), e.RunID, process); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", process, err, want)
		}
	}
	choose("app.exe", store.ErrNoProcess)
	choose("", nil) // changes nothing, and there is nothing to analyse
	if got := choices(t, s, e.RunID, 9); got != " of 0" {
		t.Error(got)
	}
	captures := []store.StoredCapture{tracedOf("app.exe", 7, 30, 5e9), tracedOf("app.exe", 7, 10, 0),
		tracedOf("other.exe", 9, 1, 0)}
	if err := s.CreateCaptures(t.Context(), claim(t, s), captures); err != nil {
		t.Fatal(err)
	}
	if got := choices(t, s, e.RunID, 9); got != "7#2 7#1 other.exe of 3" {
		t.Error(got)
	}
	if got := choices(t, s, e.RunID, 1); got != "7#2 of 3" {
		t.Error(got)
	}
	list, _, err := storetest.Now(t, s).ListProcesses(t.Context(), e.RunID, 9)
	if err != nil || list[0].Held != captures[0].Held() || list[0].Began != 5e9 ||
		list[1].Began != captures[1].Trace.Began {
		t.Errorf("%+v, %v", list, err)
	}
	name(t, s, claim(t, s), "names")
	running := claim(t, s)
	before := input(t, s, e.RunID)
	choose("nobody.exe", store.ErrNoProcess)
	choose("7#3", store.ErrNoProcess)
	choose("a\x00", store.ErrNoProcess)
	choose("other.exe", nil)
	choose("7#1", nil)
	after := input(t, s, e.RunID)
	if before.Process != "" || after.Process != "7#1" || after.Revision <= before.Revision {
		t.Errorf("%+v, then %+v", before, after)
	}
	queued := claim(t, s)
	if queued.Kind != store.JobAnalyse {
		t.Errorf("%+v is queued", queued.Job)
	}
	// The analysis of an earlier choice may end last.
	save(t, s, queued, report(t, captures[1].Capture), "chosen", after.Revision)
	save(t, s, running, report(t, captures[0].Capture), "before", before.Revision)
	if run := must[store.Run](t)(storetest.Now(t, s).FindRun(t.Context(), e.RunID)); run.ReportKey != "chosen" ||
		run.ChosenProcess != "7#1" {
		t.Errorf("%+v", run)
	}
	choose("", nil)
	if in := input(t, s, e.RunID); in.Process != "" || claim(t, s).Kind != store.JobAnalyse {
		t.Errorf("%+v", in)
	}
	if err := s.UpdateProcess(t.Context(), 999, ""); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// All snapshots of one program are one choice, which shows what the last of them holds.
func TestProcessesOfSnapshots(t *testing.T) {
	s, _ := open(t)
	run := analysed(t, s, report(t, snapshot(2, 0)))
	second := target
	addEvidence(t, s, second, "b.txt")
	c := snapshot(3, 0)
	c.Process.PID = 8
	if err := s.CreateCaptures(t.Context(), claim(t, s), []store.StoredCapture{{Capture: c, ArtifactKey: "b"}}); err != nil {
		t.Fatal(err)
	}
	list, all, err := storetest.Now(t, s).ListProcesses(t.Context(), run, 9)
	want := analysis.ProcessChoice{Choose: "app.exe",
		CaptureProcess: analysis.CaptureProcess{Process: capture.Process{Name: "app.exe", PID: 8, Bits: 64}, Held: 300}}
	if err != nil || all != 1 || list[0].Choose != want.Choose || list[0].Process != want.Process ||
		list[0].Held != want.Held || list[0].Trace {
		t.Errorf("%+v of %d, %v", list, all, err)
	}
}
