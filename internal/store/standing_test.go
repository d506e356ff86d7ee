package store_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

func TestStanding(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for name, test := range map[string]struct {
		runs func(l *lab)
		want string
	}{
		"what grows is no leak": {func(l *lab) {
			l.run("1/soak", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: grows},
				finding{signature: "C", class: grows}, finding{signature: "D", class: cache}))
		}, "1 leak is from the first build, none is new; 2 sites grow."},
		"what leaked is a leak until it is fixed": {func(l *lab) {
			l.run("1/soak", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}))
			l.run("2/soak", leaksReport(finding{signature: "A", class: grows}, finding{signature: "B", class: stable}))
		}, "1 leak is from the first build, none is new."},
		"an older build shows a new leak": {func(l *lab) {
			l.run("1/etl", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: grows}))
			l.run("2/soak", leaksReport(finding{signature: "C", class: leak}))
		}, "1 leak is from the first build, 1 was not retested, none is new; 1 site grows."},
		"a leak of an older build that a trace shows clean": {func(l *lab) { // the soak has not decided since
			l.run("b100/soak", leaksReport(finding{signature: "A", class: stable}))
			l.run("b101/soak", leaksReport(finding{signature: "A", class: leak}))
			l.run("b102/trace", leaksReport(finding{signature: "A", class: analysis.ClassOneTime}))
			l.run("b103/trace", leaksReport(finding{signature: "A", class: analysis.ClassOneTime}, finding{signature: "B", class: grows}))
		}, "1 leak may be fixed, none is new; 1 site grows."},
		"a leak that stays": {func(l *lab) {
			l.run("b100/soak", leaksReport(finding{signature: "A", class: stable}))
			l.run("b101/soak", leaksReport(finding{signature: "A", class: leak}))
			l.run("b102/soak", leaksReport(finding{signature: "A", class: leak}))
		}, "1 leak is open since an older build, none is new."},
		"what is lost together is one leak": {func(l *lab) {
			l.run("1/soak", withCause(leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}), "lost", "A", "B"))
			l.run("2/soak", withCause(leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak},
				finding{signature: "C", class: leak}), "lost", "A", "B"))
		}, "1 leak is new, 1 is from the first build; 3 stacks in total."},
		"what is known is not open": {func(l *lab) {
			l.run("1/soak", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: grows}))
			l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "x"}})
			l.change("B", leaks.TriageChange{Known: &leaks.Toleration{Reason: "x"}})
		}, "No leak is open."},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			test.runs(l)
			standing, err := l.now().CountOpenLeaks(t.Context(), "demo")
			if err != nil || standing.String() != test.want {
				t.Errorf("%q, %v, want %q", standing, err, test.want)
			}
		})
	}
}

// Whether a new leak is of an older build counts from the newest build that has a result, in this project.
func TestStandingOfTheNewestResult(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: stable}))
	l.run("2", leaksReport(finding{signature: "A", class: leak}))
	older := func() int {
		t.Helper()
		return must[leaks.OpenLeakCounts](t)(l.now().CountOpenLeaks(t.Context(), "demo")).Standings[leaks.StandingNotRetested]
	}
	if n := older(); n != 0 {
		t.Errorf("%d new leaks are of older builds than the newest", n)
	}
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "3"}, "a.txt")
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "other", Build: "4"}, "a.txt")
	l.sql(`update runs set analysed_at = now() from builds b where b.id = build_id and b.name = '4'`)
	if n := older(); n != 0 {
		t.Errorf("a build without a result makes %d new leaks older", n)
	}
	l.sql(`update runs set analysed_at = now()`)
	if n := older(); n != 1 {
		t.Errorf("%d new leaks are older than build 3, which has a result", n)
	}
}

// A project counts its own signatures that ever leaked or grew, and those that were merged once.
func TestStandingCountsOnce(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak},
		finding{signature: "C", class: stable}))
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "other", Build: "1"}, "a.txt")
	l.sql(`insert into signatures (id, root_id, kind, project_id, text, title, bad, worst, state) overriding system value select 999, 999, 'heap', p.id, 'X', 'X', true, s.worst, s.state from projects p, signatures s where p.name = 'other' and s.text = 'A'`)
	count := func() (n int) {
		t.Helper()
		standing := must[leaks.OpenLeakCounts](t)(l.now().CountOpenLeaks(t.Context(), "demo"))
		for _, k := range standing.Leaks {
			n += k
		}
		return n + standing.OnlyGrowing
	}
	if n := count(); n != 2 {
		t.Errorf("%d count, want A and B", n)
	}
	l.sql(`update signatures set alias_of = a.id from signatures a where a.text = 'A' and signatures.text = 'B'`)
	if n := count(); n != 1 {
		t.Errorf("%d count once B is a name of A", n)
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
