package store_test

import (
	"testing"

	"heapdrift/internal/leaks"
)

// Fixed leaks of an old run are not open, and what only grew is no leak.
func TestRunLeaksAreThoseOpen(t *testing.T) {
	l := newLab(t)
	old := l.run("1/x", leaksReport(finding{signature: "A", class: leak, callers: serve}, finding{signature: "K", class: leak, callers: serve}, finding{signature: "G", class: grows, callers: serve}))
	l.run("2/x", leaksReport(finding{signature: "A", class: stable, callers: serve}, finding{signature: "K", class: leak, callers: serve}, finding{signature: "G", class: stable, callers: serve}))
	l.change("K", leaks.TriageChange{Known: &leaks.Toleration{Reason: "x"}})
	counts := must[map[int64]leaks.RunLeaks](t)(l.now().CountRunLeaks(t.Context(), []int64{old}))
	if counts[old].Open != 0 {
		t.Errorf("A and G are fixed, K is known: %s", counts[old].String())
	}
}
