package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// Concurrent results that touch the same signatures wait for each other and lose nothing, even with changes by the team
// between them.
func TestResultsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	const runs, signatures = 6, 20
	var list []finding
	for i := range signatures {
		list = append(list, finding{signature: fmt.Sprintf("S%02d", i), class: leak, bytes: int64(i), odds: new(4.0)})
	}
	for i := range runs {
		l.run(fmt.Sprint(i), leaksReport(list...))
	}
	var places []string
	for i := range runs {
		places = append(places, fmt.Sprint(i))
	}
	l.again(places...)
	leases := make([]store.Lease, runs)
	due := must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0))
	for i, d := range due {
		leases[i] = must[store.Lease](t)(l.ClaimJob(t.Context(), d.ID, 1e12))
	}
	var wait sync.WaitGroup
	errs := make([]error, 2*runs+1)
	wait.Go(func() { _, _, errs[2*runs] = l.CreateRules(t.Context(), "demo", ruleChange(0)) })
	for i := range runs {
		wait.Go(func() {
			shuffled := make([]finding, signatures)
			for k, f := range list {
				f.class, f.odds = stable, new(-3.0)
				if i%2 == 0 { // half of the runs come with names for the signatures
					f.signature, f.stack = "N"+f.signature, f.signature
				}
				shuffled[(k*7+i)%signatures] = f
			}
			errs[i] = l.UpdateResult(t.Context(), leases[i],
				store.Result{Report: leaksReport(shuffled...), ReportKey: "k", Revision: input(t, l.Store, leases[i].RunID).Revision})
		})
		wait.Go(func() {
			reason := fmt.Sprint("because of ", i)
			_, errs[runs+i] = l.UpdateTriage(t.Context(), "demo", list[i].signature,
				leaks.TriageChange{Actor: "ann", Version: -1, Known: &leaks.Toleration{Reason: reason}})
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := l.list(store.SignatureQuery{}); got.Total != 0 { // nothing leaks any more in any result
		t.Errorf("%d: %s", got.Total, listed(got))
	}
}
