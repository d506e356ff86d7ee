package leaks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

const mb = 1 << 20

// risky is a finding that grows and could leak so many bytes in its run, with a probability that is its score as well.
func risky(signature string, probability, bytes float64) compare.Finding {
	return compare.Finding{Signature: signature, Class: grows, Score: &probability,
		Risk: &analysis.Risk{Probability: probability, MostBytes: bytes, Score: probability}}
}

// Only what is counted and not certain is weighed: the rest is decided.
func TestDecideByWhatMatters(t *testing.T) {
	const passed, failed, open = leaks.GatePassed, leaks.GateFailed, leaks.GateInconclusive
	day := analysis.Observation{Weighed: true, Hours: 24}
	a := risky("a", 0.4, 20*mb) // 8 MB a day are expected
	tolerated, certain, unweighed := risky("known", 0.9, 50*mb), risky("sure", 0.99, 50*mb), risky("unweighed", 0.9, 0)
	tolerated.State = string(leaks.StateKnown)
	certain.Class, certain.Certain, unweighed.Risk = leak, true, nil
	for _, test := range []struct {
		name     string
		watch    *analysis.Observation
		others   []analysis.Risk
		head     []compare.Finding
		gate     leaks.Gate
		expected float64
	}{
		{"less than matters", &day, nil, []compare.Finding{a}, passed, 8 * mb},
		{"beside others, as much as matters", &day, []analysis.Risk{{Probability: 0.1, MostBytes: 20 * mb}}, []compare.Finding{a}, passed, 10 * mb},
		{"beside others, more", &day, []analysis.Risk{{Probability: 0.1, MostBytes: 20*mb + 1}}, []compare.Finding{a}, open, 10*mb + 0.1},
		{"beside a known one", &day, nil, []compare.Finding{tolerated, a}, passed, 8 * mb},
		{"beside a certain one", &day, nil, []compare.Finding{certain, a}, failed, 8 * mb},
		{"one that kept nothing", &day, nil, []compare.Finding{unweighed}, passed, 0},
		{"evidence that cannot be weighed", &analysis.Observation{}, nil, []compare.Finding{a}, open, -1},
		{"two days", &analysis.Observation{Weighed: true, Hours: 48}, nil, []compare.Finding{risky("b", 0.6, 20*mb)}, passed, 6 * mb},
		{"two days, and more", &analysis.Observation{Weighed: true, Hours: 48}, nil, []compare.Finding{risky("b", 0.6, 20*mb+1)}, open, 6*mb + 0.3},
	} {
		c := &leaks.GateCase{Policy: theDefault(), Suffices: true, Head: &compare.BuildResult{Findings: test.head}, Observation: test.watch, OtherRisks: test.others}
		got := leaks.Decide(c)
		if got.Gate != test.gate || len(got.Undecided) > 0 != (test.gate == open) {
			t.Errorf("%s: %s because %q", test.name, got.Gate, got.Why)
		}
		switch m := got.Matters; {
		case test.expected < 0:
			if m != nil {
				t.Errorf("%s: %+v", test.name, m)
			}
		case m.Expected.Bytes != test.expected || m.Expected.Unit != "day":
			t.Errorf("%s: %+v are expected, want %v", test.name, m.Expected, test.expected)
		}
	}
}

// A leak of several parts in one run could leak what they could together; of several runs the largest counts.
func TestMergeRisks(t *testing.T) {
	one, other := analysis.Risk{Probability: 0.5, MostBytes: 10, Score: 0.2}, analysis.Risk{Probability: 0.4, MostBytes: 20, Score: 0.6}
	with := func(run int64, r *analysis.Risk) leaks.ComparedFinding {
		return part(run, func(f *compare.Finding) { f.Risk = r })
	}
	for _, test := range []struct {
		name string
		list []leaks.ComparedFinding
		want analysis.Risk
	}{
		{"parts", []leaks.ComparedFinding{with(1, &one), with(1, &other)}, analysis.Risk{Probability: 0.5, MostBytes: 30, Score: 0.6}},
		{"a part that kept nothing", []leaks.ComparedFinding{with(1, nil), with(1, &other)}, other},
		{"another part that kept nothing", []leaks.ComparedFinding{with(1, &one), with(1, nil)}, one},
		{"runs", []leaks.ComparedFinding{with(1, &one), with(2, &other)}, other},
		{"runs in the other order", []leaks.ComparedFinding{with(1, &other), with(2, &one)}, other},
		{"a run that kept nothing", []leaks.ComparedFinding{with(1, nil), with(2, &one)}, one},
	} {
		if got := leaks.MergeFindings(test.list); len(got) != 1 || *got[0].Risk != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got[0].Risk, test.want)
		}
	}
}

// A policy says what matters, and its text is checked where it is saved.
func TestPolicySaysWhatMatters(t *testing.T) {
	for text, says := range map[string]string{
		`{}`:                                  "What matters: leaks of more than 10.0 MB per day, or 8.00 KB per run where the evidence has no times (the default).",
		`{"default":{"matters":" 1MB/day "}}`: "What matters: leaks of more than 1.00 MB per day.",
	} {
		policies, err := leaks.ParsePolicies([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(policies.Default.Sentences(1), " "); !strings.Contains(all, says) {
			t.Errorf("%s: %s", text, all)
		}
	}
	policies, err := leaks.ParsePolicies([]byte(`{"default":{"settle":"90m"},"scenarios":{"soak":{}}}`))
	if err != nil || policies.Settle("unit") != 90*time.Minute || policies.Settle("soak") != 0 {
		t.Errorf("%+v %v", policies, err)
	}
	const settles = "Growth in the settle time, the first 90 minutes of a series of snapshots, is ignored."
	own := policies.For("soak")
	if !slices.Contains(policies.Default.Sentences(1), settles) || slices.Contains(own.Sentences(1), settles) {
		t.Errorf("%q", policies.Default.Sentences(1))
	}
	policies, err = leaks.ParsePolicies([]byte(`{"default":{"matters":"1MB/day"},"scenarios":{"soak":{"matters":"2MB/day"},"unit":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for scenario, want := range map[string]string{
		"soak": "scenario: 2.00 MB per day set for the scenario soak", "unit": "", "ui": "project: 1.00 MB per day set for the project",
	} {
		got := ""
		if a := policies.RequestedThreshold(scenario); a != nil {
			got = fmt.Sprintf("%s: %s %s", a.Source, a.Threshold, a.By)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", scenario, got, want)
		}
	}
	for text, field := range map[string]string{
		`{"default":{"matters":"much"}}`: "default.matters", `{"default":{"matters":10}}`: "policy",
		`{"scenarios":{"soak":{"matters":"-1MB/day"}}}`:                   "scenarios.soak.matters",
		`{"default":{"matters":"1MB/` + strings.Repeat("u", 4000) + `"}}`: "default.matters",
	} {
		if _, err := leaks.ParsePolicies([]byte(text)); fieldOf(t, err) != field {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
