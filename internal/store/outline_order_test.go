package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// The order of results, and how often each is stored, does not matter for leaks and their outlines.
func TestOrderOfOutlinesDoesNotCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	rng := rand.New(rand.NewPCG(7, 8))
	classes := []analysis.Class{leak, leak, grows, stable}
	texts, raws := []string{"A", "B", "C", "D"}, []string{"E<A", "F<B", "G<B", "H<C", "I<E", "J<F", "K<D"}
	evidence := [][]string{texts, texts, raws, raws, slices.Concat(texts, raws)}
	shared := newLab(t)
	for round := range 3 {
		var reports []*analysis.Report
		for range 5 {
			var list []finding
			for _, name := range evidence[rng.IntN(len(evidence))] {
				if rng.IntN(3) == 0 {
					list = append(list, finding{signature: name, class: classes[rng.IntN(len(classes))], bytes: rng.Int64N(99)})
				}
			}
			reports = append(reports, outlined(list...))
		}
		first := ""
		for range 3 {
			l := shared.emptied(t)
			for _, run := range slices.Concat(rng.Perm(len(reports)), rng.Perm(len(reports))[:2]) {
				l.run(fmt.Sprint(run), reports[run])
			}
			var lines []string
			for _, r := range l.list(store.SignatureQuery{}).Rows {
				lines = append(lines, fmt.Sprintf("%s %s %+v", r.Text, state(r.Signature), r.Latest.Outstanding))
			}
			slices.Sort(lines)
			got := l.leaks() + "\n" + strings.Join(lines, "\n")
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("round %d:\n%s\nand first:\n%s", round, got, first)
			}
		}
		t.Log(strings.SplitN(first, "\n", 2)[0])
	}
}

// Results of texts and of raw logs that are stored concurrently end up with one leak for each pair.
func TestOutlinesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	const runs = 6
	var texts, raws []string
	for i := range 20 {
		texts, raws = append(texts, fmt.Sprintf("A%02d", i)), append(raws, fmt.Sprintf("F%02d<A%02d", i, i))
	}
	var leases [runs]store.Lease
	for i := range runs {
		l.run(fmt.Sprint(i), leaksReport())
		l.again(fmt.Sprint(i))
	}
	for i, d := range must[[]store.DueJob](t)(l.DispatchAllJobs(t.Context(), 0)) {
		leases[i] = must[store.Lease](t)(l.ClaimJob(t.Context(), d.ID, 1e12))
	}
	var wait sync.WaitGroup
	for i := range runs {
		wait.Go(func() {
			report := one(texts...)
			if i%2 == 0 {
				report = one(raws...)
			}
			if err := l.UpdateResult(t.Context(), leases[i],
				store.Result{Report: report, ReportKey: "k", Revision: input(t, l.Store, leases[i].RunID).Revision}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, text := range texts {
		s := l.signature(text)
		if want := "F" + text[1:]; s.Text != want || s.State != leaks.StateFound {
			t.Errorf("%s is %s, %s", text, s.Text, s.State)
		}
	}
	if got := l.list(store.SignatureQuery{}).Total; got != 20 {
		t.Errorf("%d rows", got)
	}
}
