package leaks_test

import (
	"slices"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

const (
	leak    = analysis.ClassLeak
	grows   = analysis.ClassGrowing
	cache   = analysis.ClassCache
	stable  = analysis.ClassStable
	unknown = analysis.ClassUnknown

	leaky        = analysis.StatusLeak
	noLeak       = analysis.StatusNoLeak
	inconclusive = analysis.StatusInconclusive
)

func TestJudgementOf(t *testing.T) {
	for _, test := range []struct {
		class    analysis.Class
		status   analysis.VerdictStatus
		want     leaks.Judgement
		isBad    bool
		standsIn analysis.Class
	}{
		{leak, leaky, leaks.JudgedLeaking, true, leak},
		{leak, inconclusive, leaks.JudgedLeaking, true, leak},
		{grows, noLeak, leaks.JudgedGrowing, true, grows},
		{grows, inconclusive, leaks.JudgedGrowing, true, grows},
		{unknown, noLeak, leaks.JudgedUndecided, false, unknown},
		{unknown, inconclusive, leaks.JudgedUndecided, false, unknown},
		{cache, noLeak, leaks.JudgedClean, false, stable},
		{cache, inconclusive, leaks.JudgedUndecided, false, unknown},
		{analysis.ClassOneTime, leaky, leaks.JudgedClean, false, stable},
		{analysis.ClassTransient, leaky, leaks.JudgedClean, false, stable},
		{stable, leaky, leaks.JudgedClean, false, stable}, // another one leaks
		{stable, noLeak, leaks.JudgedClean, false, stable},
		{stable, inconclusive, leaks.JudgedUndecided, false, unknown},
	} {
		got := leaks.JudgementOf(test.class, test.status)
		if got != test.want || got.IsBad() != test.isBad || got.Class() != test.standsIn {
			t.Errorf("%s in a run that says %s: %d, bad %v, class %s", test.class, test.status, got, got.IsBad(), got.Class())
		}
	}
}

// A build is clean by a run that shows the signature and decides, or by callers that ran without it. If the signature
// is shown, its callers do not matter.
func TestOutcomeIsClean(t *testing.T) {
	caller := &compare.RanFrame{Frame: "app!Serve", Stacks: 1}
	for _, test := range []struct {
		name               string
		class              analysis.Class // "" where no run shows it
		status             analysis.VerdictStatus
		caller             *compare.RanFrame
		clean, absent, bad bool
	}{
		{"not there", "", "", nil, false, false, false},
		{"not there, and its callers ran", "", "", caller, true, true, false},
		{"there and stable", stable, noLeak, nil, true, false, false},
		{"there and stable, and its callers ran", stable, noLeak, caller, true, false, false},
		{"there, and nothing decides", stable, inconclusive, nil, false, false, false},
		{"there, nothing decides, and its callers ran", stable, inconclusive, caller, false, false, false},
		{"it grows", grows, noLeak, caller, false, false, true},
		{"it leaks", leak, leaky, caller, false, false, true},
	} {
		o := leaks.Outcome{Build: "1", Absent: test.caller}
		if test.class != "" {
			o.Take(&leaks.SignatureFinding{RunID: 1, Status: test.status, Figure: figure(test.class)})
		}
		if o.IsClean() != test.clean || o.IsAbsent() != test.absent || o.IsBad() != test.bad {
			t.Errorf("%s: clean %t, absent %t, bad %t", test.name, o.IsClean(), o.IsAbsent(), o.IsBad())
		}
	}
}

// figure is a figure of a class, with changes.
func figure(class analysis.Class, changes ...func(*leaks.Figure)) leaks.Figure {
	f := leaks.Figure{Class: class}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func certain(f *leaks.Figure) { f.Certain = true }
func scored(p float64) func(*leaks.Figure) {
	return func(f *leaks.Figure) { f.Score = &p }
}
func grew(bytes int64) func(*leaks.Figure) {
	return func(f *leaks.Figure) { f.Growth = &analysis.Amount{Bytes: bytes} }
}
func holds(bytes int64) func(*leaks.Figure) {
	return func(f *leaks.Figure) { f.Outstanding.Bytes = bytes }
}

func TestCompareGravity(t *testing.T) {
	gravestFirst := []leaks.Figure{
		figure(leak, certain, scored(0.9)),
		figure(leak, certain),
		figure(leak, scored(0.95), grew(1)), // less sure
		figure(leak, scored(0.94), grew(9)),
		figure(leak, scored(0), grew(9)),
		figure(leak, grew(9)), // no score at all
		figure(leak, grew(8), holds(70)),
		figure(leak, grew(8), holds(69)),
		figure(leak, grew(0)),
		figure(leak, grew(-5)),
		figure(leak, holds(1e9)), // nothing to compare with
		figure(grows, certain, scored(1), grew(1e9)),
		figure(cache), figure(analysis.ClassOneTime), figure(analysis.ClassTransient), figure(unknown),
		figure(stable), figure(""),
	}
	for i := range gravestFirst {
		for k := range gravestFirst {
			if got, want := leaks.CompareGravity(&gravestFirst[i], &gravestFirst[k]), min(max(i-k, -1), 1); got != want {
				t.Errorf("%+v and %+v: %d, want %d", gravestFirst[i], gravestFirst[k], got, want)
			}
		}
	}
}

func TestSuspects(t *testing.T) {
	if len(leaks.SuspectClasses) != 5 {
		t.Errorf("%v", leaks.SuspectClasses)
	}
	for _, class := range leaks.SuspectClasses {
		if !class.IsSuspect() {
			t.Errorf("%s is no suspect", class)
		}
	}
	for _, class := range score.Classes {
		if !slices.Contains(leaks.ClassFilters, string(class)) {
			t.Errorf("lists cannot be filtered by %s", class)
		}
	}
	if len(leaks.ClassFilters) != len(score.Classes) {
		t.Errorf("%q filter what are %d classes", leaks.ClassFilters, len(score.Classes))
	}
}

func TestOutcomeOfABuild(t *testing.T) {
	type takenFinding struct {
		run    int64
		class  analysis.Class
		status analysis.VerdictStatus
		grew   int64
		speaks bool // now
	}
	for name, test := range map[string]struct {
		taken       []takenFinding
		run         int64
		class       analysis.Class
		clean, bad  bool
		isExercised bool
	}{
		"not shown":           {nil, 7, "", false, false, false},
		"clean":               {[]takenFinding{{3, stable, noLeak, 0, true}}, 3, stable, true, false, true},
		"clean beside a leak": {[]takenFinding{{3, stable, leaky, 0, true}}, 3, stable, true, false, true},
		"not to be told":      {[]takenFinding{{3, stable, inconclusive, 0, true}}, 3, stable, false, false, true},
		"undecided":           {[]takenFinding{{3, unknown, noLeak, 0, true}}, 3, unknown, false, false, true},
		"growing":             {[]takenFinding{{3, grows, inconclusive, 1, true}}, 3, grows, false, true, true},
		"the gravest speaks": {[]takenFinding{{3, stable, noLeak, 9, true}, {4, leak, leaky, 1, true},
			{5, stable, noLeak, 9, false}}, 4, leak, false, true, true},
		"the larger growth speaks": {[]takenFinding{{3, leak, leaky, 9, true}, {4, leak, leaky, 8, false},
			{5, leak, leaky, 10, true}}, 5, leak, false, true, true},
		"of equals the newest run": {[]takenFinding{{3, leak, leaky, 9, true}, {4, leak, leaky, 9, true}}, 4,
			leak, false, true, true},
		"of equal parts in one run one": {[]takenFinding{{3, leak, leaky, 9, true}, {3, leak, leaky, 9, false}}, 3,
			leak, false, true, true},
		"whichever comes first": {[]takenFinding{{4, leak, leaky, 9, true}, {3, leak, leaky, 9, false}}, 4,
			leak, false, true, true},
		"one that could not tell": {[]takenFinding{{3, stable, noLeak, 0, true}, {4, stable, inconclusive, 0, true}},
			4, stable, true, false, true},
		"unknown is graver than stable": {[]takenFinding{{3, stable, noLeak, 0, true}, {4, unknown, noLeak, 0, true}}, 4,
			unknown, true, false, true},
		"none of several tells": {[]takenFinding{{3, unknown, noLeak, 0, true}, {4, stable, inconclusive, 0, false}},
			3, unknown, false, false, true},
		"clean, but growing in the next": {[]takenFinding{{3, cache, noLeak, 0, true}, {4, grows, inconclusive, 0, true}}, 4,
			grows, false, true, true},
	} {
		o, runs := leaks.Outcome{Build: "1", Runs: 9, RunID: 7}, map[int64]bool{}
		for _, s := range test.taken {
			runs[s.run] = true
			if got := o.Take(&leaks.SignatureFinding{RunID: s.run, SignatureID: 1, Status: s.status,
				Figure: figure(s.class, grew(s.grew))}); got != s.speaks {
				t.Errorf("%s: run %d speaks: %v", name, s.run, got)
			}
		}
		if o.RunID != test.run || o.Class != test.class || o.IsClean() != test.clean || o.IsBad() != test.bad ||
			o.Exercised != test.isExercised || o.RunsShowing != len(runs) || o.Runs != 9 {
			t.Errorf("%s: %+v, clean %v, bad %v", name, o, o.IsClean(), o.IsBad())
		}
	}
}

func TestRunState(t *testing.T) {
	for _, test := range []struct {
		facts leaks.RunFacts
		want  leaks.RunState
	}{
		{leaks.RunFacts{}, leaks.RunEmpty},
		{leaks.RunFacts{PendingJobs: 1}, leaks.RunProcessing},
		{leaks.RunFacts{PendingJobs: 1, Analysed: true, Failed: true, UnreadEvidence: 1}, leaks.RunProcessing},
		{leaks.RunFacts{Analysed: true}, leaks.RunReady},
		{leaks.RunFacts{Analysed: true, Failed: true}, leaks.RunReady}, // of what there was before
		{leaks.RunFacts{Analysed: true, UnreadEvidence: 1}, leaks.RunReady},
		{leaks.RunFacts{UnreadEvidence: 1}, leaks.RunFailed},
		{leaks.RunFacts{Failed: true}, leaks.RunFailed},
	} {
		if got := test.facts.State(); got != test.want {
			t.Errorf("%+v: %s, want %s", test.facts, got, test.want)
		}
	}
}
