package main

import (
	"testing"

	"heapdrift/internal/analysis/export/outcome"
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
