package store_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestTriage(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}))
	l.run("2", leaksReport(finding{signature: "A", class: leak}))

	known := l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: " the vendor knows "}})
	if known.State != leaks.StateKnown || known.Known.Reason != "the vendor knows" || known.Version != 1 {
		t.Errorf("%+v", known)
	}
	past := time.Now().Add(-time.Hour)
	if got := l.change("A",
		leaks.TriageChange{Version: 1, Known: &leaks.Toleration{Reason: "x", Until: &past}}); got.State != leaks.StateOngoing ||
		!got.Known.Expired {
		t.Errorf("known until an hour ago: %+v", got)
	}
	if got := l.change("A",
		leaks.TriageChange{Version: 2, Known: &leaks.Toleration{Reason: "x", UntilBuild: "3"}}); got.State != leaks.StateKnown {
		t.Errorf("known until a build to come: %+v", got)
	}
	l.run("4", leaksReport(finding{signature: "A", class: leak}))
	if got := l.signature("A"); got.State != leaks.StateOngoing || !got.Known.Expired {
		t.Errorf("known until 3, and 4 leaks: %+v", got)
	}
	latest := ""
	if got := l.change("A", leaks.TriageChange{Version: 3, Fixed: &latest}); got.State != leaks.StateFixed ||
		got.FixedBy != "ann" || l.signature("A").FixedIn != "4" {
		t.Errorf("%+v", got)
	}
	l.run("5", leaksReport(finding{signature: "A", class: leak}))
	if got := l.signature("A"); got.State != leaks.StateRegressed || got.RegressedIn != "5" {
		t.Errorf("%+v", got)
	}
	if got := l.change("A", leaks.TriageChange{Version: 4, Reopen: true}); got.State != leaks.StateFound {
		t.Errorf("%+v", got)
	}
	yes, no := true, false
	if got := l.change("A", leaks.TriageChange{Version: 5, NotLeak: &yes}); got.State != leaks.StateKnown || !got.NotLeak {
		t.Errorf("%+v", got)
	}
	if got := l.change("A", leaks.TriageChange{Version: 6, NotLeak: &no}); got.State != leaks.StateFound {
		t.Errorf("%+v", got)
	}
	same := l.change("A", leaks.TriageChange{Version: 7, NotLeak: &no})
	if same.Version != 7 {
		t.Errorf("what changes nothing made version %d", same.Version)
	}
	audit := must[[]store.AuditRow](t)(l.now().ListSignatureChanges(t.Context(), "demo", "A", store.AuditPage{Limit: 100}))
	actions := map[string]int{}
	for _, row := range audit {
		actions[row.Action]++
		if row.Action == "triage" &&
			(row.Actor != "ann" || !json.Valid(row.Before) || row.Signature != "A" || row.At.IsZero()) {
			t.Errorf("%+v", row)
		}
	}
	if actions["triage"] != 7 || actions["state"] == 0 {
		t.Errorf("%v", actions)
	}
}

func TestTriageRefusals(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}))
	text := func(s string) *string { return &s }
	soon := time.Now()
	for field, change := range map[string]leaks.TriageChange{
		"actor":       {Assignee: text("x")},
		"ticket":      {Actor: "a", Ticket: text("APP-12\nAPP-13")},
		"reason":      {Actor: "a", Known: &leaks.Toleration{}},
		"until":       {Actor: "a", Known: &leaks.Toleration{Reason: "x", Until: &soon, UntilBuild: "5"}},
		"until_build": {Actor: "a", Known: &leaks.Toleration{Reason: "x", UntilBuild: "<b>"}},
		"fixed":       {Actor: "a", Fixed: text("77")},
		"assignee":    {Actor: "a", Assignee: text(strings.Repeat("x", 65))},
		"state":       {Actor: "a", Reopen: true, Fixed: text("1")},
	} {
		_, err := l.UpdateTriage(t.Context(), "demo", "A", change)
		var wrong *leaks.FieldError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, ticket := range []string{"a\x00b", "\xff", "a\rb"} {
		if _, err := l.UpdateTriage(t.Context(), "demo", "A", leaks.TriageChange{Actor: "a", Ticket: &ticket}); err == nil {
			t.Errorf("%q was taken", ticket)
		}
	}
	if _, err := l.UpdateTriage(t.Context(), "demo", "Z", leaks.TriageChange{Actor: "a", Reopen: true}); !errors.Is(err,
		store.ErrNotFound) {
		t.Error(err)
	}
	if _, err := l.UpdateTriage(t.Context(), "other", "A", leaks.TriageChange{Actor: "a", Reopen: true}); !errors.Is(err,
		store.ErrNotFound) {
		t.Error(err)
	}
	for _, bad := range []string{"", " \n", strings.Repeat("x", 10_001), "a\x00"} {
		if _, err := l.CreateComment(t.Context(), "demo", "A", "ann", bad); err == nil {
			t.Errorf("a comment of %d bytes was taken", len(bad))
		}
	}
}

// Of several people who change the same version, one succeeds.
func TestTriageConflicts(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}))
	const people = 6
	errs := make([]error, people)
	var wait sync.WaitGroup
	for i := range people {
		wait.Go(func() {
			who := string(rune('a' + i))
			_, errs[i] = l.UpdateTriage(t.Context(), "demo", "A", leaks.TriageChange{Actor: who, Assignee: &who})
		})
	}
	wait.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	}
	if done != 1 || l.signature("A").Version != 1 {
		t.Errorf("%d succeeded, version %d", done, l.signature("A").Version)
	}
}

func TestOwnersAndKnownLeaksOfTheRules(t *testing.T) {
	l := newLab(t)
	l.run("2", leaksReport(finding{signature: "A", class: leak, owner: "team-ui", known: "by design"}))
	s := l.signature("A")
	if s.State != leaks.StateKnown || !s.Known.Rule || s.Known.Reason != "by design" || s.Owner != "team-ui" {
		t.Errorf("%+v", s)
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "while it lasted", Until: &yesterday}})
	if s := l.signature("A"); s.State != leaks.StateKnown || !s.Known.Rule || s.Known.Expired {
		t.Errorf("known by a rule, and by the team until yesterday: %+v", s.Known)
	}
	l.change("A", leaks.TriageChange{Version: -1, Reopen: true})
	l.run("1", leaksReport(finding{signature: "A", class: leak, owner: "an old opinion"})) // of an older build
	if s := l.signature("A"); s.Owner != "team-ui" || s.State != leaks.StateKnown {
		t.Errorf("%+v", s)
	}
	l.run("2", leaksReport(finding{signature: "A", class: leak}))
	if s := l.signature("A"); s.Owner != "" || s.State != leaks.StateFound || s.Known != nil {
		t.Errorf("%+v", s)
	}
}
