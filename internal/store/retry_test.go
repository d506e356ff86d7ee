package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// A failure that another try may avoid is queued again; evidence that was refused for its content is not.
func TestRetry(t *testing.T) {
	s, _ := open(t)
	fail := func(code string) {
		t.Helper()
		if err := s.FailJob(t.Context(), claim(t, s),
			store.Failure{Code: code, Message: "x", Final: true, Version: "1"}); err != nil {
			t.Fatal(err)
		}
	}
	run := addEvidence(t, s, target, "crashed.txt").RunID
	fail("reader-crashed")
	refused := addEvidence(t, s, target, "refused.txt")
	fail("unknown-format")
	if n, err := s.RetryRun(t.Context(), run); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), refused.ID)); e.State != "failed" {
		t.Errorf("%+v", e)
	}
	lease := claim(t, s)
	if lease.Kind != store.JobRead || *lease.EvidenceID == refused.ID {
		t.Errorf("%+v", lease)
	}
	if n, err := s.RetryRun(t.Context(), run); n != 0 || err != nil {
		t.Errorf("while it is at work: %d, %v", n, err)
	}
	if err := s.CreateCaptures(t.Context(), lease,
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "a"}}); err != nil {
		t.Fatal(err)
	}
	fail("internal") // the search for names
	fail("internal") // the report
	if n, err := s.RetryRun(t.Context(), run); n != 2 || err != nil {
		t.Errorf("names and report: %d, %v", n, err)
	}
	var kinds []string
	for _, due := range must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), time.Hour)) {
		kinds = append(kinds, must[store.Lease](t)(s.ClaimJob(t.Context(), due.ID, time.Minute)).Kind)
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{store.JobAnalyse, store.JobSymbolise}) {
		t.Errorf("%v", kinds)
	}
	if _, err := s.RetryRun(t.Context(), 999); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// The names and the report of one run are tried again. Another run keeps the errors of its own.
func TestRetryOfOneRun(t *testing.T) {
	s, _ := open(t)
	var runs []int64
	for _, build := range []string{"1", "2"} {
		to := target
		to.Build = build
		runs = append(runs, addEvidence(t, s, to, "a.txt").RunID)
		if err := s.CreateCaptures(t.Context(), claim(t, s),
			[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "a" + build}}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the search for names, and the report
			if err := s.FailJob(t.Context(), claim(t, s), store.Failure{Code: "internal", Message: "x", Final: true, Version: "1"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, err := s.RetryRun(t.Context(), runs[0]); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for i, code := range []string{"", "internal"} {
		run := must[store.Run](t)(storetest.Now(t, s).FindRun(t.Context(), runs[i]))
		if run.ErrorCode != code || (run.Error == "") != (code == "") {
			t.Errorf("run %d: %q, %q; want %q", i, run.ErrorCode, run.Error, code)
		}
	}
	if n, err := s.RetryRun(t.Context(), runs[1]); n != 2 || err != nil {
		t.Errorf("the other run: %d, %v", n, err)
	}
}

// Another version of heapdrift tries once the jobs that this version failed by a fault of its own.
func TestRetryInternal(t *testing.T) {
	s, _ := open(t)
	addEvidence(t, s, target, "a.txt")
	fail := func(version string) {
		t.Helper()
		if err := s.FailJob(t.Context(), claim(t, s),
			store.Failure{Code: "internal", Message: "x", Final: true, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	fail("1")
	for _, step := range []struct {
		version string
		runs    int
	}{{"1", 0}, {"2", 1}, {"2", 0}} {
		if n, err := s.RetryInternal(t.Context(), step.version); n != step.runs || err != nil {
			t.Errorf("version %s tries %d runs, %v; want %d", step.version, n, err, step.runs)
		}
	}
	fail("2")
	if n, err := s.RetryInternal(t.Context(), "2"); n != 0 || err != nil {
		t.Errorf("what version 2 failed itself: %d, %v", n, err)
	}
	if n, err := s.RetryInternal(t.Context(), "3"); n != 1 || err != nil {
		t.Errorf("version 3: %d, %v", n, err)
	}
}

// Cancelled jobs name who cancelled them, the results of their workers are refused, and the jobs can be tried again.
func TestCancel(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	lease := claim(t, s)
	if n, err := s.CancelRun(t.Context(), e.RunID, "Ann"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := s.RenewLease(t.Context(), lease, time.Minute); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its worker goes on: %v", err)
	}
	if err := s.CreateCaptures(t.Context(), lease,
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "a"}}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its result: %v", err)
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), e.ID)); e.State != "failed" ||
		e.ErrorCode != "cancelled" || e.Error != "Ann has cancelled it; it can be tried again" {
		t.Errorf("%+v", e)
	}
	if n, err := s.RetryRun(t.Context(), e.RunID); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := s.CreateCaptures(t.Context(), claim(t, s),
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "a"}}); err != nil {
		t.Fatal(err)
	}
	// The search for names is cancelled, so there is no report either; another try gives both.
	if n, err := s.CancelRun(t.Context(), e.RunID, "Ann"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if run := must[store.Run](t)(storetest.Now(t, s).FindRun(t.Context(), e.RunID)); run.State() != "failed" ||
		run.ErrorCode != "cancelled" {
		t.Errorf("%s, %+v", run.State(), run)
	}
	if n, err := s.RetryRun(t.Context(), e.RunID); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
