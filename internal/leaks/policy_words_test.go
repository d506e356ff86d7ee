package leaks

import (
	"slices"
	"strings"
	"testing"
)

// Each part of a policy that does something has its sentence, with its figures; what does nothing has none.
func TestPolicySentences(t *testing.T) {
	nothing := Policy{}
	least := len(nothing.Sentences(1)) // what fails, what matters, what is inconclusive
	for name, test := range map[string]struct {
		policy  Policy
		version int
		more    int      // sentences beside the least
		holds   []string // in the sentences
		lacks   []string
	}{
		"nothing":             {nothing, 1, 0, []string{"No leak fails this gate", "warns (exit 4)"}, []string{"Only budgets"}},
		"any leak":            {Policy{FailOn: []FailOn{FailOnLeak}}, 1, 1, []string{"Any leak fails. A call may ask for more", atExitSentences[AtExitNew]}, []string{"No leak fails"}},
		"leaks at exit":       {Policy{FailOn: []FailOn{FailOnLeak}, AtExit: AtExitAny}, 1, 1, []string{atExitSentences[AtExitAny]}, nil},
		"no leaks at exit":    {Policy{FailOn: []FailOn{FailOnGrown}, AtExit: AtExitNone}, 1, 1, []string{atExitSentences[AtExitNone]}, nil},
		"not saved":           {Policy{FailOn: []FailOn{FailOnLeak}}, 0, 1, []string{"no policy is saved yet"}, []string{"never for less"}},
		"new leaks":           {Policy{FailOn: []FailOn{FailOnNew}}, 1, 1, []string{"A new leak fails", againSentences[FailUntilOwned]}, nil},
		"leaks that are back": {Policy{FailOn: []FailOn{FailOnRegressed}, Repeat: FailOnce}, 1, 1, []string{againSentences[FailOnce]}, nil},
		"faster leaks":        {Policy{FailOn: []FailOn{FailOnGrown}, Repeat: FailOnce}, 1, 0, nil, []string{againSentences[FailOnce]}},
		"two reasons":         {Policy{FailOn: []FailOn{FailOnLeak, FailOnGrown}}, 1, 1, []string{"Any leak fails; a leak that grows faster"}, nil},
		"a budget of all": {Policy{Budgets: []Budget{{Scope: BudgetTotal, Measure: MeasureBytes, Per: "hour", Limit: 2048}}}, 1, 1,
			[]string{"Only budgets and drift", "All leaks of a run together may grow by 2048 bytes per hour"}, []string{"No leak fails"}},
		"a budget of a process": {Policy{Budgets: []Budget{{Scope: BudgetProcess, Name: "app.exe", Measure: MeasureBlocks, Per: "hour", Limit: 7}}}, 1, 1,
			[]string{"All leaks of app.exe together may grow by 7"}, nil},
		"a budget of a leak": {Policy{Budgets: []Budget{{Scope: BudgetSignature, Name: "sig1:a", Per: "hour", Limit: 7}}}, 1, 1,
			[]string{"sig1:a may grow by 7"}, []string{"Each leak"}},
		"a budget of each leak": {Policy{Budgets: []Budget{{Scope: BudgetSignature, Per: "hour", Limit: 7}, {Scope: BudgetTotal, Per: "hour", Limit: 8}}}, 1, 2,
			[]string{"Each leak may grow by 7", "together may grow by 8"}, nil},
		"drift":                    {Policy{Drift: &DriftLimit{Percent: 12.5, Measure: MeasureBlocks}}, 1, 1, []string{"Only budgets and drift", "12.5 %", "in blocks"}, []string{"No leak fails"}},
		"a least score":            {Policy{MinimumScore: 0.4}, 1, 1, []string{"a score below 0.4"}, nil},
		"noise":                    {Policy{Noise: &FlapRule{Runs: 9, Changes: 3}}, 1, 1, []string{"3 times or more", "the last 9 deciding runs"}, nil},
		"settling":                 {Policy{Settle: "10m"}, 1, 1, []string{"the settle time"}, nil},
		"no settling":              {Policy{Settle: "0s"}, 1, 0, nil, []string{"the settle time"}},
		"a canary":                 {Policy{Canary: "app!Canary"}, 1, 1, []string{"app!Canary must be found in each run"}, nil},
		"inconclusive that fails":  {Policy{Inconclusive: InconclusiveFails}, 1, 0, []string{"(exit 1)"}, []string{"(exit 4)"}},
		"inconclusive that passes": {Policy{Inconclusive: InconclusivePasses}, 1, 0, []string{"(exit 0)"}, []string{"(exit 4)"}},
	} {
		list := test.policy.Sentences(test.version)
		text := strings.Join(list, "\n")
		if len(list) != least+test.more {
			t.Errorf("%s: %d sentences, want %d:\n%s", name, len(list), least+test.more, text)
		}
		for _, s := range test.holds {
			if !strings.Contains(text, s) {
				t.Errorf("%s: %q is not in\n%s", name, s, text)
			}
		}
		for _, s := range test.lacks {
			if strings.Contains(text, s) {
				t.Errorf("%s: %q is in\n%s", name, s, text)
			}
		}
	}
}

// Every code and every choice of a policy has its word.
func TestEveryChoiceHasASentence(t *testing.T) {
	for _, on := range failOns {
		if failOnSentences[on] == "" {
			t.Errorf("%s has no sentence", on)
		}
	}
	for _, again := range repeatPolicies {
		if againSentences[again] == "" {
			t.Errorf("%s has no sentence", again)
		}
	}
	if ReasonCode("").Standing() != "shown" || ReasonKnown.Standing() != string(ReasonKnown) {
		t.Error("standings have other words")
	}
}

// An impact counts what falls silent, what counts again and the gates that change; silencings that most runs show come
// first, and others keep their order.
func TestImpactSays(t *testing.T) {
	m := &Impact{Runs: 7, Silenced: []KnownChange{{}}, Unsilenced: []KnownChange{{}, {}},
		ChangedRuns: []DecisionChange{{To: GatePassed}, {To: GateFailed}, {To: GatePassed}}}
	if got := m.Text(); got !=
		"1 leak becomes known, 2 leaks count again; the gate changes in 3 of 7 recent runs (2 to passed)" {
		t.Error(got)
	}
	list := []KnownChange{{Signature: "a", Changed: 1}, {Signature: "b", Changed: 3}, {Signature: "c", Changed: 1}, {Signature: "d", Changed: 3}}
	sortSilencings(list)
	var order []string
	for _, s := range list {
		order = append(order, s.Signature)
	}
	if !slices.Equal(order, []string{"b", "d", "a", "c"}) {
		t.Errorf("%q", order)
	}
}
