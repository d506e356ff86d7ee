package store_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

const atExit = analysis.ClassLeftAtExit

// listOf is the report on lists of leaks at exit that a tool printed in tests, with the leaks that are in them; "" is
// outside of tests.
func listOf(tool string, tests []string, signatures ...string) *analysis.Report {
	var findings []finding
	for _, s := range signatures {
		findings = append(findings, finding{signature: s, class: atExit, callers: serve})
	}
	r := leaksReport(findings...)
	lists := analysis.ExitLists{Tool: tool}
	for _, test := range tests {
		if test == "" {
			lists.Programs = []string{"app.exe"}
		} else {
			lists.Tests = append(lists.Tests, test)
		}
	}
	r.ListsExit, r.ExitLists = true, []analysis.ExitLists{lists}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Score, f.Certain, r.Verdict.Status = nil, true, analysis.StatusLeak
		f.ByKind = []analysis.KindResult{{Kind: tool, Verdict: atExit}}
		f.LeftAtExit = &analysis.LeftAtExit{Unsearched: analysis.Amount{Count: 1, Bytes: 8}, Tools: []string{tool}, Tests: lists.Tests, Programs: lists.Programs}
	}
	return r
}

// A step of a history: a build's run, and what the leak A is then.
type exitStep struct {
	place  string
	report *analysis.Report
	state  leaks.State
	fixed  string
}

// A leak at exit is gone by a list of a tool and a test that had it, and by nothing else.
func TestLeakAtExitIsGoneByItsOwnLists(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	inT, outside := []string{"T"}, []string{""}
	stays := leaksReport(finding{signature: "A", class: stable, callers: serve}, finding{signature: "B", class: stable, callers: serve})
	grows := leaksReport(finding{signature: "A", class: leak, bytes: 7, callers: serve})
	lossy := listOf("vld", inT)
	lossy.ListsExit, lossy.ExitLists, lossy.Warnings = false, nil, []analysis.Warning{{Code: capture.Truncated}}
	reachable := listOf("vld", inT, "A")
	reachable.Findings[0].Verdict, reachable.Verdict.Status = analysis.ClassUnknown, analysis.StatusNoLeak
	all := newLab(t)
	found, none := leaks.StateFound, leaks.StateNone
	for name, steps := range map[string][]exitStep{
		"tools and tests": {
			{"1", listOf("vld", inT, "A"), found, ""},
			{"2", listOf("crt-leaks", inT, "C"), found, ""},           // another tool
			{"3", listOf("drmemory", inT, "B"), found, ""},            // another tool, with stacks of the callers
			{"4", listOf("vld", []string{"U"}, "B"), found, ""},       // another test
			{"5", listOf("vld", outside, "B"), found, ""},             // of the whole program: of which tests is not known
			{"6", fixed(), found, ""},                                 // snapshots in which the callers ran
			{"7", stays, found, ""},                                   // snapshots that hold it
			{"8", lossy, found, ""},                                   // a list that breaks off
			{"9", reachable, found, ""},                               // the tool shows it, and calls it no leak
			{"91", listOf("vld", inT, "B"), leaks.StateFixed, "91"},   // its own
			{"92", listOf("vld", inT, "A"), leaks.StateRegressed, ""}, // and back
		},
		"an older build tells": {
			{"5", listOf("vld", inT, "A"), found, ""},
			{"8", listOf("vld", inT), leaks.StateFixed, "8"},
			{"6", listOf("crt-leaks", inT), leaks.StateFixed, "8"},
			{"7", listOf("vld", []string{"U", "T"}), leaks.StateFixed, "7"},
		},
		"outside of tests": {
			{"1", listOf("vld", outside, "A"), found, ""},
			{"2", listOf("vld", inT), found, ""},
			{"3", listOf("vld", outside), leaks.StateFixed, "3"},
		},
		"snapshots and a list of one build": {
			{"1/s/a", listOf("vld", inT, "A"), found, ""},
			{"2/s/a", stays, found, ""},
			{"2/s/b", listOf("vld", inT), leaks.StateFixed, "2"}, // held while it ran, and freed at the end
		},
		"a leak that grows is not gone by a list": {
			{"1", grows, found, ""},
			{"2", listOf("vld", inT, "B"), found, ""},
			{"3", fixed(), leaks.StateFixed, "3"},
		},
		"a leak that grows and is listed is gone by either": {
			{"1/s/a", grows, found, ""},
			{"1/s/b", listOf("vld", inT, "A"), found, ""},
			{"2/s/a", listOf("crt-leaks", inT, "B"), found, ""},
			{"3/s/a", listOf("vld", inT, "B"), leaks.StateFixed, "3"},
			{"4/s/a", grows, leaks.StateRegressed, ""},
			{"5/s/a", fixed(), leaks.StateFixed, "5"},
		},
		"two tools, one of a program and one in a test": {
			{"1/s/a", listOf("vld", outside, "A"), found, ""},
			{"1/s/b", listOf("sanitizer", inT, "A"), found, ""},
			{"2/s/a", listOf("sanitizer", outside), found, ""},
			{"3/s/a", listOf("vld", inT), found, ""},
			{"4/s/a", listOf("sanitizer", inT), leaks.StateFixed, "4"},
		},
		"held first, listed later": {
			{"1", stays, none, ""},
			{"2", listOf("vld", inT, "A"), found, ""}, // the first list of the tool
			{"3", stays, found, ""},
		},
	} {
		l := all.emptied(t)
		for _, step := range steps {
			l.run(step.place, step.report)
			if s := l.signature("A"); s.State != step.state || s.FixedIn != step.fixed && step.fixed != "" {
				t.Errorf("%s, after %s: %s, fixed in %q; want %s, %q", name, step.place, s.State, s.FixedIn, step.state, step.fixed)
			}
		}
	}
}

// What the first list of a tool shows may be as old as the scenario; what a later one shows came in.
func TestFirstListOfATool(t *testing.T) {
	l := newLab(t)
	l.run("1", fixed())
	l.run("2", listOf("vld", []string{"T"}, "A"))
	l.run("3", listOf("vld", []string{"T", "U"}, "A", "N"))
	l.run("4", listOf("crt-leaks", []string{"T"}, "C"))
	for signature, want := range map[string]leaks.State{"A": leaks.StateFound, "N": leaks.StateNew, "C": leaks.StateFound} {
		if got := l.signature(signature).State; got != want {
			t.Errorf("%s is %s, want %s", signature, got, want)
		}
	}
	run := must[store.Run](t)(l.now().FindRun(t.Context(), l.runs["2"]))
	v := must[leaks.RunVerdict](t)(l.now().FindVerdict(t.Context(), &run, store.GateQuestion{}))
	const why = "app!FA was already in the tool's first list of leaks at exit"
	if v.Decision.Gate != leaks.GatePassed || len(v.Decision.Reasons) != 1 || v.Decision.Reasons[0].Sentence != why {
		t.Errorf("%+v", v.Decision)
	}
}

// Whether a leak is new says the tool that showed it first: another that lists it later, and listed other leaks from the
// first build on, does not tell.
func TestFirstListIsOfTheToolThatShowedItFirst(t *testing.T) {
	inT := []string{"T"}
	l := newLab(t)
	l.run("1/s/a", listOf("drmemory", inT, "B"))
	l.run("2/s/b", listOf("vld", inT, "A"))
	l.run("3/s/a", listOf("drmemory", inT, "A", "N"))
	l.run("3/s/b", listOf("vld", inT, "A", "N"))
	for signature, want := range map[string]leaks.State{"A": leaks.StateFound, "N": leaks.StateNew, "B": leaks.StateFixed} {
		if got := l.signature(signature).State; got != want {
			t.Errorf("%s is %s, want %s", signature, got, want)
		}
	}
}

// A first sampled profile at exit is a first list, too, although it is not whole.
func TestFirstSampledList(t *testing.T) {
	l := newLab(t)
	sampled := func(signatures ...string) *analysis.Report {
		r := listOf("jemalloc-heap", []string{""}, signatures...)
		r.ListsExit, r.ExitLists, r.Warnings = false, nil, []analysis.Warning{{Code: capture.Sampled}}
		return r
	}
	l.run("1", sampled("A"))
	l.run("2", sampled("A", "N"))
	l.run("3", sampled("N"))
	for signature, want := range map[string]leaks.State{"A": leaks.StateFound, "N": leaks.StateNew} {
		if got := l.signature(signature).State; got != want {
			t.Errorf("%s is %s, want %s", signature, got, want)
		}
	}
}

// A history and a strip pass over builds without a list that would show the leak.
func TestHistoryOfALeakAtExit(t *testing.T) {
	l := newLab(t)
	inT := []string{"T"}
	l.run("1", listOf("vld", inT, "A"))
	l.run("2", leaksReport(finding{signature: "A", class: stable, callers: serve}))
	l.run("3", listOf("vld", inT, "B"))
	h := must[*store.History](t)(l.now().FindHistory(t.Context(), "demo", "A"))
	if o := h.Outcomes; len(o) != 3 || !o[0].IsBad() || o[1].Exercised || o[1].IsClean() || !o[2].IsAbsent() {
		t.Errorf("%+v", o)
	}
	strip := l.list(store.SignatureQuery{Strip: 9}).Rows[0].Strip
	if len(strip) != 3 || strip[1].Exercised || strip[1].IsClean() || !strip[2].IsAbsent() {
		t.Errorf("%+v", strip)
	}
	for head, want := range map[string]compare.Change{"2": compare.ChangeNotExercised, "3": compare.ChangeFixed} {
		if change, why := l.changeOf("1", head); change != want {
			t.Errorf("against %s: %s, %s", head, change, why)
		}
	}
}

// Runs of one build with different work show that a leak at exit grows: it becomes a leak in each of them, and one again
// that is left at exit where a run goes that told. Its history stays that of a leak at exit.
func TestWorkOfListsTells(t *testing.T) {
	l := newLab(t)
	lists := func(work float64, blocks int64) *analysis.Report {
		r := listOf("vld", []string{""}, "A", "B")
		r.ExitWork = &analysis.ExitWork{Unit: "document", Count: work, Lists: 1}
		r.Findings[0].LeftAtExit.Unsearched.Count = blocks
		return r
	}
	l.run("1/s/a", lists(100, 100))
	l.run("1/s/b", lists(200, 200))
	if f := l.found("1/s/b", "A"); f.Class != atExit || f.Pooled != nil {
		t.Errorf("two runs: %+v", f)
	}
	l.run("1/s/c", lists(400, 400))
	for _, place := range []string{"1/s/a", "1/s/b", "1/s/c"} {
		f := l.found(place, "A")
		if f.Class != analysis.ClassLeak || !f.Certain || f.Alone == nil || f.Alone.Class != atExit || f.Pooled == nil || f.Pooled.Work == nil ||
			len(f.Pooled.Work.Runs) != 3 || len(f.Clauses) == 0 || f.Clauses[0].Rule != "work" {
			t.Errorf("%s: %+v", place, f)
		}
		if f := l.found(place, "B"); f.Class != atExit || f.Pooled != nil {
			t.Errorf("%s, one block: %+v", place, f)
		}
	}
	// Snapshots in which the callers ran do not end it; a list of its own tool does.
	l.run("2/s/a", fixed())
	if s := l.signature("A"); s.State != leaks.StateFound {
		t.Errorf("after snapshots: %s", s.State)
	}
	l.run("3/s/a", listOf("vld", []string{""}, "B"))
	if s := l.signature("A"); s.State != leaks.StateFixed || s.FixedIn != "3" {
		t.Errorf("after its own list: %s in %s", s.State, s.FixedIn)
	}
	l.run("1/s/c", listOf("vld", []string{""}, "A"))
	if f := l.found("1/s/a", "A"); f.Class != atExit || f.Pooled != nil {
		t.Errorf("a run that tells no work: %+v", f)
	}
}
