package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// The effect of a change on gates is one sentence for each build; of several runs of a build the gravest counts.
func TestImpactOnBuilds(t *testing.T) {
	past := func(run int64, build string, findings ...compare.Finding) leaks.PastCase {
		return leaks.PastCase{RunID: run, Build: build, Scenario: "soak",
			GateCase: &leaks.GateCase{Policy: &leaks.Policy{}, Asked: []leaks.FailOn{leaks.FailOnLeak}, Suffices: true,
				Head: &compare.BuildResult{Build: build, RunIDs: []int64{run}, Findings: findings}}}
	}
	of := func(signature string, state leaks.State) compare.Finding {
		return compare.Finding{Signature: signature, Title: signature, Class: leak, Certain: true, State: string(state)}
	}
	open, known := of("A", leaks.StateNew), of("A", leaks.StateKnown)
	other := of("B", leaks.StateNew)
	for name, test := range map[string]struct {
		before, after []leaks.PastCase
		want          []string
	}{
		"nothing is judged": {nil, nil, nil},
		"it turns": {[]leaks.PastCase{past(1, "7", open)}, []leaks.PastCase{past(1, "7", known)},
			[]string{"With this change, the gate of build 7 passes: every leak is known. It fails now: 1 leak."}},
		"and back": {[]leaks.PastCase{past(1, "7", known)}, []leaks.PastCase{past(1, "7", open)},
			[]string{"With this change, the gate of build 7 fails: 1 leak. It passes now: every leak is known."}},
		"it changes why": {[]leaks.PastCase{past(1, "7", open, other)}, []leaks.PastCase{past(1, "7", known, other)},
			[]string{"With this change, the gate of build 7 still fails: 1 leak. The reason now: 2 leaks."}},
		"nothing changes": {[]leaks.PastCase{past(1, "7", other)}, []leaks.PastCase{past(1, "7", other)},
			[]string{"The gate of build 7 fails as before: 1 leak."}},
		"another run fails": {[]leaks.PastCase{past(1, "7", open), past(2, "7", other)},
			[]leaks.PastCase{past(1, "7", known), past(2, "7", other)},
			[]string{"The gate of build 7 fails as before: 1 leak."}},
		"two builds": {[]leaks.PastCase{past(2, "8", other), past(1, "7", open)},
			[]leaks.PastCase{past(2, "8", other), past(1, "7", known)},
			[]string{"The gate of build 8 fails as before: 1 leak.",
				"With this change, the gate of build 7 passes: every leak is known. It fails now: 1 leak."}},
	} {
		made, err := leaks.ImpactOf(t.Context(), test.before, test.after)
		if err != nil || len(made.Builds) != len(test.want) {
			t.Errorf("%s: %v, %d builds", name, err, len(made.Builds))
			continue
		}
		for i, want := range test.want {
			if got := made.Builds[i].Text(); got != want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
	}
}
