package leaks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// rated is a finding that grows, in bytes and blocks.
func rated(f compare.Finding, bytes, blocks float64, unit string) compare.Finding {
	f.RateBytes, f.RateCount, f.RateUnit = bytes, blocks, unit
	return f
}

// unbounded takes the interval of a finding's rate away.
func unbounded(f compare.Finding) compare.Finding {
	f.Unbounded = true
	return f
}

func scoredAt(f compare.Finding, score float64) compare.Finding {
	f.Score = &score
	return f
}

func regressed(f compare.Finding) compare.Finding {
	f.Regressed = true
	return f
}

func TestDecide(t *testing.T) {
	type findings = []compare.Finding
	type policy = leaks.Policy
	hourly := func(of leaks.BudgetScope, name string, limit float64) policy {
		return policy{Budgets: []leaks.Budget{{Scope: of, Name: name, Measure: leaks.MeasureBytes, Per: "hour", Limit: limit}}}
	}
	blocks := policy{Budgets: []leaks.Budget{{Scope: leaks.BudgetTotal, Measure: leaks.MeasureBlocks, Per: "document", Limit: 2}}}
	drift := policy{Drift: &leaks.DriftLimit{Percent: 10, Measure: leaks.MeasureBytes}}
	on := func(list ...leaks.FailOn) policy { return policy{FailOn: list} }
	guarded := policy{FailOn: []leaks.FailOn{leaks.FailOnLeak}, Noise: &leaks.FlapRule{Runs: 5, Changes: 3}}
	canary := policy{FailOn: []leaks.FailOn{leaks.FailOnLeak}, Canary: "Canary::Leak"}
	with := func(p policy, word leaks.InconclusivePolicy) policy { p.Inconclusive = word; return p }
	bird := compare.Finding{Signature: "bird", Class: leak, Certain: true, Frames: []string{"app!Canary::Leak"}}
	slow, fast := rated(sure, 60, 3, "hour"), rated(second, 41, 4, "hour")
	release := func(list ...compare.Finding) *compare.BuildResult {
		return &compare.BuildResult{Build: "r1", Statuses: []analysis.VerdictStatus{noLeak}, Findings: list}
	}
	for _, test := range []struct {
		name    string
		policy  policy
		status  analysis.VerdictStatus
		head    findings
		release *compare.BuildResult
		past    map[string][]bool
		gate    leaks.Gate
		codes   string
	}{
		{"nothing is to fail", policy{}, leaky, findings{sure}, nil, nil, leaks.GatePassed, ""},
		{"regressed", on(leaks.FailOnRegressed), leaky, findings{regressed(sure)}, nil, nil,
			leaks.GateFailed, "fails regressed"},
		{"not regressed", on(leaks.FailOnRegressed), leaky, findings{sure}, nil, nil, leaks.GatePassed, ""},
		{"regressed and known", on(leaks.FailOnRegressed), leaky, findings{regressed(known)}, nil, nil,
			leaks.GatePassed, "silences known"},

		{"total below", hourly(leaks.BudgetTotal, "", 101.5), leaky, findings{slow, fast}, nil, nil, leaks.GatePassed, ""},
		{"total at", hourly(leaks.BudgetTotal, "", 101), leaky, findings{slow, fast}, nil, nil, leaks.GatePassed, ""},
		{"total above", hourly(leaks.BudgetTotal, "", 100.5), leaky, findings{slow, fast}, nil, nil,
			leaks.GateFailed, "fails budget"},
		{"each below", hourly(leaks.BudgetSignature, "", 60), leaky, findings{slow, fast}, nil, nil, leaks.GatePassed, ""},
		{"each above", hourly(leaks.BudgetSignature, "", 59), leaky, findings{slow, fast}, nil, nil,
			leaks.GateFailed, "fails budget"},
		{"another one", hourly(leaks.BudgetSignature, "second", 41), leaky, findings{slow, fast}, nil,
			nil, leaks.GatePassed, ""},
		{"the one", hourly(leaks.BudgetSignature, "second", 40), leaky, findings{slow, fast}, nil, nil,
			leaks.GateFailed, "fails budget"},
		{"the process", hourly(leaks.BudgetProcess, "APP.exe", 100), leaky, findings{slow, fast}, nil, nil,
			leaks.GateFailed, "fails budget"},
		{"another process", hourly(leaks.BudgetProcess, "other.exe", 0), leaky, findings{slow, fast}, nil,
			nil, leaks.GatePassed, ""},
		{"blocks of work", blocks, leaky, findings{rated(sure, 1e6, 2, "document")}, nil, nil, leaks.GatePassed, ""},
		{"too many blocks of work", blocks, leaky, findings{rated(sure, 1, 2.1, "document")}, nil, nil,
			leaks.GateFailed, "fails budget"},
		{"another unit", blocks, leaky, findings{slow}, nil, nil, leaks.GateInconclusive, "doubts budget-unmeasured"},
		{"no rate", hourly(leaks.BudgetTotal, "", 0), leaky, findings{sure}, nil, nil, leaks.GateInconclusive,
			"doubts budget-unmeasured"},
		{"of what is not sure", hourly(leaks.BudgetTotal, "", 0), noLeak, findings{rated(growing, 1, 1, "hour")}, nil, nil,
			leaks.GateInconclusive, "doubts budget-uncertain"},
		{"of a rate without an interval", hourly(leaks.BudgetTotal, "", 100), leaky, findings{slow, unbounded(fast)}, nil, nil,
			leaks.GateInconclusive, "doubts budget-uncertain"},
		{"of what is known", hourly(leaks.BudgetTotal, "", 0), leaky, findings{rated(known, 1, 1, "hour")}, nil, nil,
			leaks.GatePassed, "silences known"},
		{"of what shrinks", hourly(leaks.BudgetTotal, "", 0), leaky, findings{rated(sure, -1, -1, "hour")}, nil,
			nil, leaks.GatePassed, ""},

		{"drift: no release", drift, leaky, findings{slow}, nil, nil, leaks.GateInconclusive, "doubts no-release"},
		{"drift: at", drift, leaky, findings{rated(sure, 110, 1, "hour")}, release(rated(sure, 100, 1, "hour")),
			nil, leaks.GatePassed, ""},
		{"drift: above", drift, leaky, findings{rated(sure, 111, 1, "hour")}, release(rated(sure, 100, 1, "hour")), nil,
			leaks.GateFailed, "fails drift"},
		{"drift: from nothing", drift, leaky, findings{slow}, release(), nil, leaks.GateFailed, "fails drift"},
		{"drift: not sure", drift, noLeak, findings{rated(growing, 111, 1, "hour")}, release(rated(growing, 100, 1, "hour")),
			nil, leaks.GateInconclusive, "doubts drift-uncertain"},
		{"drift: a rate without an interval", drift, leaky, findings{unbounded(rated(sure, 111, 1, "hour"))},
			release(rated(sure, 100, 1, "hour")), nil, leaks.GateInconclusive, "doubts drift-uncertain"},
		// 50 percent more than 40 is 60, which is exact in binary.
		{"drift: just below", policy{Drift: &leaks.DriftLimit{Percent: 50, Measure: leaks.MeasureBytes}}, leaky,
			findings{rated(sure, 59.5, 3, "hour")}, release(rated(sure, 40, 1, "hour")), nil, leaks.GatePassed, ""},
		{"drift: at it", policy{Drift: &leaks.DriftLimit{Percent: 50, Measure: leaks.MeasureBytes}}, leaky, findings{slow},
			release(rated(sure, 40, 1, "hour")), nil, leaks.GatePassed, ""},
		{"drift: just above", policy{Drift: &leaks.DriftLimit{Percent: 50, Measure: leaks.MeasureBytes}}, leaky,
			findings{rated(sure, 60.5, 3, "hour")}, release(rated(sure, 40, 1, "hour")), nil, leaks.GateFailed, "fails drift"},
		{"drift: another unit", drift, leaky, findings{rated(sure, 111, 1, "hour")}, release(rated(sure, 100, 1, "document")),
			nil, leaks.GateInconclusive, "doubts drift-unmeasured"},
		{"drift: the release decides nothing", drift, leaky, findings{slow},
			&compare.BuildResult{Build: "r1", Statuses: []analysis.VerdictStatus{inconclusive}}, nil, leaks.GateInconclusive,
			"doubts drift-unmeasured"},
		{"drift: nothing says how fast", drift, leaky, findings{sure}, release(), nil, leaks.GateInconclusive,
			"doubts drift-unmeasured"},
		{"drift: nothing says how fast one of two", drift, leaky,
			findings{rated(sure, 100, 1, "hour"), {Signature: "other", Class: leak, Certain: true}},
			release(rated(sure, 100, 1, "hour")), nil, leaks.GateInconclusive, "doubts drift-unmeasured"},
		{"drift: what is below the score counts on neither side", policy{Drift: drift.Drift, MinimumScore: 0.9}, leaky,
			findings{slow},
			release(scoredAt(rated(compare.Finding{Signature: "gone", Class: leak, Certain: true}, 1e9, 1, "hour"), 0.5)), nil,
			leaks.GateFailed, "fails drift"},
		{"drift: what is known counts on neither side", drift, leaky,
			findings{rated(known, 999, 1, "hour"), rated(sure, 111, 1, "hour")},
			release(rated(known, 100, 1, "hour"), rated(sure, 100, 1, "hour")), nil, leaks.GateFailed,
			"fails drift, silences known"},

		{"score below", policy{FailOn: []leaks.FailOn{leaks.FailOnLeak}, MinimumScore: 0.9}, leaky,
			findings{scoredAt(sure, 0.89)}, nil, nil, leaks.GatePassed, "silences below-score"},
		{"score at", policy{FailOn: []leaks.FailOn{leaks.FailOnLeak}, MinimumScore: 0.9}, leaky,
			findings{scoredAt(sure, 0.9)}, nil, nil, leaks.GateFailed, "fails leak"},
		{"no score", policy{FailOn: []leaks.FailOn{leaks.FailOnLeak}, MinimumScore: 1}, leaky, findings{sure}, nil, nil,
			leaks.GateFailed, "fails leak"},

		{"no identity", on(leaks.FailOnLeak), leaky, findings{framed(sure, "app!Main", "<unknown>+0x7ff612340010")}, nil, nil,
			leaks.GatePassed, "silences no-identity"},
		{"no identity, and not certain", on(leaks.FailOnLeak), noLeak, findings{framed(growing, "<unknown>+0x10")}, nil, nil,
			leaks.GatePassed, ""},
		{"an offset in a module is an identity", on(leaks.FailOnLeak), leaky, findings{framed(sure, "app!<unknown>+0x10")}, nil, nil,
			leaks.GateFailed, "fails leak"},

		{"it flaps", guarded, leaky, findings{sure}, nil, map[string][]bool{"sure": {true, false, true, false, true}},
			leaks.GatePassed, "silences quarantined"},
		{"it flaps, and another does not", guarded, leaky, findings{sure, second}, nil,
			map[string][]bool{"sure": {true, false, true, false, true}}, leaks.GateFailed, "fails leak, silences quarantined"},
		{"it came back", guarded, leaky, findings{sure}, nil, map[string][]bool{"sure": {true, true, false, false, true}},
			leaks.GateFailed, "fails leak"},

		{"the canary alone", canary, leaky, findings{bird}, nil, nil, leaks.GatePassed, "silences canary"},
		{"the canary and another", canary, leaky, findings{bird, sure}, nil, nil, leaks.GateFailed,
			"fails leak, silences canary"},
		{"no canary", canary, noLeak, nil, nil, nil, leaks.GateInconclusive, "doubts not-proven"},
		{"a canary that may leak", canary, noLeak, findings{{Signature: "bird", Class: leak, Frames: bird.Frames}}, nil, nil,
			leaks.GateInconclusive, "doubts not-proven"},
		{"a canary that does not leak", canary, noLeak, findings{{Signature: "bird", Class: stable, Frames: bird.Frames}},
			nil, nil, leaks.GateInconclusive, "doubts not-proven"},
		{"no canary, and a leak", canary, leaky, findings{sure}, nil, nil, leaks.GateFailed, "fails leak, doubts not-proven"},
		{"no canary where what is inconclusive passes", with(canary, leaks.InconclusivePasses), noLeak, nil, nil, nil,
			leaks.GateInconclusive, "doubts not-proven"},
		{"no canary where what is inconclusive fails", with(canary, leaks.InconclusiveFails), noLeak, nil, nil, nil,
			leaks.GateFailed, "doubts not-proven"},
		{"the canary is known", canary, leaky,
			findings{{Signature: "bird", Class: leak, Certain: true, Known: "on purpose", Frames: bird.Frames}}, nil, nil,
			leaks.GatePassed, "silences canary"},

		{"warn", with(policy{}, leaks.InconclusiveWarns), inconclusive, nil, nil, nil, leaks.GateInconclusive,
			"doubts evidence-inconclusive"},
		{"fail", with(policy{}, leaks.InconclusiveFails), inconclusive, nil, nil, nil, leaks.GateFailed,
			"doubts evidence-inconclusive"},
		{"pass", with(policy{}, leaks.InconclusivePasses), inconclusive, nil, nil, nil, leaks.GatePassed,
			"doubts evidence-inconclusive"},
		{"a rule silences all", on(leaks.FailOnLeak), leaky, findings{knownByRule, known}, nil, nil, leaks.GatePassed,
			"silences known-by-rule, silences known"},
	} {
		policy := test.policy
		got := leaks.Decide(&leaks.GateCase{
			Policy: &policy, Version: 3, Suffices: test.status != inconclusive, Process: "app.exe",
			Head: &compare.BuildResult{Build: "2", Findings: test.head}, Release: test.release, FoundInPastRuns: test.past,
		})
		var codes []string
		for _, r := range got.Reasons {
			codes = append(codes, fmt.Sprintf("%s %s", r.Effect, r.Code))
			if r.Sentence == "" {
				t.Errorf("%s: %s says nothing", test.name, r.Code)
			}
			if r.Code == leaks.ReasonBudget && (r.Figure == nil || r.Limit == nil || *r.Figure <= *r.Limit) {
				t.Errorf("%s: over the budget by %v of %v", test.name, r.Figure, r.Limit)
			}
		}
		if got.Gate != test.gate || strings.Join(codes, ", ") != test.codes || got.Policy != 3 || got.Why == "" {
			t.Errorf("%s: %s by %q because %q, want %s by %q", test.name, got.Gate, codes, got.Why, test.gate, test.codes)
		}
		if want := map[leaks.Gate]int{leaks.GatePassed: 0, leaks.GateFailed: 1,
			leaks.GateInconclusive: 4}[got.Gate]; got.Exit != want {
			t.Errorf("%s: exit %d of %s", test.name, got.Exit, got.Gate)
		}
	}
}

// The budget of a process is not skipped if the evidence does not name its process, as logs of some tools do not.
func TestBudgetOfANamelessProcess(t *testing.T) {
	p := &leaks.Policy{Budgets: []leaks.Budget{{Scope: leaks.BudgetProcess, Name: "app.exe", Measure: leaks.MeasureBytes,
		Per: "hour", Limit: 1}}}
	for _, test := range []struct {
		head []compare.Finding
		gate leaks.Gate
	}{{[]compare.Finding{rated(sure, 100, 1, "hour")}, leaks.GateInconclusive}, {nil, leaks.GatePassed},
		{[]compare.Finding{known}, leaks.GatePassed}} {
		if got := leaks.Decide(&leaks.GateCase{Policy: p, Version: 1, Suffices: true,
			Head: &compare.BuildResult{Findings: test.head}}); got.Gate != test.gate {
			t.Errorf("%+v: %s because %q", test.head, got.Gate, got.Why)
		}
	}
}

// A gate that fails by its saved policy never passes because of what a call asks for.
func TestCallsOnlyTighten(t *testing.T) {
	kinds := []leaks.FailOn{leaks.FailOnLeak, leaks.FailOnNew, leaks.FailOnRegressed, leaks.FailOnGrown}
	rank := map[leaks.Gate]int{leaks.GatePassed: 0, leaks.GateInconclusive: 1, leaks.GateFailed: 2}
	subset := func(bits int) (list []leaks.FailOn) {
		for i, on := range kinds {
			if bits>>i&1 == 1 {
				list = append(list, on)
			}
		}
		return list
	}
	decided := []analysis.VerdictStatus{noLeak}
	heads := [][]compare.Finding{nil, {sure}, {regressed(sure), known}, {unsure}}
	for policy := range 1 << len(kinds) {
		for asked := range 1 << len(kinds) {
			for _, head := range heads {
				for _, compared := range []*leaks.RunComparison{nil, against(decided, became(compare.ChangeNew, sure, "")),
					against(decided, became(compare.ChangeGrown, sure, leak))} {
					p := &leaks.Policy{FailOn: subset(policy)}
					c := leaks.GateCase{Policy: p, Version: 1, Suffices: true, Head: &compare.BuildResult{Findings: head}, Compared: compared}
					plain := leaks.Decide(&c)
					c.Asked = subset(asked)
					if tight := leaks.Decide(&c); rank[tight.Gate] < rank[plain.Gate] {
						t.Errorf("policy %q: %s because %q; with %q %s because %q", p.FailOn, plain.Gate, plain.Why,
							c.Asked, tight.Gate, tight.Why)
					}
				}
			}
		}
	}
}

// A decision names the first leaks and counts the others.
func TestDecideNamesSoMany(t *testing.T) {
	var head []compare.Finding
	for i := range 250 {
		head = append(head, compare.Finding{Signature: fmt.Sprint(i), Class: leak, Certain: true})
	}
	got := leaks.Decide(&leaks.GateCase{Policy: theDefault(), Suffices: true, Head: &compare.BuildResult{Findings: head}})
	last := got.Reasons[len(got.Reasons)-1]
	if len(got.Reasons) != 101 || last.Sentence != "and 150 more like these" || got.Why != "250 leaks" ||
		!slices.Equal(got.FailOn, []leaks.FailOn{leaks.FailOnLeak}) {
		t.Errorf("%d reasons, the last %+v, because %q", len(got.Reasons), last, got.Why)
	}
}

// framed gives a finding the frames that its signature is made of.
func framed(f compare.Finding, frames ...string) compare.Finding {
	f.Frames = frames
	return f
}
