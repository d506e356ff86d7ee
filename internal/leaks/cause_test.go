package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// The gate counts leaks that are lost together as one and names what is lost; each keeps its reason and its signature.
func TestGateCountsCauses(t *testing.T) {
	certain := func(signature string) compare.Finding {
		return compare.Finding{Signature: signature, Class: leak, Certain: true, Frames: []string{"app!" + signature}}
	}
	session := leaks.LostTogether{Title: "lost objects of app!Open", Ratio: "1 : 5", Signatures: []string{"a", "b"}}
	for name, c := range map[string]struct {
		causes []leaks.LostTogether
		found  []string
		why    string
		listed int
	}{
		"none":              {nil, []string{"a", "b"}, "2 leaks", 0},
		"one":               {[]leaks.LostTogether{session}, []string{"a", "b"}, "1 leak in 2 stacks, lost objects of app!Open", 1},
		"one beside others": {[]leaks.LostTogether{session}, []string{"a", "b", "c"}, "2 leaks in 3 stacks", 1},
		"one of its leaks":  {[]leaks.LostTogether{session}, []string{"a"}, "1 leak", 0},
		"one, merged by hand": {[]leaks.LostTogether{{Title: "lost objects of app!Open", Signatures: []string{"a", "a"}}},
			[]string{"a", "c"}, "2 leaks", 0},
	} {
		t.Run(name, func(t *testing.T) {
			head := &compare.BuildResult{Build: "b2", Statuses: []analysis.VerdictStatus{analysis.StatusLeak}}
			for _, s := range c.found {
				head.Findings = append(head.Findings, certain(s))
			}
			v := leaks.Judge(&leaks.RunResult{RunFacts: leaks.RunFacts{Analysed: true}, Status: analysis.StatusLeak},
				&leaks.GateCase{Policy: &leaks.Policy{FailOn: []leaks.FailOn{leaks.FailOnLeak}}, Suffices: true, Head: head, Causes: c.causes})
			if v.Gate != leaks.GateFailed || v.Why != c.why || len(v.Causes) != c.listed || len(v.Decision.FailedSignatures()) != len(c.found) {
				t.Errorf("%s because %q, %+v", v.Gate, v.Why, v.Causes)
			}
		})
	}
}
