package leaks_test

import (
	"testing"
	"time"

	"heapdrift/internal/leaks"
)

func TestWordsThatSayTheSame(t *testing.T) {
	full := func() leaks.Word {
		return leaks.Word{
			Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "vendor", Until: new(noon), UntilBuild: "7", FixedID: new(int64(3)),
			NotLeak: true, Assignee: "bob", Ticket: "https://t/1",
		}
	}
	for name, test := range map[string]struct {
		change func(w *leaks.Word)
		same   bool
	}{
		"nothing":           {func(*leaks.Word) {}, true},
		"another zone":      {func(w *leaks.Word) { w.Until = new(noon.In(time.FixedZone("", 3600))) }, true},
		"mark":              {func(w *leaks.Word) { w.Mark = leaks.MarkFixed }, false},
		"who":               {func(w *leaks.Word) { w.MarkedBy = "eve" }, false},
		"reason":            {func(w *leaks.Word) { w.Reason = "" }, false},
		"a moment later":    {func(w *leaks.Word) { w.Until = new(noon.Add(1)) }, false},
		"for ever":          {func(w *leaks.Word) { w.Until = nil }, false},
		"until a build":     {func(w *leaks.Word) { w.UntilBuild = "8" }, false},
		"fixed in another":  {func(w *leaks.Word) { w.FixedID = new(int64(4)) }, false},
		"fixed in none":     {func(w *leaks.Word) { w.FixedID = nil }, false},
		"a leak":            {func(w *leaks.Word) { w.NotLeak = false }, false},
		"why it is none":    {func(w *leaks.Word) { w.NotLeakWhy = "a pool" }, false},
		"nobody's":          {func(w *leaks.Word) { w.Assignee = "" }, false},
		"of another ticket": {func(w *leaks.Word) { w.Ticket = "" }, false},
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

func TestJoinedWords(t *testing.T) {
	known := leaks.Word{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "vendor", Until: new(noon)}
	fixed := leaks.Word{Mark: leaks.MarkFixed, MarkedBy: "bob", FixedID: new(int64(3))}
	notLeak := leaks.Word{NotLeak: true}
	his := leaks.Word{Assignee: "bob", Ticket: "https://t/1"}
	with := func(w leaks.Word, assignee, ticket string) leaks.Word {
		w.Assignee, w.Ticket = assignee, ticket
		return w
	}
	for name, test := range map[string]struct{ word, part, want leaks.Word }{
		"nothing of either":               {leaks.Word{}, leaks.Word{}, leaks.Word{}},
		"its own":                         {known, leaks.Word{}, known},
		"that of the part":                {leaks.Word{}, known, known},
		"its own, not that of the part":   {known, fixed, known},
		"not a leak, and not of the part": {notLeak, known, notLeak},
		"the part is not a leak":          {leaks.Word{}, notLeak, notLeak},
		"whose of the part":               {known, his, with(known, "bob", "https://t/1")},
		"whose is its own": {with(known, "ann", ""), with(fixed, "bob", "https://t/1"),
			with(known, "ann", "https://t/1")},
		"judged by the part, whose is its": {with(leaks.Word{}, "ann", "https://t/2"), with(fixed, "bob", "https://t/1"),
			with(fixed, "ann", "https://t/2")},
	} {
		if got := test.word.Joined(test.part); !got.IsSame(&test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
