package leaks_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// Of leaks at exit, the gate fails for those that came in, unless the policy or the call says otherwise.
func TestGateOfLeaksAtExit(t *testing.T) {
	old := compare.Finding{Signature: "old", Class: analysis.ClassLeftAtExit, Certain: true}
	fresh := compare.Finding{Signature: "fresh", Class: analysis.ClassLeftAtExit, Certain: true}
	possible := compare.Finding{Signature: "possible", Class: analysis.ClassLeftAtExit}
	grown := compare.Finding{Signature: "grown", Class: analysis.ClassLeak, Certain: true}
	known := old
	known.State = string(leaks.StateKnown)
	origins := map[string]leaks.Origin{
		"old": {Found: true, Since: "1"}, "fresh": {Since: "7", After: "6"}, "possible": {Since: "7", After: "6"},
		"grown": {Found: true, Since: "1"},
	}
	anyLeak := []leaks.FailOn{leaks.FailOnLeak}
	for name, test := range map[string]struct {
		policy   leaks.Policy
		asked    []leaks.FailOn
		findings []compare.Finding
		first    bool
		gate     leaks.Gate
		code     leaks.ReasonCode // of a reason that is there; "" for any
	}{
		"an old one":                 {leaks.Policy{FailOn: anyLeak}, nil, []compare.Finding{old}, false, leaks.GatePassed, "found"},
		"a new one":                  {leaks.Policy{FailOn: anyLeak}, nil, []compare.Finding{old, fresh}, false, leaks.GateFailed, "new"},
		"a new one, and new fails":   {leaks.Policy{FailOn: []leaks.FailOn{leaks.FailOnNew}}, nil, []compare.Finding{fresh}, false, leaks.GateFailed, "new"},
		"all as other leaks":         {leaks.Policy{FailOn: anyLeak, AtExit: leaks.AtExitAny}, nil, []compare.Finding{old}, false, leaks.GateFailed, "leak"},
		"the call asks for any":      {leaks.Policy{FailOn: anyLeak}, anyLeak, []compare.Finding{old}, false, leaks.GateFailed, "leak"},
		"none of them":               {leaks.Policy{FailOn: anyLeak, AtExit: leaks.AtExitNone}, nil, []compare.Finding{fresh}, false, leaks.GatePassed, ""},
		"a leak that grows fails":    {leaks.Policy{FailOn: anyLeak, AtExit: leaks.AtExitNone}, nil, []compare.Finding{grown}, false, leaks.GateFailed, "leak"},
		"the first build":            {leaks.Policy{FailOn: anyLeak}, nil, []compare.Finding{old}, true, leaks.GateInconclusive, "first-build"},
		"the first build, accepted":  {leaks.Policy{FailOn: anyLeak}, nil, []compare.Finding{known}, true, leaks.GatePassed, "known"},
		"something points into them": {leaks.Policy{FailOn: anyLeak}, nil, []compare.Finding{possible}, false, leaks.GateInconclusive, "undecided"},
	} {
		c := &leaks.GateCase{Policy: &test.policy, Version: 1, Asked: test.asked, Suffices: true, Origins: origins, FirstBuild: test.first,
			Head: &compare.BuildResult{Build: "7", Statuses: []analysis.VerdictStatus{analysis.StatusLeak}, Findings: test.findings}}
		made := leaks.Decide(c)
		var codes []string
		for _, r := range made.Reasons {
			codes = append(codes, string(r.Code))
		}
		if said := strings.Join(codes, " "); made.Gate != test.gate || !strings.Contains(said, string(test.code)) {
			t.Errorf("%s: %s (%s; %s), want %s for %s", name, made.Gate, said, made.Why, test.gate, test.code)
		}
	}
}
