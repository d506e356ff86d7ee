package leaks_test

import (
	"testing"
	"time"

	"heapdrift/internal/leaks"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// tolerated is the word of a team that tolerates a leak until a while after noon.
func tolerated(while time.Duration) leaks.TriageDecision {
	return leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "vendor", Until: new(noon.Add(while))}
}

var toleratedForEver = leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "vendor"}

func TestShownAtAnInstant(t *testing.T) {
	const never, fresh, ongoing, fixed, regressed, known = leaks.StateNone, leaks.StateNew, leaks.StateOngoing,
		leaks.StateFixed, leaks.StateRegressed, leaks.StateKnown
	for _, test := range []struct {
		name      string
		record    leaks.TriageRecord
		state     leaks.State
		tolerance string
		why       string // of Triage.Known
		expired   bool
	}{
		{"never bad", leaks.TriageRecord{StateByRuns: never}, never, "", "", false},
		{"never bad, and known all the same", leaks.TriageRecord{StateByRuns: never, TriageDecision: toleratedForEver}, never,
			"vendor", "vendor", false},
		{"never bad, and not a leak", leaks.TriageRecord{StateByRuns: never, TriageDecision: leaks.TriageDecision{NotLeak: true}, RuleKnown: "rule"},
			never, "rule", "rule", false},
		{"nothing said: new", leaks.TriageRecord{StateByRuns: fresh}, fresh, "", "", false},
		{"nothing said: ongoing", leaks.TriageRecord{StateByRuns: ongoing}, ongoing, "", "", false},
		{"nothing said: fixed", leaks.TriageRecord{StateByRuns: fixed}, fixed, "", "", false},
		{"nothing said: regressed", leaks.TriageRecord{StateByRuns: regressed}, regressed, "", "", false},

		{"for ever", leaks.TriageRecord{StateByRuns: fresh, TriageDecision: toleratedForEver}, known, "vendor", "vendor", false},
		{"for ever, and regressed", leaks.TriageRecord{StateByRuns: regressed, TriageDecision: toleratedForEver}, known,
			"vendor", "vendor", false},
		{"until just now", leaks.TriageRecord{StateByRuns: ongoing, TriageDecision: tolerated(-1)}, ongoing, "", "vendor", true},
		{"until now", leaks.TriageRecord{StateByRuns: ongoing, TriageDecision: tolerated(0)}, ongoing, "", "vendor", true},
		{"for a moment still", leaks.TriageRecord{StateByRuns: ongoing, TriageDecision: tolerated(1)}, known, "vendor", "vendor", false},
		{"new, and known no longer", leaks.TriageRecord{StateByRuns: fresh, TriageDecision: tolerated(0)}, ongoing, "", "vendor", true},
		{"fixed, and known no longer", leaks.TriageRecord{StateByRuns: fixed, TriageDecision: tolerated(0)}, fixed, "", "vendor", true},
		{"regressed, and known no longer", leaks.TriageRecord{StateByRuns: regressed, TriageDecision: tolerated(0)},
			regressed, "", "vendor", true},
		{"until a build that was bad", leaks.TriageRecord{StateByRuns: ongoing, TriageDecision: toleratedForEver, UntilOver: true},
			ongoing, "", "vendor", true},
		{"until a build that was bad, but new", leaks.TriageRecord{StateByRuns: fresh, TriageDecision: toleratedForEver, UntilOver: true},
			ongoing, "", "vendor", true},

		{"by a rule", leaks.TriageRecord{StateByRuns: fresh, RuleKnown: "rule"}, known, "rule", "rule", false},
		{"by a rule and the team", leaks.TriageRecord{StateByRuns: fresh, RuleKnown: "rule", TriageDecision: tolerated(1)}, known,
			"vendor", "vendor", false},
		{"by a rule, and by the team no longer", leaks.TriageRecord{StateByRuns: fresh, RuleKnown: "rule", TriageDecision: tolerated(0)},
			known, "rule", "rule", false},

		{"not a leak", leaks.TriageRecord{StateByRuns: ongoing, TriageDecision: leaks.TriageDecision{NotLeak: true}}, known, "", "", false},
		{"not a leak, and why", leaks.TriageRecord{StateByRuns: ongoing, TriageDecision: leaks.TriageDecision{NotLeak: true, NotLeakWhy: "a pool"},
			RuleKnown: "rule"}, known, "a pool", "rule", false},
		{"not a leak, and known no longer",
			leaks.TriageRecord{StateByRuns: fresh, TriageDecision: leaks.TriageDecision{Mark: leaks.MarkKnown, Reason: "vendor", NotLeak: true},
				UntilOver: true}, known, "", "vendor", true},
		{"a mark that is no tolerance", leaks.TriageRecord{StateByRuns: fresh, TriageDecision: leaks.TriageDecision{Mark: leaks.MarkFixed}}, fresh,
			"", "", false},
	} {
		triage := test.record.TriageAt(noon)
		if got := test.record.StateAt(noon); got != test.state || triage.State != test.state {
			t.Errorf("%s: %q, in the triage %q, want %q", test.name, got, triage.State, test.state)
		}
		if got := test.record.ToleranceReasonAt(noon); got != test.tolerance {
			t.Errorf("%s: tolerated because of %q, want %q", test.name, got, test.tolerance)
		}
		switch k := triage.Known; {
		case (k == nil) != (test.why == ""):
			t.Errorf("%s: %+v, want %q", test.name, k, test.why)
		case k != nil && (k.Reason != test.why || k.Expired != test.expired || k.Rule != (test.why == "rule")):
			t.Errorf("%s: %+v, want %q, expired %v", test.name, k, test.why, test.expired)
		}
	}
}

func TestTriageOfARecord(t *testing.T) {
	r := leaks.TriageRecord{
		TriageDecision: leaks.TriageDecision{Mark: leaks.MarkFixed, MarkedBy: "ann", Assignee: "bob", Ticket: "https://t/7"},
		Version:        3, StateByRuns: leaks.StateFixed, Owner: "ui", Comments: 2,
	}
	want := leaks.Triage{State: leaks.StateFixed, Version: 3, FixedBy: "ann", Assignee: "bob", Ticket: "https://t/7",
		Owner: "ui", Comments: 2}
	if got := r.TriageAt(noon); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r.FixedByRuns = true
	if got := r.TriageAt(noon).FixedBy; got != "" {
		t.Errorf("runs show that it is fixed, and it is said to be the word of %q", got)
	}
	r.Mark, r.FixedByRuns = leaks.MarkKnown, false
	if got := r.TriageAt(noon).FixedBy; got != "" {
		t.Errorf("%q tolerates it, and is said to have fixed it", got)
	}
	for _, test := range []struct {
		triage leaks.Triage
		want   string
	}{{leaks.Triage{}, ""}, {leaks.Triage{Owner: "ui"}, "ui"}, {leaks.Triage{Assignee: "bob"}, "bob"},
		{leaks.Triage{Assignee: "bob", Owner: "ui"}, "bob"}} {
		if got := test.triage.Responsible(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.triage, got, test.want)
		}
	}
}
