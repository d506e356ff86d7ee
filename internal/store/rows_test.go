package store

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// A stack in a run held and grew what its row says, before the process ended; growth that is half known is not known.
func TestStackOfARow(t *testing.T) {
	two, sixteen, one, eight := int64(2), int64(16), int64(1), int64(8)
	for _, test := range []struct {
		name         string
		row          stackRow
		held, growth analysis.Amount
		grows        bool
	}{
		{"held", stackRow{OutstandingCount: 5, OutstandingBytes: 40}, analysis.Amount{Count: 5, Bytes: 40}, analysis.Amount{}, false},
		{"growth", stackRow{OutstandingCount: 5, OutstandingBytes: 40, GrowthCount: &two, GrowthBytes: &sixteen},
			analysis.Amount{Count: 5, Bytes: 40}, analysis.Amount{Count: 2, Bytes: 16}, true},
		{"half of a growth", stackRow{GrowthCount: &two}, analysis.Amount{}, analysis.Amount{}, false},
		{"the other half", stackRow{GrowthBytes: &two}, analysis.Amount{}, analysis.Amount{}, false},
		{"at exit", stackRow{OutstandingCount: 5, OutstandingBytes: 40, GrowthCount: &two, GrowthBytes: &sixteen, AtExitCount: &one, AtExitBytes: &eight},
			analysis.Amount{Count: 6, Bytes: 48}, analysis.Amount{Count: 3, Bytes: 24}, true},
		{"half of an exit", stackRow{OutstandingCount: 5, OutstandingBytes: 40, GrowthCount: &two, GrowthBytes: &sixteen, AtExitCount: &one},
			analysis.Amount{Count: 5, Bytes: 40}, analysis.Amount{Count: 2, Bytes: 16}, true},
	} {
		test.row.RunID = 7
		s := test.row.seen(nil)
		if s.RunID != 7 || s.Held != test.held || (s.Growth != nil) != test.grows || test.grows && *s.Growth != test.growth {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
}

// Figures of a signature that leaked are its own: nothing is read for them.
func TestFiguresOfALeakAreItsOwn(t *testing.T) {
	s := &Signature{Latest: leaks.Figure{Class: analysis.ClassLeak}}
	s.ID = 7
	s.LastBad, s.LastSeen, s.Measured = "1", "2", "3"
	if err := fillLatest(t.Context(), nil, []*Signature{s}); err != nil || s.Latest.Class != analysis.ClassLeak || s.LastSeen != "2" || s.Measured != "3" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The run of a list of stacks is found by its id.
func TestRunOfLeakStacks(t *testing.T) {
	l := &LeakStacks{Runs: []LeakRun{{ID: 3}, {ID: 5}}}
	if r := l.Run(5); r == nil || r != &l.Runs[1] {
		t.Errorf("%+v", r)
	}
	if r := l.Run(4); r != nil {
		t.Errorf("%+v", r)
	}
}
