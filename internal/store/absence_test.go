package store_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// serve are the callers of the leak in the tests below: the handler of a request, and functions that all handlers
// share.
var serve = []string{"app!Serve", "app!Loop", "app!main"}

// leaking reports a leak A of a handler, fixed only other memory of the handler, idle neither.
func leaking() *analysis.Report {
	return leaksReport(finding{signature: "A", class: leak, bytes: 7, callers: serve},
		finding{signature: "B", class: stable, callers: serve})
}
func fixed() *analysis.Report {
	return leaksReport(finding{signature: "B", class: stable, callers: serve},
		finding{signature: "C", class: stable, callers: serve})
}
func idle() *analysis.Report {
	return leaksReport(finding{signature: "D", class: stable, callers: []string{"app!Tick", "app!Loop", "app!main"}})
}

// changeOf is what the comparison of two builds says of A, and why.
func (l *lab) changeOf(base, head string) (compare.Change, string) {
	l.Helper()
	compared, err := l.now().Compare(l.Context(),
		leaks.ComparisonQuery{Project: "demo", Scenario: leaks.DefaultScenario, Base: base, Head: head})
	if err != nil {
		l.Fatal(err)
	}
	for _, r := range compared.Rows {
		if r.HeadOrBase().Signature == "A" {
			return r.Change, r.Why
		}
	}
	return "", ""
}

// The evidence of a fixed build shows no block of the leak. The leak is fixed if its callers ran, and the state, the
// comparison and the history agree.
func TestFixedLeakLeavesNoBlock(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	l.run("1", leaking())
	l.run("2", idle())
	if got := l.signature("A").State; got != leaks.StateFound {
		t.Errorf("where nothing of it ran: %s", got)
	}
	if change, _ := l.changeOf("1", "2"); change != compare.ChangeNotExercised {
		t.Errorf("where nothing of it ran: %s", change)
	}
	l.run("3", fixed())
	if got, want := state(l.signature("A")), "fixed bad 1..1 clean  seen 1 fixed 3 regressed "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const why = "gone in build 3, where its caller app!Serve ran (in 2 other stacks)"
	if change, got := l.changeOf("1", "3"); change != compare.ChangeFixed || got != why {
		t.Errorf("%s: %s", change, got)
	}
	h := must[*store.History](t)(l.now().FindHistory(t.Context(), "demo", "A"))
	if o := h.Outcomes; len(o) != 3 || !o[0].IsBad() || o[1].IsClean() || o[1].IsAbsent() || !o[2].IsClean() ||
		!o[2].IsAbsent() || o[2].Exercised || o[2].Absent.Text("3") != why {
		t.Errorf("%+v", o)
	}
	strip := l.list(store.SignatureQuery{Strip: 9}).Rows[0].Strip
	if len(strip) != 3 || strip[1].IsClean() || !strip[2].IsAbsent() {
		t.Errorf("%+v", strip)
	}
	// The run is analysed again, and now shows the leak.
	l.run("3", leaking())
	if got, want := state(l.signature("A")), "found bad 1..3 clean  seen 3 fixed  regressed "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	l.run("3", fixed())
	l.run("4", leaking())
	if got, want := state(l.signature("A")), "regressed bad 1..4 clean  seen 4 fixed 3 regressed 4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An older build that arrives later moves the fix to itself; a new analysis of a build moves it back.
func TestAbsenceInAnOlderBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	l := newLab(t)
	l.run("1", leaking())
	for _, step := range []struct {
		build  string
		report *analysis.Report
		fixed  string
	}{{"4", fixed(), "4"}, {"5", fixed(), "4"}, {"3", fixed(), "3"}, {"3", idle(), "4"},
		{"4", leaking(), "5"}, {"4", fixed(), "4"}} {
		l.run(step.build, step.report)
		if s := l.signature("A"); s.State != leaks.StateFixed || s.FixedIn != step.fixed {
			t.Errorf("after build %s: %s, fixed in %q, want %q", step.build, s.State, s.FixedIn, step.fixed)
		}
	}
}

// A run whose silence about a leak proves nothing leaves the leak's state unchanged.
func TestAbsenceThatProvesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	lossy := fixed()
	lossy.Warnings = []analysis.Warning{{Code: capture.Truncated}}
	short := fixed()
	short.Verdict.SnapshotsMissing = 3
	root := leaksReport(finding{signature: "B", class: stable, callers: []string{"app!Loop", "app!main"}})
	undecided := fixed()
	undecided.Findings = append(undecided.Findings,
		leaksReport(finding{signature: "A", class: analysis.ClassUnknown, callers: serve}).Findings...)
	for name, report := range map[string]*analysis.Report{"losses": lossy, "too few snapshots": short,
		"only what all have in common ran": root, "it is there, and nobody can tell": undecided} {
		l := newLab(t)
		l.run("1", leaking())
		l.run("2", report)
		if got := l.signature("A").State; got != leaks.StateFound {
			t.Errorf("%s: %s", name, got)
		}
		if change, why := l.changeOf("1", "2"); change != compare.ChangeNotExercised {
			t.Errorf("%s: %s, %s", name, change, why)
		}
	}
}

// What an older build does not show tells nothing of a leak that begins behind it: history and comparison agree.
func TestAbsenceBeforeTheFirstBadBuild(t *testing.T) {
	l := newLab(t)
	l.run("1", fixed())
	l.run("2", leaking())
	l.run("3", leaking())
	h := must[*store.History](t)(l.now().FindHistory(t.Context(), "demo", "A"))
	if o := h.Outcomes[0]; o.IsAbsent() || o.IsClean() {
		t.Errorf("%+v", o)
	}
	const want = "not in the evidence of build 1; only builds after 2, which leaked first, can show a fix"
	if change, why := l.changeOf("3", "1"); change != compare.ChangeNotExercised || why != want {
		t.Errorf("%s: %s, want %s", change, why, want)
	}
}

// If another run of the build shows the leak, the leak is there.
func TestAbsenceBesideTheLeak(t *testing.T) {
	l := newLab(t)
	l.run("1", leaking())
	l.run("2//1", fixed())
	l.run("2//2", leaking())
	if got := state(l.signature("A")); got != "found bad 1..2 clean  seen 2 fixed  regressed " {
		t.Error(got)
	}
}

// Absences count before the first bad build and behind it, whatever the order of uploads and the places that builds
// turn out to have.
func TestAbsencesInAnyOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	builds := map[string]func() *analysis.Report{"b8": fixed, "b9": leaking, "b10": idle, "b11": fixed}
	shared := newLab(t)
	permutations([]string{"b8", "b9", "b10", "b11"}, func(order []string) {
		l := shared.emptied(t)
		for _, build := range order {
			l.run(build, builds[build]())
		}
		if got, want := state(l.signature("A")), "fixed bad b9..b9 clean b8 seen b9 fixed b11 regressed "; got != want {
			t.Errorf("uploaded as %v: %s, want %s", order, got, want)
		}
		h := must[*store.History](t)(l.now().FindHistory(t.Context(), "demo", "A"))
		var absent []string
		for _, o := range h.Outcomes {
			absent = append(absent, fmt.Sprint(o.IsAbsent()))
		}
		if got := strings.Join(absent, " "); got != "false false false true" {
			t.Errorf("uploaded as %v: absent %s", order, got)
		}
	})
	// The build before it is declared to be the newest.
	l := newLab(t)
	l.run("b8", fixed())
	l.run("b9", leaking())
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "b8", Sequence: new(int64(1))}, "a.txt")
	if got := state(l.signature("A")); got != "fixed bad b9..b9 clean  seen b9 fixed b8 regressed " {
		t.Error(got)
	}
}
