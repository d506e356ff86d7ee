package store_test

import (
	"errors"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/store"
)

// look queues a search for the run's symbols and claims it.
func look(t *testing.T, s *store.Store, run int64) store.Lease {
	t.Helper()
	if err := s.CreateSymboliseJob(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return claim(t, s)
}

// Two searches of a run may run at once. If the workers of both are lost, one search is due again, and so are the jobs
// of other runs.
func TestLostSearchesOfOneRun(t *testing.T) {
	s, _ := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	to := target
	to.Run = "other"
	other := withModule(t, s, to, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	lost := []store.Lease{look(t, s, run), look(t, s, run), look(t, s, other)}
	for _, l := range lost {
		if _, err := s.RenewLease(t.Context(), l, -time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.ReapJobs(t.Context()); err != nil || n != len(lost) {
		t.Errorf("%d of %d jobs taken back, %v", n, len(lost), err)
	}
	if due := must[[]store.DueJob](t)(s.DispatchAllJobs(t.Context(), time.Hour)); len(due) != 2 {
		t.Errorf("%d jobs are due, want one for each run", len(due))
	}
}

// A search that fails after a later search of the run has succeeded leaves no error and keeps the later names.
func TestFailureOfAnOlderSearch(t *testing.T) {
	s, _ := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	slow := look(t, s, run)
	name(t, s, look(t, s, run), "newer")
	before := input(t, s, run)
	if err := s.FailJob(t.Context(), slow,
		store.Failure{Code: "internal", Message: "the share is away", Final: true}); err != nil {
		t.Fatal(err)
	}
	if in := input(t, s, run); in.NamesError != "" || in.NamesKey != "newer" || in.Revision != before.Revision {
		t.Errorf("%+v", in)
	}
}

// If two workers hold one job because its lease has passed on, only one of them stores its names.
func TestNamesAreStoredOnce(t *testing.T) {
	s, _ := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	first := look(t, s, run)
	naming := must[store.SymbolSearch](t)(s.BeginSymbolSearch(t.Context(), run))
	if _, err := s.RenewLease(t.Context(), first, -time.Second); err != nil {
		t.Fatal(err)
	}
	if n, err := s.ReapJobs(t.Context()); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	second, before := claim(t, s), input(t, s, run)
	name(t, s, second, "second")
	for _, late := range []store.Lease{first, second} {
		if err := s.UpdateNames(t.Context(), late, naming, "late"); !errors.Is(err, store.ErrFenced) {
			t.Error(err)
		}
	}
	if in := input(t, s, run); in.NamesKey != "second" || in.Revision != before.Revision+1 {
		t.Errorf("%+v", in)
	}
}
