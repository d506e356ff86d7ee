package store_test

import (
	"testing"

	"heapdrift/internal/leaks"
)

// A is merged into B, and B into C. Splitting A off again gives B back the team's word that it had; C keeps its own.
func TestSplitFromChainLeavesOtherWords(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak},
		finding{signature: "C", class: leak}))
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "of A"}})
	l.change("C", leaks.TriageChange{Known: &leaks.Toleration{Reason: "of C"}}) // as many changes as B has after the merge
	for _, pair := range [][2]string{{"A", "B"}, {"B", "C"}} {
		if err := l.MergeSignature(t.Context(), "demo", pair[0], pair[1], "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.MergeSignature(t.Context(), "demo", "A", "", "ann"); err != nil {
		t.Fatal(err)
	}
	if c := l.signature("C"); c.State != leaks.StateKnown || c.Known == nil || c.Known.Reason != "of C" {
		t.Errorf("C is %s, %+v", c.State, c.Known)
	}
	if a := l.signature("A"); a.Text != "A" || a.Known == nil || a.Known.Reason != "of A" {
		t.Errorf("%s is %+v", a.Text, a.Known)
	}
	if err := l.MergeSignature(t.Context(), "demo", "B", "", "ann"); err != nil {
		t.Fatal(err)
	}
	if b := l.signature("B"); b.Known != nil {
		t.Errorf("B keeps what was said of A: %+v", b.Known)
	}
}
