package leaks_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// An impact lists each signature that becomes silent or is heard again, once, with the number of runs that show it.
// What is silent for another reason than before is in neither list.
func TestImpactListsSignatures(t *testing.T) {
	past := func(run int64, findings ...compare.Finding) leaks.PastCase {
		return leaks.PastCase{RunID: run, Build: "7", Scenario: "soak",
			GateCase: &leaks.GateCase{Policy: &leaks.Policy{}, Asked: []leaks.FailOn{leaks.FailOnLeak}, Suffices: true,
				Head: &compare.BuildResult{Build: "7", RunIDs: []int64{run}, Findings: findings}}}
	}
	of := func(signature string, state leaks.State) compare.Finding {
		return compare.Finding{Signature: signature, Title: signature, Class: leak, Certain: true, State: string(state)}
	}
	list := func(of []leaks.KnownChange) string {
		var texts []string
		for _, s := range of {
			texts = append(texts, fmt.Sprintf("%s %d/%d %q to %q", s.Signature, s.Changed, s.ChangedOf, s.From, s.To))
		}
		return strings.Join(texts, ", ")
	}
	before := []leaks.PastCase{past(1, of("A", leaks.StateNew), of("B", leaks.StateKnown), of("C", leaks.StateKnown),
		of("D", leaks.StateNew)), past(2, of("A", leaks.StateNew))}
	after := []leaks.PastCase{past(1, of("A", leaks.StateKnown), of("B", leaks.StateNew), of("C", leaks.StateKnown),
		of("D", leaks.StateNew)), past(2, of("A", leaks.StateKnown))}
	made, err := leaks.ImpactOf(t.Context(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := list(made.Silenced), `A 2/2 "" to "known"`; got != want {
		t.Errorf("silenced are %s, want %s", got, want)
	}
	if got, want := list(made.Unsilenced), `B 1/2 "known" to ""`; got != want {
		t.Errorf("heard are %s, want %s", got, want)
	}
}
