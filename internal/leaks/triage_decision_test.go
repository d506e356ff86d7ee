package leaks_test

import (
	"testing"
	"time"

	"heapdrift/internal/leaks"
)

func TestEqualTriageDecisions(t *testing.T) {
	full := func() leaks.TriageDecision {
		return leaks.TriageDecision{
			Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "vendor", Until: new(noon), UntilBuild: "7", FixedID: new(int64(3)),
			NotLeak: true, Assignee: "bob", Ticket: "https://t/1",
		}
	}
	for name, test := range map[string]struct {
		change func(w *leaks.TriageDecision)
		same   bool
	}{
		"nothing":           {func(*leaks.TriageDecision) {}, true},
		"another zone":      {func(w *leaks.TriageDecision) { w.Until = new(noon.In(time.FixedZone("", 3600))) }, true},
		"mark":              {func(w *leaks.TriageDecision) { w.Mark = leaks.MarkFixed }, false},
		"who":               {func(w *leaks.TriageDecision) { w.MarkedBy = "eve" }, false},
		"reason":            {func(w *leaks.TriageDecision) { w.Reason = "" }, false},
		"a moment later":    {func(w *leaks.TriageDecision) { w.Until = new(noon.Add(1)) }, false},
		"for ever":          {func(w *leaks.TriageDecision) { w.Until = nil }, false},
		"until a build":     {func(w *leaks.TriageDecision) { w.UntilBuild = "8" }, false},
		"fixed in another":  {func(w *leaks.TriageDecision) { w.FixedID = new(int64(4)) }, false},
		"fixed in none":     {func(w *leaks.TriageDecision) { w.FixedID = nil }, false},
		"a leak":            {func(w *leaks.TriageDecision) { w.NotLeak = false }, false},
		"why it is none":    {func(w *leaks.TriageDecision) { w.NotLeakWhy = "a pool" }, false},
		"nobody's":          {func(w *leaks.TriageDecision) { w.Assignee = "" }, false},
		"of another ticket": {func(w *leaks.TriageDecision) { w.Ticket = "" }, false},
	} {
		one, other := full(), full()
		test.change(&other)
		if one.IsSame(&other) != test.same || other.IsSame(&one) != test.same {
			t.Errorf("%s: same is %v, and the other way %v; want %v", name, one.IsSame(&other), other.IsSame(&one), test.same)
		}
		if one.Until == nil || one.FixedID == nil {
			t.Fatalf("%s: comparing took from the word: %+v", name, one)
		}
	}
}

func TestJoinedTriageDecisions(t *testing.T) {
	known := leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "vendor", Until: new(noon)}
	fixed := leaks.TriageDecision{Mark: leaks.MarkFixed, MarkedBy: "bob", FixedID: new(int64(3))}
	notLeak := leaks.TriageDecision{NotLeak: true}
	his := leaks.TriageDecision{Assignee: "bob", Ticket: "https://t/1"}
	with := func(w leaks.TriageDecision, assignee, ticket string) leaks.TriageDecision {
		w.Assignee, w.Ticket = assignee, ticket
		return w
	}
	for name, test := range map[string]struct{ word, part, want leaks.TriageDecision }{
		"nothing of either":               {leaks.TriageDecision{}, leaks.TriageDecision{}, leaks.TriageDecision{}},
		"its own":                         {known, leaks.TriageDecision{}, known},
		"that of the part":                {leaks.TriageDecision{}, known, known},
		"its own, not that of the part":   {known, fixed, known},
		"not a leak, and not of the part": {notLeak, known, notLeak},
		"the part is not a leak":          {leaks.TriageDecision{}, notLeak, notLeak},
		"whose of the part":               {known, his, with(known, "bob", "https://t/1")},
		"whose is its own": {with(known, "ann", ""), with(fixed, "bob", "https://t/1"),
			with(known, "ann", "https://t/1")},
		"judged by the part, whose is its": {with(leaks.TriageDecision{}, "ann", "https://t/2"), with(fixed, "bob", "https://t/1"),
			with(fixed, "ann", "https://t/2")},
	} {
		if got := test.word.Joined(test.part); !got.IsSame(&test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
