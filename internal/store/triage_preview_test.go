package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// effect prints what a change would do to the gates of builds.
func (l *lab) effect(signature string, c leaks.TriageChange) string {
	l.Helper()
	c.Actor = "ann"
	made := must[*leaks.Impact](l)(l.PreviewTriage(l.Context(), "demo", signature, c))
	var parts []string
	for i := range made.Builds {
		parts = append(parts, made.Builds[i].Text())
	}
	return strings.Join(parts, " ")
}

// The announced effect of a change is the effect that the change has, and announcing it changes nothing.
func TestEffectOfATriage(t *testing.T) {
	l := newLab(t)
	l.run("100", leaksReport(finding{signature: "A", class: stable}, finding{signature: "B", class: stable}))
	one := l.run("101", leaksReport(finding{signature: "A", class: leak, bytes: 500}))
	yes := true
	known := leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}}
	before := l.signature("A")
	for name, test := range map[string]struct {
		change leaks.TriageChange
		want   string
	}{
		"known": {known, "With this change, the gate of build 101 passes: every leak is known. It fails now: 1 leak."},
		"not a leak": {leaks.TriageChange{NotLeak: &yes, NotLeakWhy: "a pool"},
			"With this change, the gate of build 101 passes: every leak is known. It fails now: 1 leak."},
		"known until today": {leaks.TriageChange{Known: &leaks.Toleration{Reason: "x", UntilBuild: "101"}},
			"The gate of build 101 fails as before: 1 leak."},
		"known until later": {leaks.TriageChange{Known: &leaks.Toleration{Reason: "x", UntilBuild: "102"}},
			"With this change, the gate of build 101 passes: every leak is known. It fails now: 1 leak."},
		"fixed": {leaks.TriageChange{Fixed: new("101")},
			"The gate of build 101 fails as before: 1 leak."},
		"assigned": {leaks.TriageChange{Assignee: new("bob")},
			"The gate of build 101 fails as before: 1 leak."},
	} {
		if got := l.effect("A", test.change); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
	if after := l.signature("A"); after.Version != before.Version || after.State != before.State ||
		after.Known != nil || after.NotLeak {
		t.Errorf("a preview changed %+v to %+v", before.Triage, after.Triage)
	}
	if audit := must[[]store.AuditRow](t)(l.now().ListSignatureChanges(t.Context(), "demo", "A",
		store.AuditPage{Limit: 9})); len(audit) != 0 {
		t.Errorf("a preview was recorded: %+v", audit)
	}
	gate := func() leaks.Gate {
		run := must[store.Run](t)(l.now().FindRun(t.Context(), one))
		return must[leaks.RunVerdict](t)(l.now().FindVerdict(t.Context(), &run, store.GateQuestion{})).Gate
	}
	if got := gate(); got != leaks.GateFailed {
		t.Errorf("the gate says %s before", got)
	}
	l.change("A", leaks.TriageChange{Version: -1, Known: known.Known})
	if got := gate(); got != leaks.GatePassed {
		t.Errorf("the gate says %s after", got)
	}
	if got := l.effect("A",
		leaks.TriageChange{Reopen: true}); got != "With this change, the gate of build 101 fails: 1 leak. It passes now: every leak is known." {
		t.Error(got)
	}
}

// If the newest build does not show the leak, the effect on the gate of its last bad build is announced too.
func TestEffectOnAnOlderBuild(t *testing.T) {
	l := newLab(t)
	l.run("100/soak", leaksReport(finding{signature: "A", class: leak, bytes: 500}))
	l.run("100/smoke", leaksReport(finding{signature: "B", class: leak, bytes: 500}))
	l.run("101/soak", leaksReport(finding{signature: "C", class: stable}))
	got := l.effect("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}})
	if want := "The gate of build 101 passes as before: no site leaks. The gate of build 100 fails as before: 1 leak."; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestEffectThatCannotBeSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	l.run("100", leaksReport(finding{signature: "A", class: leak, bytes: 500}))
	var wrong *leaks.FieldError
	for name, change := range map[string]leaks.TriageChange{"no reason": {Actor: "ann", Known: &leaks.Toleration{}},
		"no such build": {Actor: "ann", Fixed: new("nosuch")}} {
		if _, err := l.PreviewTriage(t.Context(), "demo", "A", change); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.PreviewTriage(t.Context(), "demo", "nosuch", leaks.TriageChange{Actor: "ann", Reopen: true}); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("a signature that is not there: %v", err)
	}
	// A worker that stores a result holds the lock: a reader does not wait for the lock.
	l.sql(`begin`)
	l.sql(`select pg_advisory_xact_lock(x'53494753'::int, (id % 2147483647)::int) from projects`)
	begun := time.Now()
	if _, err := l.PreviewTriage(t.Context(), "demo", "A", leaks.TriageChange{Actor: "ann", Reopen: true}); !errors.Is(err,
		store.ErrInUse) || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	l.sql(`rollback`)
	// The preview itself holds the lock no longer than its time limit.
	if _, err := l.PreviewTriageWithin(t.Context(), "demo", "A", leaks.TriageChange{Actor: "ann", Reopen: true},
		0); !errors.Is(err, store.ErrInUse) {
		t.Errorf("%v in no time", err)
	}
	if got := l.effect("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "x"}}); !strings.Contains(got, "passes") {
		t.Errorf("afterwards %q", got)
	}
}
