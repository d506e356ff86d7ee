package worker_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/heapprofile/heapprofiletest"
	"heapdrift/internal/leaks"
)

// Profiles that a process wrote are a series in the order of their numbers, whatever order they arrive in; the one of
// its exit tells what was never freed.
func TestProfiles(t *testing.T) {
	p := start(t)
	run := int64(0)
	for _, i := range []int{10, 0, 3, 11, 1, 2, 9, 4, 5, 8, 7, 6} {
		server := heapprofiletest.Server(i+1, 0)
		e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "b1", Run: "soak"}, fmt.Sprintf("jeprof.4242.%d.i%d.heap", i, i),
			strings.NewReader(server.Symbolized(server.Jemalloc())))
		if err != nil {
			t.Fatal(err)
		}
		run = e.RunID
	}
	report := p.report(p.settled(run))
	if len(report.Snapshots) != 12 || report.Snapshots[10].File != "jeprof.4242.10.i10.heap" || report.Process.PID != 4242 {
		t.Fatalf("%+v of %+v", report.Snapshots, report.Process)
	}
	if f := report.Findings[0]; f.Verdict != "growing" || !strings.Contains(f.Title, "Session::Open") || f.Growth.Bytes < 60<<20 {
		t.Errorf("%s %s by %+v", f.Title, f.Verdict, f.Growth)
	}
	if w := report.Warnings; len(w) != 1 || w[0].Code != "sampled" {
		t.Errorf("%+v", w)
	}
	last := heapprofiletest.Server(13, 0)
	e, err := p.Intake.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "b1", Run: "soak"}, "jeprof.4242.12.f.heap",
		strings.NewReader(last.Symbolized(last.Jemalloc())))
	if err != nil {
		t.Fatal(err)
	}
	report = p.report(p.settled(e.RunID))
	if f := report.Findings[0]; e.RunID != run || f.LeftAtExit == nil || f.Verdict != "left-at-exit" {
		t.Errorf("run %d: %s %s, %+v", e.RunID, f.Title, f.Verdict, f.LeftAtExit)
	}
}
