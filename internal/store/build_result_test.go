package store_test

import (
	"errors"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestSide(t *testing.T) {
	l := newLab(t)
	first := leaksReport(finding{signature: "A", class: grows, bytes: 50, owner: "ui"},
		finding{signature: "B", class: stable})
	first.Warnings = []analysis.Warning{{Code: capture.EventsLost}}
	first.Power = &analysis.Power{Sentence: "weak"}
	first.Power.Unit, first.Power.Bytes = "hour", 900
	second := leaksReport(finding{signature: "A", class: leak, bytes: 20},
		finding{signature: "C", class: stable, blocks: 77})
	second.Power = &analysis.Power{Sentence: "strong"}
	second.Power.Unit, second.Power.Bytes = "hour", 300
	one, two := l.run("7/soak/1", first), l.run("7/soak/2", second)
	l.run("7/smoke/1", leaksReport(finding{signature: "D", class: leak}))
	bob := "bob"
	l.change("A", leaks.TriageChange{Assignee: &bob, Known: &leaks.Toleration{Reason: "tolerated"}})

	side := must[*compare.BuildResult](t)(l.now().FindBuildResult(t.Context(), "demo", "soak", "7"))
	if side.Build != "7" || *side.Sequence != 7 || len(side.RunIDs) != 2 || side.RunIDs[0] != one || side.RunIDs[1] != two ||
		side.Statuses[1] != "leak" ||
		!side.Trace || !side.Lossy || !side.Suffices || side.Power.Sentence != "strong" || len(side.Findings) != 1 {
		t.Errorf("%+v", side)
	}
	if lossy := must[*compare.BuildResult](t)(l.now().FindRunResult(t.Context(), one)); lossy.Suffices {
		t.Error("a run with losses suffices")
	}
	by := map[string]compare.Finding{}
	for _, f := range side.Findings {
		by[f.Signature] = f
	}
	a := by["A"]
	if a.Class != leak || *a.Score != 0.95 || !a.Certain || a.Growth.Bytes != 50 || a.Outstanding.Bytes != 1050 ||
		a.RateUnit != "hour" || a.RateBytes != 50 || a.Exposure != 1 || a.Dispersion != 51 ||
		a.Allocated != -1 || a.State != "known" || a.Owner != "bob" || a.Known != "tolerated" || a.Leaf != "leaf" ||
		len(a.Frames) != 1 || a.Kind != "heap" || a.Title != "malloc | app!FA" {
		t.Errorf("%+v", a)
	}
	for frame, want := range map[string]bool{"app!FA": true, "app!FB": false, "app!FC": true, "app!FD": false} { // not of the run with losses; of those that never leaked as well
		if seen := side.Seen[0].StacksWith(frame)+side.Seen[1].StacksWith(frame) > 0; seen != want {
			t.Errorf("%s was seen: %v", frame, !want)
		}
	}
	// A leak that was tolerated until yesterday is not known any more: a gate must not pass for it.
	yesterday := time.Now().Add(-24 * time.Hour)
	l.change("A", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "tolerated", Until: &yesterday}})
	side = must[*compare.BuildResult](t)(l.now().FindBuildResult(t.Context(), "demo", "soak", "7"))
	if a := side.Findings[0]; a.State != "ongoing" || a.Known != "" {
		t.Errorf("%+v", a)
	}
	// Two merged signatures of one run are one finding.
	if err := l.MergeSignature(t.Context(), "demo", "B", "A", "ann"); err != nil {
		t.Fatal(err)
	}
	side = must[*compare.BuildResult](t)(l.now().FindRunResult(t.Context(), one))
	if len(side.Findings) != 1 || side.Findings[0].Outstanding.Bytes != 2050 || side.Findings[0].Class != grows ||
		side.Trace {
		t.Errorf("%+v", side.Findings)
	}
	for _, where := range [][2]string{{"soak", "8"}, {"none", "7"}} {
		if _, err := l.now().FindBuildResult(t.Context(), "demo", where[0], where[1]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v: %v", where, err)
		}
	}
	if _, err := l.now().FindRunResult(t.Context(), 999); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func TestBaseline(t *testing.T) {
	l := newLab(t)
	for _, place := range []string{"1/soak", "2/soak", "3/smoke", "4/soak", "5/soak"} {
		l.run(place, leaksReport())
	}
	six := int64(6)
	addEvidence(t, l.Store,
		leaks.UploadTarget{Project: "demo", Build: "dev", Sequence: &six, Branch: "dev", Scenario: "soak"}, "a.txt")
	is := func(scenario, build, want string) {
		t.Helper()
		got, err := l.now().FindBaselineOfBuild(t.Context(), "demo", scenario, build)
		if got != want || (want == "") != errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s %s: %q, %v; want %q", scenario, build, got, err, want)
		}
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is("soak", "5", "4")
	is("soak", "4", "2") // 3 did not run it
	undecided := leaksReport()
	undecided.Verdict.Status = analysis.StatusInconclusive
	l.run("4/soak", undecided)
	is("soak", "5", "2") // 4 does not decide anything
	l.run("2/soak", undecided)
	is("soak", "4", "1")
	l.run("1/soak", undecided)
	is("soak", "5", "4") // none does
	for _, place := range []string{"1/soak", "2/soak", "4/soak"} {
		l.run(place, leaksReport())
	}
	is("soak", "1", "")
	is("soak", "dev", "5") // where its branch left the builds without one
	is("soak", "nobody", "")
	ok(l.UpdateBaseline(t.Context(), "demo", "2", true))
	ok(l.UpdateBaseline(t.Context(), "demo", "3", true)) // which has no run of the scenario: 2 stays a release
	is("soak", "5", "2")
	is("soak", "dev", "2") // a release is for all branches
	is("soak", "2", "1")   // but only for newer builds
	ok(l.UpdateBaseline(t.Context(), "demo", "1", true))
	is("soak", "5", "1")
	is("smoke", "5", "3") // a baseline without the scenario says nothing
	if got := must[string](t)(l.now().FindBaseline(t.Context(), "demo")); got != "1" {
		t.Error(got)
	}
	ok(l.UpdateBaseline(t.Context(), "demo", "1", false))
	is("soak", "5", "2")
	ok(l.UpdateBaseline(t.Context(), "demo", "2", true))
	ok(l.UpdateBaseline(t.Context(), "demo", "1", false)) // which is none any more
	ok(l.UpdateBaseline(t.Context(), "demo", "2", false))
	is("soak", "5", "4")
	for _, err := range []error{l.UpdateBaseline(t.Context(), "demo", "x", true),
		l.UpdateBaseline(t.Context(), "demo", "x", false), l.UpdateBaseline(t.Context(), "x", "1", true)} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}

// A result counts its runs that are read or analysed: what they show will change. A run without a report is none of its
// runs, and counts too.
func TestPendingRuns(t *testing.T) {
	l := newLab(t)
	done := l.run("7/soak/1", leaksReport(finding{signature: "A", class: leak, bytes: 20}))
	pending := func() int {
		t.Helper()
		return must[*compare.BuildResult](t)(l.now().FindBuildResult(t.Context(), "demo", "soak", "7")).Pending
	}
	if n := pending(); n != 0 {
		t.Errorf("%d runs are pending after the analysis", n)
	}
	target := leaks.UploadTarget{Project: "demo", Build: "7", Scenario: "soak"}
	for n, run := range []string{"1", "2"} {
		target.Run = run
		must[store.Evidence](t)(l.CreateEvidence(t.Context(), target,
			store.Evidence{Name: "late.txt", SHA256: "late" + run, Bytes: 1, Kind: "umdh"}))
		if got := pending(); got != n+1 {
			t.Errorf("%d runs are pending, want %d", got, n+1)
		}
	}
	side := must[*compare.BuildResult](t)(l.now().FindBuildResult(t.Context(), "demo", "soak", "7"))
	if len(side.RunIDs) != 1 || side.RunIDs[0] != done {
		t.Errorf("the result has the runs %v", side.RunIDs)
	}
	l.sql(`update jobs set state = 'failed' where state = 'queued'`)
	if n := pending(); n != 0 {
		t.Errorf("%d runs are pending after their jobs failed", n)
	}
}
