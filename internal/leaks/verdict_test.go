package leaks_test

import (
	"reflect"
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// A run without a report on all of its evidence is not judged, whatever else is known of it.
func TestJudgeWithoutAReport(t *testing.T) {
	for name, test := range map[string]struct {
		run      leaks.RunResult
		state    leaks.RunState
		gate     leaks.Gate
		sentence string
	}{
		"empty": {leaks.RunResult{}, leaks.RunEmpty, leaks.GateInconclusive, "The run holds no evidence yet."},
		"one job": {leaks.RunResult{RunFacts: leaks.RunFacts{PendingJobs: 1}}, leaks.RunProcessing, leaks.GatePending,
			"The evidence is still being analysed."},
		"one job again": {leaks.RunResult{RunFacts: leaks.RunFacts{PendingJobs: 1, Analysed: true, Failed: true}, Status: leaky,
			Sentence: "It leaks.", Error: "no disk"}, leaks.RunProcessing, leaks.GatePending,
			"The evidence is still being analysed."},
		"failed": {leaks.RunResult{RunFacts: leaks.RunFacts{Failed: true}, Error: "no disk"}, leaks.RunFailed,
			leaks.GateError, "no disk"},
		"failed after a report": {leaks.RunResult{RunFacts: leaks.RunFacts{Failed: true, Analysed: true}, Status: noLeak,
			Sentence: "Nothing leaks.", Error: "no disk"},
			leaks.RunReady, leaks.GateError, "no disk"},
		"unread": {leaks.RunResult{RunFacts: leaks.RunFacts{UnreadEvidence: 1}, Unreadable: "a.txt could not be read: empty"},
			leaks.RunFailed, leaks.GateError, "a.txt could not be read: empty"},
		"unread of why": {leaks.RunResult{RunFacts: leaks.RunFacts{UnreadEvidence: 2}}, leaks.RunFailed, leaks.GateError,
			"The evidence could not be read."},
	} {
		if test.run.IsJudged() {
			t.Errorf("%s: judged", name)
		}
		got := leaks.Judge(&test.run, nil)
		want := leaks.RunVerdict{State: test.state, Status: string(test.gate), Gate: test.gate, Sentence: test.sentence}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	gone, clean := compare.Finding{Signature: "gone", Class: leak}, compare.Finding{Signature: "clean", Class: stable}
	knownClean := compare.Finding{Signature: "known, clean", Class: stable, State: string(leaks.StateKnown)}
	head := &compare.BuildResult{Build: "2", Power: power("hour", 900),
		Findings: []compare.Finding{sure, second, unsure, growing, known, knownByRule, clean, knownClean}}
	compared := against(nil,
		became(compare.ChangeNew, sure, ""), became(compare.ChangeNew, known, ""), became(compare.ChangeGrown, second, leak),
		became(compare.ChangeGrown, knownByRule, leak),
		became(compare.ChangePersisting, unsure, leak), became(compare.ChangeShrunk, growing, grows), became(compare.ChangeFixed, clean, leak),
		became(compare.ChangeFixed, knownClean, leak),
		compare.Row{Change: compare.ChangeFixed, Base: &gone}, compare.Row{Change: compare.ChangeNotExercised, Base: &gone})
	run := &leaks.RunResult{RunFacts: leaks.RunFacts{Analysed: true, UnreadEvidence: 1}, Status: leaky, Sentence: "It leaks.",
		Unreadable: "b.txt could not be read: empty"}
	if !run.IsJudged() {
		t.Error("a run with a report is not judged")
	}
	got := leaks.Judge(run, &leaks.GateCase{Policy: theDefault(), Asked: []leaks.FailOn{leaks.FailOnNew}, Suffices: true,
		Head: head, Compared: compared})
	checkDecision(t, &got)
	want := leaks.RunVerdict{
		State: leaks.RunReady, Status: string(leaky), Gate: leaks.GateFailed, Why: "1 new leak", Compared: compared,
		Sentence: "It leaks.", Power: "hour",
		New: []string{"sure"}, Grown: []string{"second"}, Persisting: []string{"unsure", "growing"},
		Fixed: []string{"clean", "gone"}, Known: []string{"known", "by rule"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	head.Power = nil
	got = leaks.Judge(run,
		&leaks.GateCase{Policy: theDefault(), Asked: []leaks.FailOn{leaks.FailOnNew}, Suffices: true, Head: head})
	checkDecision(t, &got)
	want = leaks.RunVerdict{
		State: leaks.RunReady, Status: string(leaky), Gate: leaks.GateInconclusive,
		Why: "no baseline shows which leaks are new", Sentence: "It leaks.",
		Known: []string{"known", "by rule"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("without a baseline: %+v, want %+v", got, want)
	}
}

// checkDecision checks that a verdict and its decision agree, and removes the decision.
func checkDecision(t *testing.T, v *leaks.RunVerdict) {
	t.Helper()
	if v.Decision == nil || v.Decision.Gate != v.Gate || v.Decision.Why != v.Why || v.Decision.Exit != v.Gate.ExitCode() {
		t.Errorf("verdict %s because %q, decision %+v", v.Gate, v.Why, v.Decision)
	}
	v.Decision = nil
}
