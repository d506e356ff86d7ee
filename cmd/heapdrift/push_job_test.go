package main

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
)

// An annotation stands at a line of the sources where the leak's file is one of them, and only leaks that fail the gate
// have one.
func TestNotesOf(t *testing.T) {
	const inSource, outside = "src/a.cpp", "C:\\vendor\\b.cpp"
	notes := notesOf(&outcome.Outcome{Gate: outcome.GateFailed, Leaks: []outcome.Leak{
		{Signature: "a", File: inSource, Line: 7, InSource: true, Fails: true},
		{Signature: "b", File: outside, Line: 8, Fails: true},
		{Signature: "c", File: inSource, Line: 9, InSource: true},
	}})
	if len(notes) != 2 || notes[0].Identity != "a" || notes[0].File != inSource || notes[0].Line != 7 ||
		notes[1].Identity != "b" || notes[1].File != "" || notes[1].Line != 0 {
		t.Errorf("%+v", notes)
	}
	for gate, want := range map[string]string{
		outcome.GateFailed: "gate-failed", outcome.GatePassed: "", outcome.GateInconclusive: "no-verdict",
		outcome.GateError: "no-verdict",
	} {
		code := ""
		for _, n := range notesOf(&outcome.Outcome{Gate: gate}) {
			code += n.Code
		}
		if code != want {
			t.Errorf("a gate that says %s has the note %q, want %q", gate, code, want)
		}
	}
}

// jobLog is what a job prints of an outcome, in a system that folds text or in none.
func jobLog(t *testing.T, environment map[string]string, o *outcome.Outcome, v *push.RunVerdict, quiet bool) string {
	t.Helper()
	var out strings.Builder
	j := newJob(func(name string) string { return environment[name] })
	if err := j.report(&out, o, v, quiet); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Leaks that fail the gate stand first, each in a line; the others are counted in the heading that they are folded
// under. What is not there has no line.
func TestToldLeaks(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GateFailed, Why: "1 new leak", Sentence: "It leaks.", URL: "http://h/runs/1",
		Leaks: []outcome.Leak{
			{Signature: "a", Title: "app!Old", Change: outcome.ChangePersisting, Class: "leak"},
			{Signature: "b", Title: "app!New", Change: outcome.ChangeNew, Class: "leak", Fails: true, File: "a.cpp", Line: 7,
				URL: "http://h/leaks/b"},
			{Signature: "c", Change: outcome.ChangeKnown, Class: "leak"},
			{Signature: "d", Title: "app!Older", Change: outcome.ChangePersisting, Class: "growing"},
		}}
	word := func(change string) string { return (&outcome.Leak{Change: change}).Word() }
	title := fmt.Sprintf("heapdrift: 2 %s, 1 %s, which fail no gate", word(outcome.ChangePersisting),
		word(outcome.ChangeKnown))
	folded := jobLog(t, map[string]string{"TF_BUILD": "True"}, o, &push.RunVerdict{}, false)
	plain := jobLog(t, nil, o, &push.RunVerdict{}, false)
	failing := fmt.Sprintf("%-8s app!New (a.cpp:7)  leak  http://h/leaks/b\n", word(outcome.ChangeNew))
	rest := fmt.Sprintf("%-8s app!Old  leak\n%-8[2]s c  leak\n%-8[1]s app!Older  growing\n",
		word(outcome.ChangePersisting), word(outcome.ChangeKnown))
	if !strings.HasPrefix(folded, failing) || !strings.Contains(folded, title) || !strings.Contains(folded, rest) {
		t.Errorf("%s\nlacks one of\n%s%s\n%s", folded, failing, title, rest)
	}
	if want := failing + rest + "gate     failed: 1 new leak\n"; !strings.HasPrefix(plain, want) {
		t.Errorf("%s\nwant\n%s", plain, want)
	}
	if !strings.HasSuffix(plain, "It leaks.\nhttp://h/runs/1\n") {
		t.Errorf("%q does not end with the sentence and the page", plain)
	}
	o.Leaks = o.Leaks[1:2]
	if text := jobLog(t, map[string]string{"TF_BUILD": "True"}, o, &push.RunVerdict{}, false); strings.Contains(text,
		"which fail no gate") {
		t.Errorf("a heading over nothing:\n%s", text)
	}
	if text := jobLog(t, nil, o, &push.RunVerdict{}, true); strings.Contains(text, "app!New") || strings.Contains(text, "gate  ") {
		t.Errorf("quiet says\n%s", text)
	}
}

// What the verdict goes by has a line each, and none where it is not known.
func TestToldFacts(t *testing.T) {
	o := &outcome.Outcome{Gate: outcome.GatePassed, Sentence: "It is clean.", URL: "u"}
	if text := jobLog(t, nil, o, &push.RunVerdict{}, false); text != "gate     passed\nIt is clean.\nu\n" {
		t.Errorf("%q", text)
	}
	o.Problems, o.Power, o.Matters, o.Why = []string{"a.txt: empty"}, "1 KB per hour", "from 1 MB per day on", "no leak"
	text := jobLog(t, nil, o, &push.RunVerdict{Baseline: &push.Baseline{Build: "7", Sentence: "It was clean."}}, false)
	if want := "unread   a.txt: empty\nbaseline 7: It was clean.\nfrom 1 MB per day on\npower    1 KB per hour\n" +
		"gate     passed: no leak\n"; !strings.HasPrefix(text, want) {
		t.Errorf("%q, want %q", text, want)
	}
}

// Only a gate that is inconclusive lists what is not decided, up to a number, and how to decide it.
func TestToldUndecided(t *testing.T) {
	v := &push.RunVerdict{Rerun: true}
	for i := range maxUndecided + 1 {
		v.Undecided = append(v.Undecided, push.Undecided{Signature: fmt.Sprint("s", i)})
	}
	v.Undecided[0].Title, v.Undecided[0].Change = "app!A", "new"
	v.Undecided[0].Bytes, v.Undecided[0].Probability = new(2048.0), new(0.42)
	o := &outcome.Outcome{Gate: outcome.GateInconclusive, Project: "p", Build: "b 1", Scenario: "s#2",
		Leaks: []outcome.Leak{{Signature: "s1", Title: "app!B"}}}
	text := jobLog(t, nil, o, v, false)
	for _, want := range []string{
		"undecided app!A: new, 2.00 KB, a leak with a probability of 42 %\nundecided app!B\nundecided s2\n",
		"undecided s9\nundecided 1 more\nAdd one more run of this build",
		`push --again --project p --build "b 1" --scenario "s#2" FILE…`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	v.Record = &push.Recording{Kit: "http://h/kit"}
	if text := jobLog(t, nil, o, v, false); !strings.Contains(text, "kit      http://h/kit\n") || strings.Contains(text, "record  ") {
		t.Errorf("without a line:\n%s", text)
	}
	v.Undecided, v.Rerun = v.Undecided[:maxUndecided], false
	if text := jobLog(t, nil, o, v, false); strings.Contains(text, "more") || !strings.Contains(text, "undecided s9\n") {
		t.Errorf("of %d:\n%s", maxUndecided, text)
	}
	for _, gate := range []string{outcome.GatePassed, outcome.GateFailed, outcome.GateError} {
		if text := jobLog(t, nil, &outcome.Outcome{Gate: gate}, v, false); strings.Contains(text, "undecided") {
			t.Errorf("a gate that is %s says\n%s", gate, text)
		}
	}
}

// Values stand in quotation marks where a shell would take them apart.
func TestFlagText(t *testing.T) {
	for value, want := range map[string]string{
		"a": " --n a", "a b": ` --n "a b"`, "a#": ` --n "a#"`, "@a": ` --n "@a"`, "a-1.2/x": " --n a-1.2/x", "": " --n ",
	} {
		if got := flagText("n", value); got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
}

// An error for the job comes with the reason, and a run that there is not has no number.
func TestToldFailure(t *testing.T) {
	var out strings.Builder
	j := newJob(func(name string) string { return map[string]string{"TF_BUILD": "True"}[name] })
	if err := j.failed(&out, &outcome.Outcome{Gate: outcome.GateError}, 0, fmt.Errorf("no answer")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "no answer") || j.name() == "" || newJob(func(string) string { return "" }).name() != "" {
		t.Errorf("%q, %q", out.String(), j.name())
	}
}
