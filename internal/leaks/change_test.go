package leaks_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
)

// fieldOf is the field that an error names; "" for no error.
func fieldOf(t *testing.T, err error) string {
	t.Helper()
	var wrong *leaks.FieldError
	if err != nil && !errors.As(err, &wrong) {
		t.Fatalf("%v is of no field", err)
	}
	if wrong == nil {
		return ""
	}
	return wrong.Field
}

func TestCheckOfAChange(t *testing.T) {
	known := func(k leaks.Toleration) leaks.TriageChange { return leaks.TriageChange{Actor: "ann", Known: &k} }
	ticket := func(text string) leaks.TriageChange { return leaks.TriageChange{Actor: "ann", Ticket: &text} }
	for name, test := range map[string]struct {
		change leaks.TriageChange
		field  string // that is wrong; "" for none
	}{
		"nothing":                    {leaks.TriageChange{Actor: "ann"}, ""},
		"nobody":                     {leaks.TriageChange{}, "actor"},
		"blank":                      {leaks.TriageChange{Actor: " \t"}, "actor"},
		"the name that outlines use": {leaks.TriageChange{Actor: leaks.ActorOutline}, "actor"},
		"the name that lines use":    {leaks.TriageChange{Actor: leaks.ActorLine}, "actor"},
		"a name of 64":               {leaks.TriageChange{Actor: strings.Repeat("ä", leaks.MaxActorChars)}, ""},
		"a name of 65":               {leaks.TriageChange{Actor: strings.Repeat("ä", leaks.MaxActorChars+1)}, "actor"},
		"a name that is no text":     {leaks.TriageChange{Actor: "a\x00"}, "actor"},

		"fixed":                {leaks.TriageChange{Actor: "ann", Fixed: new("")}, ""},
		"reopened":             {leaks.TriageChange{Actor: "ann", Reopen: true}, ""},
		"a leak after all":     {leaks.TriageChange{Actor: "ann", Fixed: new("7"), NotLeak: new(false)}, ""},
		"fixed and reopened":   {leaks.TriageChange{Actor: "ann", Fixed: new(""), Reopen: true}, "state"},
		"fixed and not a leak": {leaks.TriageChange{Actor: "ann", Fixed: new(""), NotLeak: new(true)}, "state"},
		"known and fixed":      {leaks.TriageChange{Actor: "ann", Fixed: new(""), Known: &leaks.Toleration{Reason: "x"}}, "state"},
		"known and not a leak": {leaks.TriageChange{Actor: "ann", NotLeak: new(true),
			Known: &leaks.Toleration{Reason: "x"}}, "state"},
		"reopened, not a leak": {leaks.TriageChange{Actor: "ann", Reopen: true, NotLeak: new(true)}, "state"},

		"known":                     {known(leaks.Toleration{Reason: "x"}), ""},
		"known without a reason":    {known(leaks.Toleration{}), "reason"},
		"known for a blank":         {known(leaks.Toleration{Reason: " \n"}), "reason"},
		"a reason of 1000":          {known(leaks.Toleration{Reason: strings.Repeat("ä", leaks.MaxReasonChars)}), ""},
		"a reason of 1001":          {known(leaks.Toleration{Reason: strings.Repeat("ä", leaks.MaxReasonChars+1)}), "reason"},
		"a reason that is no text":  {known(leaks.Toleration{Reason: "\xff"}), "reason"},
		"known until a day":         {known(leaks.Toleration{Reason: "x", Until: new(noon)}), ""},
		"known until a build":       {known(leaks.Toleration{Reason: "x", UntilBuild: "7"}), ""},
		"known until both":          {known(leaks.Toleration{Reason: "x", Until: new(noon), UntilBuild: "7"}), "until"},
		"known until what is none":  {known(leaks.Toleration{Reason: "x", UntilBuild: "<b>"}), "until_build"},
		"known until a name of 128": {known(leaks.Toleration{Reason: "x", UntilBuild: strings.Repeat("7", 128)}), ""},
		"known until a name of 129": {known(leaks.Toleration{Reason: "x", UntilBuild: strings.Repeat("7", 129)}),
			"until_build"},
		"assigned":           {leaks.TriageChange{Actor: "ann", Assignee: new(strings.Repeat("x", leaks.MaxActorChars))}, ""},
		"assigned to nobody": {leaks.TriageChange{Actor: "ann", Assignee: new("")}, ""},
		"assigned to a name of 65": {leaks.TriageChange{Actor: "ann", Assignee: new(strings.Repeat("x", leaks.MaxActorChars+1))},
			"assignee"},
		"no ticket":                  {ticket(""), ""},
		"a ticket":                   {ticket("https://t.example/7?x#y"), ""},
		"a ticket without TLS":       {ticket("http://t/7"), ""},
		"a ticket that would run":    {ticket("javascript:alert(1)"), ""},
		"a ticket of another scheme": {ticket("ftp://t/7"), ""},
		"a ticket by its number":     {ticket("APP-12, see also APP-7"), ""},
		"a ticket of two lines":      {ticket("APP-12\nAPP-13"), "ticket"},
		"a ticket of 500":            {ticket("http://t/" + strings.Repeat("x", leaks.MaxTicketChars-9)), ""},
		"a ticket of 501":            {ticket("http://t/" + strings.Repeat("x", leaks.MaxTicketChars-8)), "ticket"},
	} {
		if got := fieldOf(t, test.change.Check()); got != test.field {
			t.Errorf("%s: complains about %q, want %q", name, got, test.field)
		}
	}
}

// Only addresses that browsers may follow are links; all else is text.
func TestIsTicketLink(t *testing.T) {
	for ticket, want := range map[string]bool{
		"https://t.example/7": true, "http://t/7": true, "HTTPS://t/7": true, "APP-12": false, "": false,
		"javascript:alert(1)": false, "javascript://t/%0aalert(1)": false, "data:text/html,x": false,
		"ftp://t/7": false, "//t/7": false, "https:///7": false, "http://[::1": false, "t/7": false,
	} {
		if got := leaks.IsTicketLink(ticket); got != want {
			t.Errorf("%q: %v", ticket, got)
		}
	}
}

// A day reads back as the day, an instant as the instant.
func TestUntilText(t *testing.T) {
	for _, text := range []string{"2026-12-31", "2024-02-29", "2026-12-31T12:00:00Z", "2026-12-31T23:59:59.5Z"} {
		k, err := leaks.ParseToleration("x", text, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := leaks.UntilText(k.Until.In(time.FixedZone("", 3600))); got != text {
			t.Errorf("%s reads back as %s", text, got)
		}
	}
}

func TestCheckComment(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		ok   bool
	}{
		"none": {"", false}, "one": {"x", true}, "of 10,000": {strings.Repeat("ä", leaks.MaxCommentChars), true},
		"of 10,001": {strings.Repeat("ä", leaks.MaxCommentChars+1), false}, "no text": {"a\x00", false},
	} {
		if got := fieldOf(t, leaks.CheckComment(test.text)); (got == "") != test.ok || got != "" && got != "text" {
			t.Errorf("%s: complains about %q", name, got)
		}
	}
}

func TestApply(t *testing.T) {
	was := leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "eve", Reason: "old", Until: new(noon),
		Assignee: "bob", Ticket: "https://t/1"}
	fixed := leaks.TriageDecision{Mark: leaks.MarkFixed, MarkedBy: "eve", FixedID: new(int64(3)), NotLeak: true}
	precise := noon.Add(1234567)
	for name, test := range map[string]struct {
		word   leaks.TriageDecision
		change leaks.TriageChange
		want   leaks.TriageDecision
	}{
		"nothing": {was, leaks.TriageChange{}, was},
		"whose": {was, leaks.TriageChange{Assignee: new(" ann "), Ticket: new("")},
			leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "eve", Reason: "old", Until: new(noon), Assignee: "ann"}},
		"known": {fixed, leaks.TriageChange{Known: &leaks.Toleration{Reason: " new "}},
			leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "new"}},
		"until build": {was, leaks.TriageChange{Known: &leaks.Toleration{Reason: "new", UntilBuild: "31"}},
			leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "new", UntilBuild: "31", Assignee: "bob",
				Ticket: "https://t/1"}},
		"in microseconds, as it is stored": {leaks.TriageDecision{},
			leaks.TriageChange{Known: &leaks.Toleration{Reason: "new", Until: &precise}},
			leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "ann", Reason: "new", Until: new(noon.Add(1234 * time.Microsecond))}},
		"fixed": {was, leaks.TriageChange{Fixed: new("early")},
			leaks.TriageDecision{Mark: leaks.MarkFixed, MarkedBy: "ann", FixedID: new(int64(2)), Assignee: "bob", Ticket: "https://t/1"}},
		"fixed by now": {leaks.TriageDecision{}, leaks.TriageChange{Fixed: new("")},
			leaks.TriageDecision{Mark: leaks.MarkFixed, MarkedBy: "ann", FixedID: new(int64(1))}},
		"reopened":        {was, leaks.TriageChange{Reopen: true}, leaks.TriageDecision{Assignee: "bob", Ticket: "https://t/1"}},
		"reopened, fixed": {fixed, leaks.TriageChange{Reopen: true}, leaks.TriageDecision{}},
		"not a leak": {was, leaks.TriageChange{NotLeak: new(true), Assignee: new("")},
			leaks.TriageDecision{Mark: leaks.MarkKnown, MarkedBy: "eve", Reason: "old", Until: new(noon), NotLeak: true,
				Ticket: "https://t/1"}},
		"not a leak, why": {leaks.TriageDecision{}, leaks.TriageChange{NotLeak: new(true), NotLeakWhy: " a pool "},
			leaks.TriageDecision{NotLeak: true, NotLeakWhy: "a pool"}},
		"a leak, and why not": {leaks.TriageDecision{NotLeak: true, NotLeakWhy: "a pool"},
			leaks.TriageChange{NotLeak: new(false), NotLeakWhy: "x"}, leaks.TriageDecision{}},
		"a leak again": {leaks.TriageDecision{NotLeak: true, NotLeakWhy: "a pool"}, leaks.TriageChange{Reopen: true}, leaks.TriageDecision{}},
		"a leak after all": {fixed, leaks.TriageChange{NotLeak: new(false)},
			leaks.TriageDecision{Mark: leaks.MarkFixed, MarkedBy: "eve", FixedID: new(int64(3))}},
	} {
		test.change.Actor = "ann"
		if got, err := test.change.Apply(test.word, calendar()); err != nil || !got.IsSame(&test.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
		}
	}
	if !precise.Equal(noon.Add(1234567)) {
		t.Error("what was asked for changed")
	}
	for build, calendar := range map[string]*leaks.BuildOrder{"77": calendar(), "": leaks.NewBuildOrder(nil)} {
		change := leaks.TriageChange{Actor: "ann", Fixed: &build}
		if _, err := change.Apply(leaks.TriageDecision{}, calendar); fieldOf(t, err) != "fixed" {
			t.Errorf("fixed in %q: %v", build, err)
		}
	}
}

func TestNotLeakWhyOf(t *testing.T) {
	for reason, want := range map[string]string{" a pool ": "", " ": "reason", "": "reason",
		strings.Repeat("x", leaks.MaxReasonChars): "", strings.Repeat("x", leaks.MaxReasonChars+1): "reason"} {
		got, err := leaks.ParseNotLeakWhy(reason)
		if fieldOf(t, err) != want || err == nil && got != strings.TrimSpace(reason) {
			t.Errorf("%.20q: %.20q, %v", reason, got, err)
		}
		change := leaks.TriageChange{Actor: "ann", NotLeak: new(true), NotLeakWhy: reason}
		if err := change.Check(); (err != nil) != (len(reason) > leaks.MaxReasonChars) { // programs need give no reason
			t.Errorf("%.20q: %v", reason, err)
		}
	}
}

func TestKnownOf(t *testing.T) {
	for _, test := range []struct {
		reason, until, build string
		want                 leaks.Toleration
		field                string // that is wrong; "" for none
	}{
		{" vendor ", "", "", leaks.Toleration{Reason: "vendor"}, ""},
		{"vendor", "", " 7 ", leaks.Toleration{Reason: "vendor", UntilBuild: "7"}, ""},
		{"vendor", "2026-12-31", "", leaks.Toleration{Reason: "vendor", Until: new(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))}, ""}, // the day still counts
		{"vendor", " 2026-07-01T14:00:00+02:00 ", "", leaks.Toleration{Reason: "vendor", Until: &noon}, ""},
		{"", "", "", leaks.Toleration{}, "reason"},
		{" ", "2026-12-31", "", leaks.Toleration{}, "reason"},
		{"vendor", "tomorrow", "", leaks.Toleration{}, "until"},
		{"vendor", "2026-02-30", "", leaks.Toleration{}, "until"},
		{"vendor", "2026-07-01T12:00", "", leaks.Toleration{}, "until"},
	} {
		got, err := leaks.ParseToleration(test.reason, test.until, test.build)
		if fieldOf(t, err) != test.field {
			t.Errorf("%+v: %v", test, err)
		}
		if err != nil {
			continue
		}
		if (got.Until == nil) != (test.want.Until == nil) || got.Until != nil && !got.Until.Equal(*test.want.Until) {
			t.Errorf("%q is until %v, want %v", test.until, got.Until, test.want.Until)
		}
		if got.Until = test.want.Until; *got != test.want {
			t.Errorf("%+v, want %+v", got, test.want)
		}
	}
}

func TestCheckActor(t *testing.T) {
	for name, want := range map[string]bool{
		"ann": true, "Ann Ä. <ann@example.com>": true, strings.Repeat("ä", leaks.MaxActorChars): true,
		"": false, leaks.ActorOutline: false, " ": false, strings.Repeat("ä", leaks.MaxActorChars+1): false, "a\tb": false,
		"a\nb": false, "a\x00": false, "\xff": false, "a\u202eb": false,
	} {
		if err := leaks.CheckActor(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The assignee of a leak and its ticket do not concern gates.
func TestMovesGates(t *testing.T) {
	for name, test := range map[string]struct {
		change leaks.TriageChange
		want   bool
	}{
		"nothing":      {leaks.TriageChange{}, false},
		"assign":       {leaks.TriageChange{Assignee: new("ada"), Ticket: new("7")}, false},
		"known":        {leaks.TriageChange{Known: &leaks.Toleration{Reason: "x"}}, true},
		"fixed":        {leaks.TriageChange{Fixed: new("")}, true},
		"open":         {leaks.TriageChange{Reopen: true}, true},
		"not a leak":   {leaks.TriageChange{NotLeak: new(true)}, true},
		"a leak again": {leaks.TriageChange{NotLeak: new(false), Assignee: new("ada")}, true},
	} {
		if got := test.change.MovesGates(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
