package store_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// An analysis that a newer one has overtaken changes nothing when it ends, and the gate decides then.
func TestOvertakenAnalysisEndsLast(t *testing.T) {
	for _, end := range []string{"dropped", "failed"} {
		l := newLab(t)
		run := l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}))
		name(t, l.Store, look(t, l.Store, run), "n1")
		slow, old := claim(t, l.Store), input(t, l.Store, run).Revision
		name(t, l.Store, look(t, l.Store, run), "n2")
		fast, now := claim(t, l.Store), input(t, l.Store, run).Revision
		l.sql(`delete from decisions`)
		save(t, l.Store, fast, leaksReport(finding{signature: "A", class: leak, bytes: 8}), "new", now)
		if end == "dropped" {
			save(t, l.Store, slow, leaksReport(finding{signature: "A", class: leak, bytes: 9}), "old", old)
		} else if err := l.FailJob(t.Context(), slow, store.Failure{Code: "internal", Message: "boom", Final: true}); err != nil {
			t.Fatal(err)
		}
		d := must[[]store.StoredDecision](t)(l.now().ListDecisions(t.Context(), run))
		r := must[store.Run](t)(l.now().FindRun(t.Context(), run))
		v := must[leaks.RunVerdict](t)(l.now().FindVerdict(t.Context(), &r, store.GateQuestion{}))
		if len(d) != 1 || v.Gate == leaks.GateError {
			t.Errorf("%s: %d decisions, gate %s", end, len(d), v.Gate)
		}
	}
}

// A newer build on another branch that leaks is no clean evidence.
func TestCleanSinceOnItsBranch(t *testing.T) {
	l := newLab(t)
	l.runOn("b1 main", shows(stable))
	l.runOn("b2 main", shows(leak))
	l.runOn("b3 main", leaksReport(finding{signature: "Z", class: stable}))
	l.runOn("b4 feature", shows(leak))
	c := must[leaks.OpenLeakCounts](t)(l.now().CountOpenLeaks(t.Context(), "demo"))
	if c.Standings[leaks.StandingMayBeFixed] != 0 {
		t.Errorf("no build since b2 shows it clean, and b4 leaks: %s", c.String())
	}
}

// A leak at exit in two scenarios, of which a newer list clears one.
func TestCleanSinceOfLeaksAtExit(t *testing.T) {
	for what, r := range map[string]func(...string) *analysis.Report{
		"at exit": func(list ...string) *analysis.Report { return listOf("vld", []string{"T"}, list...) },
		"held": func(list ...string) *analysis.Report {
			f := []finding{{signature: "B", class: leak, callers: serve}}
			c := stable
			if len(list) > 1 {
				c = leak
			}
			return leaksReport(append(f, finding{signature: "A", class: c, callers: serve})...)
		}} {
		l := newLab(t)
		l.run("1/x", r("A", "B"))
		l.run("1/y", r("A", "B"))
		l.run("2/x", r("B"))
		c := must[leaks.OpenLeakCounts](t)(l.now().CountOpenLeaks(t.Context(), "demo"))
		if c.Standings[leaks.StandingMayBeFixed] != 1 {
			t.Errorf("%s: build 2 is clean in x: %s", what, c.String())
		}
	}
}

// Fixed leaks of an old run are not open, and what only grew is no leak.
func TestRunLeaksAreThoseOpen(t *testing.T) {
	l := newLab(t)
	old := l.run("1/x", leaksReport(finding{signature: "A", class: leak, callers: serve}, finding{signature: "K", class: leak, callers: serve}, finding{signature: "G", class: grows, callers: serve}))
	l.run("2/x", leaksReport(finding{signature: "A", class: stable, callers: serve}, finding{signature: "K", class: leak, callers: serve}, finding{signature: "G", class: stable, callers: serve}))
	l.change("K", leaks.TriageChange{Known: &leaks.Toleration{Reason: "x"}})
	counts := must[map[int64]leaks.RunLeaks](t)(l.now().CountRunLeaks(t.Context(), []int64{old}))
	if counts[old].Open != 0 {
		t.Errorf("A and G are fixed, K is known: %s", counts[old].String())
	}
}
