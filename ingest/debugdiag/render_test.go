package debugdiag_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/debugdiag"
)

// render prints a stack, innermost frame first.
func render(c *capture.Capture, id capture.StackID) string {
	var frames []string
	for _, f := range c.Stacks.Stack(id) {
		frame := c.Stacks.Frame(f)
		text := c.Stacks.Text(frame)
		switch {
		case text == nil:
			frames = append(frames, fmt.Sprintf("%#x", frame.Address))
			continue
		case text.Module == "":
			frames = append(frames, text.Function)
		case text.Function == "":
			frames = append(frames, fmt.Sprintf("%s+%x", text.Module, text.Offset))
		default:
			frames = append(frames, fmt.Sprintf("%s!%s+%x", text.Module, text.Function, text.Offset))
		}
		if text.File != "" {
			frames[len(frames)-1] += fmt.Sprintf(" (%s, %d)", text.File, text.Line)
		}
	}
	return strings.Join(frames, " < ")
}

// hasNote reports whether a note of the topic has the words.
func hasNote(c *capture.Capture, topic, words string) bool {
	for _, n := range c.Memory.Notes {
		if n.Topic == topic && strings.Contains(n.Text, words) {
			return true
		}
	}
	return false
}

// codes are the warnings of a capture.
func codes(c *capture.Capture) string {
	var all []string
	for _, w := range c.Warnings {
		all = append(all, string(w.Code))
	}
	return strings.Join(all, " ")
}

// read reads a report that has one dump.
func read(t testing.TB, report []byte) *capture.Capture {
	t.Helper()
	captures, err := debugdiag.Read(t.Context(), bytes.NewReader(report))
	if err != nil || len(captures) != 1 {
		t.Fatalf("%d captures, %v", len(captures), err)
	}
	return captures[0]
}
