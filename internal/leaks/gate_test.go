package leaks_test

import (
	"slices"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

func TestParseFailOn(t *testing.T) {
	for text, want := range map[string][]leaks.FailOn{
		"": nil, " ": nil, "regressed": {leaks.FailOnRegressed}, "leak": {leaks.FailOnLeak}, "new": {leaks.FailOnNew},
		"grown":                {leaks.FailOnGrown},
		" new , grown":         {leaks.FailOnNew, leaks.FailOnGrown},
		"grown,new,grown,leak": {leaks.FailOnLeak, leaks.FailOnNew, leaks.FailOnGrown},
	} {
		if got, err := leaks.ParseFailOn(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"never", "new,", ",", "Leak", "new grown"} {
		if _, err := leaks.ParseFailOn(text); fieldOf(t, err) != "fail_on" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// These are a certain leak, and findings that are less than that.
var (
	sure        = compare.Finding{Signature: "sure", Class: leak, Certain: true}
	second      = compare.Finding{Signature: "second", Class: leak, Certain: true}
	immaterial  = compare.Finding{Signature: "immaterial", Class: leak, Immaterial: true}
	unsure      = compare.Finding{Signature: "unsure", Class: leak}
	known       = compare.Finding{Signature: "known", Class: leak, Certain: true, State: string(leaks.StateKnown)}
	knownByRule = compare.Finding{Signature: "by rule", Class: leak, Certain: true, State: string(leaks.StateOngoing),
		Known: "rule", ByRule: true}
	knownUnsure = compare.Finding{Signature: "known, unsure", Class: leak, State: string(leaks.StateKnown)}
	growing     = compare.Finding{Signature: "growing", Class: grows, Certain: true}
	likely      = compare.Finding{Signature: "likely", Class: grows, Score: new(0.1)}
	unlikely    = compare.Finding{Signature: "unlikely", Class: grows, Score: new(0.09)}
)

func TestFailsGate(t *testing.T) {
	for _, f := range []compare.Finding{unsure, known, knownByRule, knownUnsure, growing, {Class: stable, Certain: true},
		{Class: analysis.ClassUnreferenced}, {}} {
		if leaks.FailsGate(&f) {
			t.Errorf("%+v fails a gate", f)
		}
	}
	if agreed := (compare.Finding{Class: analysis.ClassUnreferenced, Certain: true}); !leaks.FailsGate(&sure) ||
		!leaks.FailsGate(&agreed) || leaks.FailsGate(nil) {
		t.Error("a sure leak fails a gate, and what several dumps find no pointer to, and nothing does not")
	}
}

// became is a row of a comparison: a finding that changed, and its class in the base; "" if the base does not have it.
func became(change compare.Change, head compare.Finding, was analysis.Class) compare.Row {
	r := compare.Row{Change: change, Head: &head}
	if was != "" {
		r.Base = &compare.Finding{Signature: head.Signature, Class: was}
	}
	return r
}

// after is an unsure leak after so many runs, of which they say whether it may have begun to leak.
func after(runs int, doubtful bool) compare.Finding {
	f := unsure
	f.Onset = &score.Onset{Before: runs, Doubtful: doubtful}
	return f
}

// against is a comparison with build 1, whose runs have these statuses.
func against(statuses []analysis.VerdictStatus, rows ...compare.Row) *leaks.RunComparison {
	return &leaks.RunComparison{Base: &compare.BuildResult{Build: "1", Statuses: statuses},
		Comparison: &compare.Comparison{Rows: rows}}
}

// theDefault is the policy of a project that has saved none.
func theDefault() *leaks.Policy {
	policies := leaks.DefaultPolicies()
	return policies.For("any")
}

// In a project without a policy only the call decides what fails.
func TestDecideWithoutAPolicy(t *testing.T) {
	type findings = []compare.Finding
	decided, undecided := []analysis.VerdictStatus{inconclusive, noLeak}, []analysis.VerdictStatus{inconclusive, inconclusive}
	const passed, failed, open = leaks.GatePassed, leaks.GateFailed, leaks.GateInconclusive
	const tolerant = "1 leak, which this gate does not fail on"
	const notNew = "no leak is new; " + tolerant
	for _, test := range []struct {
		name     string
		on       string
		status   analysis.VerdictStatus
		head     findings
		compared *leaks.RunComparison
		gate     leaks.Gate
		why      string
	}{
		{"nothing", "", noLeak, nil, nil, passed, "no site leaks"},
		{"a sure leak", "", leaky, findings{sure}, nil, failed, "1 leak"},
		{"two", "", leaky, findings{sure, second, growing}, nil, failed, "2 leaks"},
		{"a sure leak where the rest is not decided", "", inconclusive, findings{sure}, nil, failed, "1 leak"},
		{"an unsure one", "", noLeak, findings{unsure}, nil, open, "unsure could be a leak"},
		{"an unsure one that could leak less than matters", "", noLeak, findings{immaterial}, nil, passed,
			"1 growing site, too small to matter"},
		{"the same beside a known one", "", leaky, findings{immaterial, known}, nil, passed,
			"1 known by the team; 1 growing site, too small to matter"},
		{"growth", "", noLeak, findings{growing}, nil, passed, "no leak is certain or probable"},
		{"growth just below what is probable", "", noLeak, findings{unlikely}, nil, passed, "no leak is certain or probable"},
		{"growth that is probable", "", noLeak, findings{likely}, nil, open, "likely could be a leak (10 %)"},
		{"not decided", "", inconclusive, findings{growing, unsure}, nil, open, "unsure could be a leak; the evidence does not decide"},
		{"known", "", leaky, findings{known}, nil, passed, "every leak is known"},

		{"a sure one in a run that decides nothing", "", inconclusive, findings{sure}, nil, failed, "1 leak"},
		{"unsure beside a known one", "", leaky, findings{unsure, known}, nil, open, "unsure could be a leak"},
		{"known by a rule", "", noLeak, findings{knownByRule}, nil, passed, "every leak is known: 1 leak by a rule"},
		{"known and unsure", "", leaky, findings{knownUnsure}, nil, passed, "every leak is known"},
		{"known beside another", "", leaky, findings{known, sure}, nil, failed, "1 leak"},
		{"known, and the rest not decided", "", inconclusive, findings{known}, nil, open, "the evidence does not decide"},

		{"new: no baseline", "new", leaky, findings{sure}, nil, open, "no baseline shows which leaks are new"},
		{"new: no baseline, and no leak", "new", noLeak, nil, nil, passed, "no site leaks"},
		{"new: no baseline, and an unsure leak", "new", leaky, findings{unsure}, nil, passed, "no leak is certain or probable"},
		{"new: no baseline, and a known leak", "new", leaky, findings{known}, nil, passed, "every leak is known"},
		{"new", "new", leaky, findings{sure}, against(decided, became(compare.ChangeNew, sure, "")), failed, "1 new leak"},
		{"new: two", "new", leaky, findings{sure, second},
			against(decided, became(compare.ChangeNew, sure, ""), became(compare.ChangeNew, second, stable)), failed, "2 new leaks"},
		{"new: the base was clean", "new", leaky, findings{sure}, against(decided, became(compare.ChangeNew, sure, stable)), failed,
			"1 new leak"},
		{"new: the base does not tell", "new", leaky, findings{sure},
			against(decided, became(compare.ChangeNew, sure, unknown)), open,
			"the evidence of build 1, the baseline, does not decide whether 1 leak is new"},
		{"new: it grew in the base", "new", leaky, findings{sure}, against(decided, became(compare.ChangeNew, sure, grows)), open,
			"the evidence of build 1, the baseline, does not decide whether 1 leak is new"},
		{"new: the base decides nothing", "new", leaky, findings{sure, second},
			against(undecided, became(compare.ChangeNew, sure, ""), became(compare.ChangeNew, second, stable)), open,
			"the evidence of build 1, the baseline, does not decide whether 2 leaks are new"},
		{"new: one is, one may be", "new", leaky, findings{sure, second},
			against(decided, became(compare.ChangeNew, sure, stable), became(compare.ChangeNew, second, unknown)), failed, "1 new leak"},
		{"new: it was there", "new", leaky, findings{sure}, against(decided, became(compare.ChangePersisting, sure, leak)),
			passed, notNew},
		{"new: it was there, and grew", "new", leaky, findings{sure}, against(decided, became(compare.ChangeGrown, sure, leak)),
			passed, notNew},
		{"new and known", "new", leaky, findings{known}, against(decided, became(compare.ChangeNew, known, "")),
			passed, "every leak is known"},
		{"new and unsure", "new", leaky, findings{unsure}, against(decided, became(compare.ChangeNew, unsure, "")),
			open, "unsure could be a new leak"},
		{"new and unsure, and does not matter", "new", leaky, findings{immaterial}, against(decided, became(compare.ChangeNew, immaterial, "")),
			passed, "no leak is certain or probable"},
		{"new growth just below what is probable", "new", leaky, findings{unlikely}, against(decided, became(compare.ChangeNew, unlikely, "")),
			passed, "no leak is certain or probable"},
		{"new growth that is probable", "new", leaky, findings{likely}, against(decided, became(compare.ChangeNew, likely, "")),
			open, "likely could be a new leak (10 %)"},
		{"new, after too few runs", "new", leaky, findings{after(1, false)}, against(decided, became(compare.ChangeNew, after(1, false), cache)),
			open, "unsure could be a new leak"},
		{"new, and as in runs before", "new", leaky, findings{after(2, false)}, against(decided, became(compare.ChangeNew, after(2, false), cache)),
			passed, "no leak is new; 1 growing site, as in earlier runs or too small to judge"},
		{"new, and it may have begun", "new", leaky, findings{after(2, true)}, against(decided, became(compare.ChangeNew, after(2, true), cache)),
			open, "unsure could be a new leak"},
		{"new: symbols are missing", "new", leaky, findings{sure}, against(decided, compare.Row{Change: compare.ChangeNew, Head: &sure, Unknown: true}),
			open, "the evidence of build 1, the baseline, does not decide whether 1 leak is new"},
		{"new: the run decides nothing either", "new", inconclusive, findings{sure},
			against(undecided, became(compare.ChangeNew, sure, "")), open, "the evidence does not decide"},

		{"grown", "grown", leaky, findings{sure}, against(decided, became(compare.ChangeGrown, sure, leak)),
			failed, "1 grown leak"},
		{"grown and known", "grown", leaky, findings{known}, against(decided, became(compare.ChangeGrown, known, leak)),
			passed, "every leak is known"},
		{"grown: a new one", "grown", leaky, findings{sure}, against(decided, became(compare.ChangeNew, sure, "")),
			passed, tolerant},
		{"grown: perhaps a new one", "grown", leaky, findings{sure}, against(undecided, became(compare.ChangeNew, sure, "")),
			passed, tolerant},
		{"grown: a smaller one", "grown", leaky, findings{sure}, against(decided, became(compare.ChangeShrunk, sure, leak)),
			passed, tolerant},
		{"grown: the base decides nothing", "grown", leaky, findings{sure},
			against(undecided, became(compare.ChangePersisting, sure, leak)), open,
			"the evidence of build 1, the baseline, does not decide whether 1 leak grows faster"},
		{"grown: the base decides nothing of a known one", "grown", leaky, findings{known},
			against(undecided, became(compare.ChangePersisting, known, leak)), passed, "every leak is known"},
		{"grown: rates that cannot be compared", "grown", leaky, findings{sure},
			against(decided, compare.Row{Change: compare.ChangePersisting, Base: &sure, Head: &sure, Unrated: true}), open,
			"the evidence of build 1, the baseline, does not decide whether 1 leak grows faster"},
		{"grown and unsure", "grown", leaky, findings{unsure}, against(decided, became(compare.ChangeGrown, unsure, leak)),
			open, "unsure could be a leak that grows faster"},
		{"grown: an unsure one that is new", "grown", leaky, findings{unsure}, against(decided, became(compare.ChangeNew, unsure, "")),
			passed, "no leak is certain or probable"},
		{"new: an unsure one that grows faster", "new", leaky, findings{unsure}, against(decided, became(compare.ChangeGrown, unsure, leak)),
			passed, "no leak is certain or probable"},
		{"grown: no baseline", "grown", leaky, findings{sure}, nil, open, "no baseline shows which leaks are new"},

		{"both", "new,grown", leaky, findings{sure, second},
			against(decided, became(compare.ChangeGrown, sure, leak), became(compare.ChangeNew, second, "")), failed,
			"1 new leak, 1 grown leak"},
		{"grown, and perhaps a new one", "new,grown", leaky, findings{sure, second},
			against(undecided, became(compare.ChangeGrown, sure, leak), became(compare.ChangeNew, second, "")), failed, "1 grown leak"},
		{"at all, or new", "leak,new", leaky, findings{sure, second},
			against(decided, became(compare.ChangePersisting, sure, leak), became(compare.ChangeNew, second, "")),
			failed, "2 leaks, 1 new leak"},
		{"at all, or new: no baseline", "leak,new", leaky, findings{sure}, nil, failed, "1 leak"},
	} {
		on, err := leaks.ParseFailOn(test.on)
		if err != nil {
			t.Fatal(err)
		}
		got := leaks.Decide(&leaks.GateCase{Policy: theDefault(), Asked: on, Suffices: test.status != inconclusive,
			Head: &compare.BuildResult{Findings: test.head}, Compared: test.compared})
		if got.Gate != test.gate || got.Why != test.why {
			t.Errorf("%s: %s because %q, want %s because %q", test.name, got.Gate, got.Why, test.gate, test.why)
		}
	}
}
