package leaks_test

import (
	"testing"

	"heapdrift/internal/leaks"
)

// New, open and known leaks of a run are counted apart.
func TestRunLeaks(t *testing.T) {
	for want, c := range map[string]leaks.RunLeaks{
		"":                                    {Open: 2, New: 1},
		"No open leak; 500 known":             {Known: 500},
		"1 new leak; 500 known":               {Open: 1, New: 1, Known: 500},
		"2 new leaks; 1 open leak; 500 known": {Open: 3, New: 2, Known: 500},
		"2 open leaks; 1 known":               {Open: 2, Known: 1},
	} {
		if got := c.String(); got != want || c.OnlyKnown() != (c.Open == 0) {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
