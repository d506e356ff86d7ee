package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// riskyReport is a report on a day, of findings and what each of them could leak in it.
func riskyReport(risks map[string]analysis.Risk, findings ...finding) *analysis.Report {
	r := leaksReport(findings...)
	r.Observation = &analysis.Observation{Weighed: true, Hours: 24}
	for i := range r.Findings {
		if risk, ok := risks[r.Findings[i].Signature]; ok {
			r.Findings[i].Risk = &risk
		}
	}
	return r
}

const mb = 1 << 20

// What matters is what the policy of the scenario says when the gate is asked, not when the run was analysed; a call
// may tighten it.
func TestWhatMattersIsThePolicys(t *testing.T) {
	l := newLab(t)
	run := l.run("1/soak", riskyReport(map[string]analysis.Risk{"A": {Probability: 0.6, MostBytes: mb, Score: 0.6}},
		finding{signature: "A", class: grows}))
	const passed, open = leaks.GatePassed, leaks.GateInconclusive
	for _, test := range []struct {
		policies, call string
		gate           leaks.Gate
		source         analysis.ThresholdSource
		says           string
	}{
		{"", "", passed, "default", "10.0 MB per day (the default)"},
		{`{"default":{"matters":"1MB/day"}}`, "", passed, "project", "1.00 MB per day (set for the project)"},
		{`{"default":{"matters":"1023KB/day"}}`, "", open, "project", "(set for the project)"},
		{`{"default":{"matters":"1023KB/day"},"scenarios":{"soak":{"matters":"2MB/day"}}}`, "", passed, "scenario",
			"2.00 MB per day (set for the scenario soak)"},
		{`{"default":{"matters":"1023KB/day"},"scenarios":{"soak":{}}}`, "", passed, "default", "(the default)"},
		{`{"default":{"matters":"1023KB/day"},"scenarios":{"unit":{"matters":"2MB/day"}}}`, "", open, "project", "(set for the project)"},
		{`{"default":{"matters":"2MB/day"}}`, "1023KB/day", open, "call", "(asked for by the call, less than 2.00 MB per day, set for the project)"},
		{`{"default":{"matters":"1023KB/day"}}`, "1GB/day", open, "project", "is ignored: a call may only lower this"},
	} {
		if test.policies != "" {
			must[store.PolicyFile](t)(l.CreatePolicy(t.Context(), "demo", store.PolicyChange{
				Policies: must[leaks.Policies](t)(leaks.ParsePolicies([]byte(test.policies))), Author: "ann", Version: -1}))
		}
		q := store.GateQuestion{Matters: must[*analysis.Threshold](t)(leaks.ParseAskedThreshold(test.call))}
		view := l.now()
		r := must[store.Run](t)(view.FindRun(t.Context(), run))
		v := must[leaks.RunVerdict](t)(view.FindVerdict(t.Context(), &r, q))
		m := v.Decision.Matters
		if v.Gate != test.gate || len(v.Decision.Undecided) > 0 != (test.gate == open) || m.Source != test.source ||
			!strings.Contains(m.Sentence, test.says) || m.Expected.Bytes != 0.6*mb || m.Limit.Bytes != m.Bytes {
			t.Errorf("%s, call %q: %s because %q, %+v", test.policies, test.call, v.Gate, v.Why, m)
		}
	}
	// The analysis weighs by the policy as well.
	in := must[store.AnalysisInput](t)(l.now().FindAnalysisInput(t.Context(), run))
	if in.Matters == nil || in.Matters.Growth != (analysis.Growth{Bytes: 1023 << 10, Unit: "day"}) {
		t.Errorf("%+v", in.Matters)
	}
}

// A run that was analysed before its numbers were stored is decided by what mattered then, and says so.
func TestWhatMatteredBefore(t *testing.T) {
	l := newLab(t)
	r := riskyReport(nil, finding{signature: "A", class: grows})
	r.Findings[0].Immaterial = true
	l.run("1", r)
	l.sql(`update runs set watch = null`)
	for _, test := range []struct {
		policy, says string
	}{
		{`{}`, "What matters here: 10.0 MB per day, or 8.00 KB per run where the evidence has no times (the default)"},
		{`{"matters":"1MB/day"}`, "What matters here: 10.0 MB per day, or 8.00 KB per run where the evidence has no times (the default at the time of the analysis; analyse the run again to apply 1.00 MB per day, set for the project)"},
	} {
		l.policy(test.policy)
		if v := l.gateOf("1"); v.Gate != leaks.GatePassed || v.Decision.Matters.Sentence != test.says {
			t.Errorf("%s: %s, %s", test.policy, v.Gate, v.Decision.Matters.Sentence)
		}
	}
}

// What no list shows is expected to leak as well, unless it is known.
func TestOthersAreWeighed(t *testing.T) {
	risks := map[string]analysis.Risk{"A": {Probability: 0.4, MostBytes: 20 * mb, Score: 0.4}, "B": {Probability: 0.1, MostBytes: 25 * mb, Score: 0.4}}
	l := newLab(t)
	l.run("1", riskyReport(risks, finding{signature: "A", class: grows}, finding{signature: "B", class: stable}))
	if v := l.gateOf("1"); v.Gate != leaks.GateInconclusive || v.Decision.Matters.Expected.Bytes != 10.5*mb {
		t.Errorf("%s, %+v", v.Gate, v.Decision.Matters)
	}
	l.run("2", riskyReport(risks, finding{signature: "A", class: grows}, finding{signature: "B", class: stable, known: "by a rule"}))
	if v := l.gateOf("2"); v.Gate != leaks.GatePassed || v.Decision.Matters.Expected.Bytes != 8*mb {
		t.Errorf("%s, %+v", v.Gate, v.Decision.Matters)
	}
}

// What a call asks to matter is a question of its own: its answers stand beside those by the policy.
func TestDecisionsOfCallsThatTighten(t *testing.T) {
	l := newLab(t)
	run := l.run("1", riskyReport(map[string]analysis.Risk{"A": {Probability: 0.6, MostBytes: mb, Score: 0.6}},
		finding{signature: "A", class: grows}))
	q := store.GateQuestion{Matters: &analysis.Threshold{Growth: analysis.Growth{Bytes: 1000, Unit: "day"}}}
	view := l.now()
	r := must[store.Run](t)(view.FindRun(t.Context(), run))
	tight := must[leaks.RunVerdict](t)(view.FindVerdict(t.Context(), &r, q))
	for range 2 {
		if err := l.CreateDecision(t.Context(), run, q, tight.Decision); err != nil {
			t.Fatal(err)
		}
	}
	list := must[[]store.StoredDecision](t)(l.now().ListDecisions(t.Context(), run))
	last := must[map[int64]store.StoredDecision](t)(l.now().ListLastDecisions(t.Context(), []int64{run}))
	if len(list) != 2 || list[0].Asked != "1000B/day" || list[0].Gate != leaks.GateInconclusive ||
		last[run].Asked != "" || last[run].Gate != leaks.GatePassed {
		t.Errorf("%+v; the last %+v", list, last)
	}
}

// Another settle time analyses the runs of the scenarios again that it is for, and no others.
func TestSettleTimeAnalysesAgain(t *testing.T) {
	l := newLab(t)
	soak := l.run("1/soak", leaksReport(finding{signature: "A", class: stable}))
	unit := l.run("1/unit", leaksReport(finding{signature: "A", class: stable}))
	for _, test := range []struct {
		policies string
		again    []int64
		settle   time.Duration // of soak
	}{
		{`{"default":{"matters":"1MB/day"}}`, nil, 0},
		{`{"scenarios":{"soak":{"settle":"10m"}}}`, []int64{soak}, 10 * time.Minute},
		{`{"scenarios":{"soak":{"settle":"600s"}}}`, nil, 10 * time.Minute},
		{`{"default":{"settle":"10m"}}`, []int64{unit}, 10 * time.Minute},
		{`{"default":{"settle":"11m"}}`, []int64{soak, unit}, 11 * time.Minute},
	} {
		must[store.PolicyFile](t)(l.CreatePolicy(t.Context(), "demo", store.PolicyChange{
			Policies: must[leaks.Policies](t)(leaks.ParsePolicies([]byte(test.policies))), Author: "ann", Version: -1}))
		in := must[store.AnalysisInput](t)(l.now().FindAnalysisInput(t.Context(), soak))
		rows, err := l.conn.Query(t.Context(), `delete from jobs where kind = 'analyse' and state = 'queued' returning run_id`)
		if err != nil {
			t.Fatal(err)
		}
		queued := must[[]int64](t)(pgx.CollectRows(rows, pgx.RowTo[int64]))
		slices.Sort(queued)
		if !slices.Equal(queued, test.again) || in.Settle != test.settle {
			t.Errorf("%s: runs %v are analysed again, want %v; %v", test.policies, queued, test.again, in.Settle)
		}
	}
}
