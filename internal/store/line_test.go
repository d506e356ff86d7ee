package store_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// runOn is a run of a build on a branch, made of a commit: "b3 release c3"; "b3/default/2" is its run 2. Its report has
// so many hours, and of each finding the blocks that stayed.
func (l *lab) runOn(where string, r *analysis.Report) {
	l.Helper()
	words := append(strings.Fields(where), "", "")
	place := append(strings.Split(words[0], "/"), "", "")
	target := leaks.UploadTarget{Project: "demo", Build: place[0], Scenario: "default", Run: place[2], Branch: words[1], Commit: words[2]}
	if len(words) > 5 {
		target.Ancestors = strings.Split(words[3], ",")
	}
	if target.Commit != "" && len(target.Commit) < 7 {
		target.Commit += "000000"
	}
	addEvidence(l, l.Store, target, "a.txt")
	r.PartLengths = &score.PartLengths{Unit: "hour", Over: [score.RunParts]float64{1, 1, 1, 1}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Verdict == analysis.ClassLeak {
			f.Stayed, f.Rate = score.StayedBlocks{50, 50, 50, 50}, &score.Rate{Unit: "hour", Count: 50, Bytes: 5 * float64(f.Outstanding.Bytes), Over: 4, Dispersion: 1}
			f.Evidence = &score.Evidence{Kind: score.KindFollowed, Snapshots: 12, Conditions: []float64{1}, LogOdds: 3}
		}
	}
	l.run(words[0], r)
}

// shows is a report in which A has a class and B is stable; of no class it shows B alone.
func shows(class analysis.Class) *analysis.Report {
	list := []finding{{signature: "B", class: stable, callers: serve}, {signature: "C", class: stable, callers: serve}}
	if class != "" {
		list = append(list, finding{signature: "A", class: class, callers: serve})
	}
	return leaksReport(list...)
}

// linesOf are the lines of A: "main new 1..2, release fixed".
func (l *lab) linesOf() string {
	l.Helper()
	h := must[*store.History](l)(l.now().FindHistory(l.Context(), "demo", "A"))
	var parts []string
	for _, line := range h.Lines {
		text := fmt.Sprintf("%s %s %s..%s", line.Branch, line.State, line.After, line.Since)
		if line.FailedIn != "" {
			text += " told " + line.FailedIn
		}
		if line.FixedIn != "" {
			text += " fixed " + line.FixedIn
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// A branch says nothing of another one, but for what was there where it left.
func TestBranchesHaveLinesOfTheirOwn(t *testing.T) {
	for name, test := range map[string]struct {
		runs []string // "BUILD BRANCH: class of A"
		want string
	}{
		"a clean release does not fix main": {[]string{"b1 main: stable", "b2 release: stable", "b3 main: leak", "b4 release: stable"},
			"main new b1..b3"},
		"callers that ran on the release do not fix main": {[]string{"b1 main: stable", "b2 release:", "b3 main: leak", "b4 release:"},
			"main new b1..b3"},
		"a clean main does not fix the release": {[]string{"b1 main: stable", "b2 release: leak", "b3 main: stable", "b4 main: stable"},
			"release new b1..b2"},
		"what was there at the fork is fixed where it was run": {[]string{"b1 main: stable", "b2 main: leak", "b3 release: leak",
			"b4 main: leak", "b5 release: stable"}, "main new b1..b2, release fixed b1..b2 fixed b5"},
		"a pull request leaves no trace on main": {[]string{"b1 main: stable", "b2 pull/7: leak", "b3 main: stable", "b4 main: leak"},
			"main new b3..b4, pull/7 new b1..b2"},
		"no branch is the default": {[]string{"b1 main: stable", "b2 : leak", "b3 main: stable"}, "main fixed b1..b2 fixed b3"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			for _, run := range test.runs {
				where, class, _ := strings.Cut(run, ":")
				l.runOn(where, shows(analysis.Class(strings.TrimSpace(class))))
			}
			if got := l.linesOf(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// The fork is found by commits where a push sends them.
func TestForkByCommits(t *testing.T) {
	l := newLab(t)
	l.runOn("b1 main c1", shows(stable))
	l.runOn("b2 main c2", shows(leak))
	l.runOn("b3 x c9 c9000000,c1000000", shows(leak))
	if got := l.linesOf(); got != "main new b1..b2, x new b1..b3" {
		t.Error(got)
	}
	if got := must[string](t)(l.now().FindBaselineOfBuild(t.Context(), "demo", "default", "b3")); got != "b1" {
		t.Errorf("compared with %s", got)
	}
}

// ask asks a gate as a CI job does.
func (l *lab) ask(build string) *leaks.Decision {
	l.Helper()
	v := l.gateOf(build, leaks.FailOnNew)
	question := store.GateQuestion{FailOn: []leaks.FailOn{leaks.FailOnNew}}
	if err := l.CreateDecision(l.Context(), l.runs[build], question, v.Decision); err != nil {
		l.Fatal(err)
	}
	return v.Decision
}

// A new leak fails builds until somebody has taken it, and again when it comes back.
func TestToldUntilOwned(t *testing.T) {
	l := newLab(t)
	expect := func(build string, class analysis.Class, gate leaks.Gate, why, lines string) {
		t.Helper()
		l.runOn(build+" main", shows(class))
		if d := l.ask(build); d.Gate != gate || d.Why != why {
			t.Errorf("build %s: %s because %q, want %s because %q", build, d.Gate, d.Why, gate, why)
		}
		if got := l.linesOf(); got != lines {
			t.Errorf("build %s: %s, want %s", build, got, lines)
		}
	}
	l.runOn("b1 main", shows(stable))
	l.runOn("b2 main", shows(stable))
	expect("b3", leak, leaks.GateFailed, "1 new leak", "main ongoing b2..b3 told b3")
	expect("b4", leak, leaks.GateFailed, "1 new leak", "main ongoing b2..b3 told b3")
	l.change("A", leaks.TriageChange{Version: -1, Assignee: new("ann")})
	expect("b5", leak, leaks.GatePassed, "no leak is new; 1 reported before", "main ongoing b2..b3 told b3")
	expect("b6", stable, leaks.GatePassed, "no site leaks", "main fixed b2..b3 told b3 fixed b6")
	expect("b7", leak, leaks.GateFailed, "1 new leak", "main regressed b6..b7 told b7 fixed b6")
	expect("b7/default/2", leak, leaks.GatePassed, "no leak is new; 1 with an owner", "main regressed b6..b7 told b7 fixed b6")
	if d := l.ask("b7"); d.Gate != leaks.GateFailed {
		t.Errorf("the run of b7 that failed: %s because %q", d.Gate, d.Why)
	}
	l.change("A", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "vendor"}})
	expect("b8", leak, leaks.GatePassed, "every leak is known", "main known b6..b7 told b7 fixed b6")
	if n := l.text(`select count(*) from failures`); n != "3" { // of b3, b4 and the first run of b7
		t.Errorf("%s failures are stored", n)
	}
}

// What the first build of a scenario shows is accepted, and later builds pass either way.
func TestFirstBuildOfAScenario(t *testing.T) {
	l := newLab(t)
	l.runOn("b1 main", shows(leak))
	if d := l.ask("b1"); d.Gate != leaks.GateInconclusive || d.Reasons[0].Code != leaks.ReasonFirst {
		t.Errorf("%s because %q", d.Gate, d.Why)
	}
	l.runOn("b2 main", shows(leak))
	if d := l.ask("b2"); d.Gate != leaks.GatePassed || d.Why != "no leak is new; 1 from the first build" {
		t.Errorf("%s because %q", d.Gate, d.Why)
	}
	if got := l.linesOf(); got != "main found ..b1" {
		t.Error(got)
	}
}

// A function that gets another name keeps its leak, and what the team says of it; a person may take them apart.
func TestRenamedFunctionKeepsItsLeak(t *testing.T) {
	l := newLab(t)
	named := func(name string) *analysis.Report {
		return leaksReport(finding{signature: name, class: leak, bytes: 500, callers: serve},
			finding{signature: "B", class: stable, callers: []string{"app!Other", "app!main"}})
	}
	l.runOn("b1 main", shows(stable))
	l.runOn("b2 main", named("A"))
	l.ask("b2")
	l.change("A", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "vendor"}})
	l.runOn("b3 main", named("A2"))
	if s := l.signature("A2"); s.Text != "A" || s.State != leaks.StateKnown {
		t.Errorf("%s is %s", s.Text, s.State)
	}
	if d := l.ask("b3"); d.Gate != leaks.GatePassed {
		t.Errorf("%s because %q", d.Gate, d.Why)
	}
	if err := l.MergeSignature(t.Context(), "demo", "A2", "", "ann"); err != nil {
		t.Fatal(err)
	}
	l.run("b3", named("A2")) // analysed again
	if s := l.signature("A2"); s.Text != "A2" {
		t.Errorf("what a person took apart is %s again", s.Text)
	}
}

// A new name is found where the build before shows neither, and when the leak is certain only later.
func TestRenamedFunctionIsFoundLater(t *testing.T) {
	named := func(name string, class analysis.Class) *analysis.Report {
		return leaksReport(finding{signature: name, class: class, bytes: 500, callers: serve},
			finding{signature: "B", class: stable, callers: []string{"app!Other", "app!main"}})
	}
	neither := func() *analysis.Report {
		return leaksReport(finding{signature: "B", class: stable, callers: []string{"app!Other", "app!main"}})
	}
	for name, test := range map[string]struct {
		later []*analysis.Report // of builds b3, b4 …
		want  string             // what A2 is part of
	}{
		"the build before ran neither":             {[]*analysis.Report{neither(), named("A2", leak)}, "A"},
		"it was not certain at first":              {[]*analysis.Report{named("A2", stable), named("A2", leak)}, "A"},
		"the callers ran and neither was there":    {[]*analysis.Report{shows(""), named("A2", leak)}, "A2"},
		"the old name is back later":               {[]*analysis.Report{shows(leak), named("A2", leak), named("A", leak)}, "A"},
		"the new name is older than the last leak": {[]*analysis.Report{named("A2", stable), named("A", leak), named("A2", leak)}, "A2"},
		"a run shows both afterwards": {[]*analysis.Report{named("A2", leak), leaksReport(
			finding{signature: "A", class: leak, callers: serve}, finding{signature: "A2", class: leak, callers: serve})}, "A2"},
	} {
		l := newLab(t)
		l.runOn("b1 main", shows(stable))
		l.runOn("b2 main", named("A", leak))
		for i, r := range test.later {
			l.runOn(fmt.Sprintf("b%d main", i+3), r)
		}
		if got := l.signature("A2").Text; got != test.want {
			t.Errorf("%s: A2 is %s, want %s", name, got, test.want)
		}
	}
}

// A leak that is like one that is gone, and not as like as a new name makes it, fails as a new one and says so.
func TestLeakThatMayBeRenamed(t *testing.T) {
	l := newLab(t)
	named := func(name string, bytes int64) *analysis.Report {
		return leaksReport(finding{signature: name, class: leak, bytes: bytes, callers: serve},
			finding{signature: "B", class: stable, callers: []string{"app!Other", "app!main"}})
	}
	l.runOn("b1 main", shows(stable))
	l.runOn("b2 main", named("A", 500))
	l.change("A", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "vendor"}})
	l.runOn("b3 main", named("A2", 50000))
	d := l.ask("b3")
	want := "app!FA2 leaks: appeared between builds b2 and b3; it may be app!FA, which is gone, under a new name: merge them if so"
	if d.Gate != leaks.GateFailed || d.Reasons[0].Sentence != want {
		t.Errorf("%s: %q, want %q", d.Gate, d.Reasons[0].Sentence, want)
	}
}

// A name that another scenario had before is no new name of a function.
func TestNameThatWasThereBeforeIsNoRename(t *testing.T) {
	named := func(name string) *analysis.Report {
		return leaksReport(finding{signature: name, class: leak, bytes: 500, callers: serve},
			finding{signature: "B", class: stable, callers: []string{"app!Other", "app!main"}})
	}
	for _, before := range []bool{false, true} {
		l := newLab(t)
		if before {
			l.run("1/smoke", named("A2"))
		}
		l.run("2/soak", shows(stable))
		l.run("3/soak", named("A"))
		l.run("4/soak", named("A2"))
		if got := l.signature("A2").Text; (got == "A2") != before {
			t.Errorf("%t before: A2 is %s", before, got)
		}
	}
}

// A build whose dated run is deleted goes to where what is left puts it.
func TestDeletedRunMovesTheBuild(t *testing.T) {
	l := newLab(t)
	for _, u := range []upload{{build: "nightly", taken: on(3), class: stable}, {build: "rc", taken: on(1), class: stable},
		{build: "b1", taken: on(2), class: stable}} {
		l.upload(u)
	}
	if got := l.order(); got != "rc b1 nightly" {
		t.Fatal(got)
	}
	e := addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "rc", Run: "2"}, "b.txt")
	c := snapshot(1, 0)
	c.Snapshots[0].TakenAt = on(9)
	if err := l.CreateCaptures(t.Context(), claim(t, l.Store), []store.StoredCapture{{Capture: c, ArtifactKey: "art", Bytes: 5}}); err != nil {
		t.Fatal(err)
	}
	var first int64
	if err := l.conn.QueryRow(t.Context(), `select r.id from runs r join builds b on b.id = r.build_id where b.name = 'rc' and r.id <> $1`,
		e.RunID).Scan(&first); err != nil {
		t.Fatal(err)
	}
	if err := l.DeleteRun(t.Context(), first, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := l.order(); got != "b1 nightly rc" {
		t.Errorf("without its dated run: %s", got)
	}
}

// A short run shows what a long one held for a while: no leak began there. Results of before nobody counted that count
// what was held at the end.
func TestLongRunsTellOfShortOnes(t *testing.T) {
	for name, test := range map[string]struct {
		most  int64
		older bool // the column is empty
		gate  leaks.Gate
	}{
		"it held as much":             {300, false, leaks.GateInconclusive},
		"it held little":              {10, false, leaks.GateFailed},
		"only its end is known":       {300, true, leaks.GateFailed},
		"as much, and at the end too": {200, false, leaks.GateInconclusive},
	} {
		l := newLab(t)
		long, short := shows(stable), shows(leak)
		long.Findings[len(long.Findings)-1].MostHeld = test.most
		l.runOn("b1 main", long)
		l.sql(`update runs set stretches = '{8,8,8,8}'`)
		if test.older {
			l.sql(`update findings set most_held = null`)
		}
		l.runOn("b2 main", short)
		if d := l.ask("b2"); d.Gate != test.gate {
			t.Errorf("%s: %s because %q", name, d.Gate, d.Why)
		}
	}
}
