package store_test

import (
	"testing"
	"time"

	"heapdrift/internal/store"
)

// A result that comes while another job of its run is pending decides nothing. However that job ends, the gate decides
// then.
func TestLastJobDecides(t *testing.T) {
	l := newLab(t)
	lost := func(job store.Lease) error {
		l.sql(`update jobs set attempt = max_attempts, lease_until = now() - interval '1 second' where id = $1`, job.ID)
		_, err := l.ReapJobs(t.Context())
		return err
	}
	failed := func(job store.Lease) error {
		return l.FailJob(t.Context(), job, store.Failure{Code: "internal", Message: "the share is away", Final: true})
	}
	cancelled := func(job store.Lease) error {
		l.sql(`update jobs set kind = 'read' where id = $1`, job.ID) // without names there would be no report
		_, err := l.CancelRun(t.Context(), job.RunID, "ann")
		return err
	}
	for build, end := range map[string]func(slow store.Lease, search store.SymbolSearch) error{
		"overtaken": func(slow store.Lease, search store.SymbolSearch) error {
			return l.UpdateNames(t.Context(), slow, search, "older")
		},
		"failed":    func(slow store.Lease, _ store.SymbolSearch) error { return failed(slow) },
		"lost":      func(slow store.Lease, _ store.SymbolSearch) error { return lost(slow) },
		"cancelled": func(slow store.Lease, _ store.SymbolSearch) error { return cancelled(slow) },
	} {
		run := l.run(build, leaksReport(finding{signature: "A", class: leak, bytes: 7}))
		decisions := func() int {
			return len(must[[]store.StoredDecision](t)(l.now().ListDecisions(t.Context(), run)))
		}
		l.sql(`delete from decisions`)
		slow := look(t, l.Store, run)
		search := must[store.SymbolSearch](t)(l.BeginSymbolSearch(t.Context(), run))
		name(t, l.Store, look(t, l.Store, run), "newer")
		save(t, l.Store, claim(t, l.Store), leaksReport(finding{signature: "A", class: leak, bytes: 8}), "report", input(t, l.Store, run).Revision)
		if n := decisions(); n != 0 {
			t.Errorf("%s: %d decisions while a search is running", build, n)
		}
		if err := end(slow, search); err != nil {
			t.Errorf("%s: %v", build, err)
		}
		if n := decisions(); n != 1 {
			t.Errorf("%s: %d decisions after the search has ended, want 1", build, n)
		}
	}
}

// Of two jobs that end at the same time without a result, one sees that the other is done.
func TestOneOfLastJobsDecides(t *testing.T) {
	l := newLab(t)
	run := l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}))
	for range 10 {
		l.sql(`delete from decisions`)
		first, second := look(t, l.Store, run), look(t, l.Store, run)
		name(t, l.Store, look(t, l.Store, run), "newer")
		save(t, l.Store, claim(t, l.Store), leaksReport(finding{signature: "A", class: leak, bytes: 8}), "report", input(t, l.Store, run).Revision)
		ended := make(chan error)
		for _, job := range []store.Lease{first, second} {
			go func() {
				ended <- l.FailJob(t.Context(), job, store.Failure{Code: "internal", Message: "the share is away", Final: true})
			}()
		}
		for range 2 {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("they wait for each other")
			}
		}
		if n := len(must[[]store.StoredDecision](t)(l.now().ListDecisions(t.Context(), run))); n != 1 {
			t.Fatalf("%d decisions, want 1", n)
		}
	}
}
