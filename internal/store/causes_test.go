package store_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// withCause says that findings of a report are lost together.
func withCause(r *analysis.Report, title string, signatures ...string) *analysis.Report {
	c := analysis.LostTogether{Number: len(r.Causes) + 1, Title: title, Ratio: "1 : 5"}
	for _, s := range signatures {
		c.Members = append(c.Members, analysis.LostTogetherPart{Signature: s, Blocks: 1})
	}
	r.Causes = append(r.Causes, c)
	return r
}

// A gate counts what a run's report says is lost together as one leak, by the names that the project has for it.
func TestCausesOfARun(t *testing.T) {
	l := newLab(t)
	three := leaksReport(finding{signature: "A", class: leak, bytes: 9}, finding{signature: "B", class: leak, bytes: 8},
		finding{signature: "C", class: leak, bytes: 7})
	for i := range three.Findings {
		three.Findings[i].Certain = true
	}
	run := l.run("1", withCause(three, "lost objects of app!Open", "A", "B"))
	check := func(what, why, causes string) {
		t.Helper()
		v := l.gateOf("1", leaks.FailOnLeak)
		if got := fmt.Sprint(v.Causes); v.Why != why || got != causes {
			t.Errorf("%s: because %q, %s", what, v.Why, got)
		}
	}
	check("reported", "2 leaks in 3 stacks", "[{lost objects of app!Open 1 : 5 [A B]}]")
	if err := l.MergeSignature(t.Context(), "demo", "A", "C", "ann"); err != nil {
		t.Fatal(err)
	}
	list := must[[]leaks.LostTogether](t)(l.now().ListCauses(t.Context(), run))
	if got := fmt.Sprint(list); got != "[{lost objects of app!Open 1 : 5 [C B]}]" {
		t.Errorf("merged: %s", got)
	}
	l.run("2", leaksReport(finding{signature: "A", class: leak, bytes: 9}))
	if list := must[[]leaks.LostTogether](t)(l.now().ListCauses(t.Context(), l.runs["2"])); list != nil {
		t.Errorf("no cause: %v", list)
	}
}

// The answer of a gate says which evidence would decide, as the report does.
func TestNextOfARun(t *testing.T) {
	l := newLab(t)
	r := leaksReport(finding{signature: "A", class: grows})
	r.Verdict.Status, r.Verdict.Next = analysis.StatusInconclusive, &analysis.Next{Evidence: analysis.NextLonger, LengthFactor: 2, Sentence: "Record longer."}
	l.run("1", r)
	if v := l.gateOf("1", leaks.FailOnLeak); v.Next == nil || *v.Next != *r.Verdict.Next {
		t.Errorf("next %+v", v.Next)
	}
	l.run("2", leaksReport(finding{signature: "A", class: leak}))
	if v := l.gateOf("2", leaks.FailOnLeak); v.Next != nil {
		t.Errorf("decided, next %+v", v.Next)
	}
}
