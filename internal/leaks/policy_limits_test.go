package leaks

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// Each limit of policies holds at its value and not beyond it.
func TestPolicyLimits(t *testing.T) {
	budget := Budget{Scope: BudgetTotal, Per: "hour", Limit: 1}
	for name, test := range map[string]struct {
		limit  int
		change func(p *Policies, n int)
		field  string
	}{
		"scenarios": {maxScenarios, func(p *Policies, n int) {
			p.Scenarios = map[string]Policy{}
			for i := range n {
				p.Scenarios[fmt.Sprint("s", i)] = Policy{}
			}
		}, "scenarios"},
		"budgets": {maxBudgets, func(p *Policies, n int) {
			for range n {
				p.Default.Budgets = append(p.Default.Budgets, budget)
			}
		}, "default.budgets"},
		"name of a process": {MaxReasonChars, func(p *Policies, n int) {
			p.Default.Budgets = []Budget{{Scope: BudgetProcess, Name: strings.Repeat("a", n), Per: "hour"}}
		}, "default.budgets"},
		"canary": {MaxReasonChars, func(p *Policies, n int) { p.Default.Canary = strings.Repeat("a", n) }, "default.canary"},
		"runs of noise": {maxNoise, func(p *Policies, n int) { p.Default.Noise = &FlapRule{Runs: n, Changes: 2} },
			"default.noise.runs"},
		"settling": {int(maxSettle / time.Second), func(p *Policies, n int) { p.Default.Settle = fmt.Sprintf("%ds", n) },
			"default.settle"},
	} {
		for more, field := range []string{"", test.field} {
			p := DefaultPolicies()
			test.change(&p, test.limit+more)
			p = p.filled()
			if got := fieldOf(p.check()); got != field {
				t.Errorf("%s: of %d an error of %q, want %q", name, test.limit+more, got, field)
			}
		}
	}
}

// fieldOf is the field that an error is about; "" for none.
func fieldOf(err error) string {
	if wrong, ok := err.(*FieldError); ok { //nolint:errorlint // it is that very error
		return wrong.Field
	}
	return ""
}

// A text of the most bytes is read, one byte more is refused before it is read.
func TestLongestPolicies(t *testing.T) {
	text := []byte(`{}`)
	for len(text) < MaxPoliciesBytes {
		text = append(text, ' ')
	}
	if _, err := ParsePolicies(text); err != nil {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if _, err := ParsePolicies(append(text, ' ')); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("%d bytes: %v", len(text)+1, err)
	}
}

// What a policy may hold, and which field is to blame where it holds something else.
func TestPolicyFields(t *testing.T) {
	for name, test := range map[string]struct {
		policy Policy
		field  string
	}{
		"nothing":                   {Policy{}, ""},
		"all that counts":           {Policy{FailOn: failOns}, ""},
		"an unknown reason to fail": {Policy{FailOn: []FailOn{FailOnLeak, "x"}}, ".fail_on"},
		"a second budget":           {Policy{Budgets: []Budget{{Scope: BudgetTotal, Per: "hour"}, {Scope: "x", Per: "hour"}}}, ".budgets"},
		"drift in blocks":           {Policy{Drift: &DriftLimit{Percent: 0, Measure: MeasureBlocks}}, ""},
		"drift in bytes":            {Policy{Drift: &DriftLimit{Percent: 1, Measure: MeasureBytes}}, ""},
		"drift in MB":               {Policy{Drift: &DriftLimit{Percent: 1, Measure: "MB"}}, ".drift.in"},
		"negative drift":            {Policy{Drift: &DriftLimit{Percent: -1}}, ".drift.percent"},
		"endless drift":             {Policy{Drift: &DriftLimit{Percent: math.Inf(1)}}, ".drift.percent"},
		"the least score":           {Policy{MinimumScore: 0}, ""},
		"the greatest score":        {Policy{MinimumScore: 1}, ""},
		"a score below 0":           {Policy{MinimumScore: -1e-9}, ".minimum_score"},
		"a score above 1":           {Policy{MinimumScore: 1 + 1e-9}, ".minimum_score"},
		"no score":                  {Policy{MinimumScore: math.NaN()}, ".minimum_score"},
		"inconclusive fails":        {Policy{Inconclusive: InconclusiveFails}, ""},
		"inconclusive warns":        {Policy{Inconclusive: InconclusiveWarns}, ""},
		"inconclusive passes":       {Policy{Inconclusive: InconclusivePasses}, ""},
		"inconclusive does more":    {Policy{Inconclusive: "x"}, ".inconclusive"},
		"again":                     {Policy{Repeat: FailOnce}, ""},
		"again and again":           {Policy{Repeat: "x"}, ".again"},
		"least noise":               {Policy{Noise: &FlapRule{leastNoise, 2}}, ""},
		"less noise":                {Policy{Noise: &FlapRule{leastNoise - 1, 1}}, ".noise.runs"},
		"one change":                {Policy{Noise: &FlapRule{leastNoise, 1}}, ".noise.changes"},
		"as many changes as runs":   {Policy{Noise: &FlapRule{4, 4}}, ".noise.changes"},
		"one change less than runs": {Policy{Noise: &FlapRule{4, 3}}, ""},
		"a canary of two lines":     {Policy{Canary: "a\nb"}, ".canary"},
		"what matters":              {Policy{Matters: "1MB/day"}, ""},
		"what cannot matter":        {Policy{Matters: "x"}, ".matters"},
		"no settling":               {Policy{Settle: "0s"}, ""},
		"settling before":           {Policy{Settle: "-1s"}, ".settle"},
		"settling for x":            {Policy{Settle: "x"}, ".settle"},
		"a budget of blocks":        {Policy{Budgets: []Budget{{Scope: BudgetSignature, Per: "hour", Measure: MeasureBlocks}}}, ""},
		"a budget of MB":            {Policy{Budgets: []Budget{{Scope: BudgetSignature, Per: "hour", Measure: "MB"}}}, ".budgets"},
		"a budget of one signature": {Policy{Budgets: []Budget{{Scope: BudgetSignature, Name: "sig1:a", Per: "hour"}}}, ""},
		"a named total":             {Policy{Budgets: []Budget{{Scope: BudgetTotal, Name: "a", Per: "hour"}}}, ".budgets"},
		"a process without a name":  {Policy{Budgets: []Budget{{Scope: BudgetProcess, Per: "hour"}}}, ".budgets"},
		"a name of two lines":       {Policy{Budgets: []Budget{{Scope: BudgetProcess, Name: "a\nb", Per: "hour"}}}, ".budgets"},
		"an endless budget":         {Policy{Budgets: []Budget{{Scope: BudgetTotal, Per: "hour", Limit: math.Inf(1)}}}, ".budgets"},
		"a budget below 0":          {Policy{Budgets: []Budget{{Scope: BudgetTotal, Per: "hour", Limit: -1}}}, ".budgets"},
		"a budget per nothing":      {Policy{Budgets: []Budget{{Scope: BudgetTotal}}}, ".budgets"},
	} {
		p := Policies{Default: test.policy, Scenarios: map[string]Policy{"soak": test.policy}}
		own := Policies{Scenarios: map[string]Policy{"soak": test.policy}}
		p, own = p.filled(), own.filled()
		want, wantOwn := "", ""
		if test.field != "" {
			want, wantOwn = "default"+test.field, "scenarios.soak"+test.field
		}
		if got, gotOwn := fieldOf(p.check()), fieldOf(own.check()); got != want || gotOwn != wantOwn {
			t.Errorf("%s: errors of %q and %q, want %q and %q", name, got, gotOwn, want, wantOwn)
		}
	}
}

// Equal policies have equal texts: defaults are written out, and blanks around texts are not.
func TestFilled(t *testing.T) {
	p := Policies{Default: Policy{Budgets: []Budget{{Scope: BudgetTotal, Per: "hour"}}, Drift: &DriftLimit{Percent: 3}, Canary: " a ",
		Matters: " 1MB/day ", Settle: " 1m "}, Scenarios: map[string]Policy{"soak": {Drift: &DriftLimit{5, MeasureBlocks}}}}
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	f := p.filled()
	d, soak := f.Default, f.Scenarios["soak"]
	if d.FailOn == nil || d.Budgets[0].Measure != MeasureBytes || *d.Drift != (DriftLimit{3, MeasureBytes}) || d.Canary != "a" ||
		d.Matters != "1MB/day" || d.Settle != "1m" || d.Inconclusive != InconclusiveWarns || d.Repeat != FailUntilOwned {
		t.Errorf("%+v", d)
	}
	if *soak.Drift != (DriftLimit{5, MeasureBlocks}) || soak.Repeat != FailUntilOwned || soak.Budgets == nil {
		t.Errorf("%+v", soak)
	}
	if after, err := json.Marshal(p); err != nil || string(after) != string(before) {
		t.Errorf("the policies given are changed: %s, %v", after, err)
	}
}

// A signature flaps from the number of changes on, among the last runs that decide.
func TestFlaps(t *testing.T) {
	n := &FlapRule{Runs: 4, Changes: 2}
	for past, want := range map[string]struct {
		changes int
		flaps   bool
	}{
		"": {0, false}, "1": {0, false}, "10": {1, false}, "101": {2, true}, "1010": {3, true}, "1001": {2, true},
		"01111": {0, false}, "101111": {0, false}, "010111": {1, false}, "10100": {2, true},
	} {
		var list []bool
		for _, c := range past {
			list = append(list, c == '1')
		}
		if changes, flaps := n.Flaps(list); changes != want.changes || flaps != want.flaps {
			t.Errorf("%s: %d changes, flaps %t, want %+v", past, changes, flaps, want)
		}
	}
	if changes, flaps := (*FlapRule)(nil).Flaps([]bool{true, false, true}); changes != 0 || flaps {
		t.Error("what nobody looks for flaps")
	}
}

func TestNamesProcess(t *testing.T) {
	for of, want := range map[BudgetScope]bool{BudgetProcess: true, BudgetTotal: false, BudgetSignature: false} {
		if got := (&Policy{Budgets: []Budget{{Scope: BudgetTotal}, {Scope: of}}}).NamesProcess(); got != want {
			t.Errorf("%s: %t", of, got)
		}
	}
}
