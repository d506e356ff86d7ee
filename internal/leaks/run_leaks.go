package leaks

import "strings"

// RunLeaks counts the findings of a run that leak or grow, by the state that they have in the project.
type RunLeaks struct {
	Open  int // leaks in open states; what only grows is none
	New   int // of Open, those that came in with the run's build
	Known int // that the team tolerates
}

// OnlyKnown reports whether all open leaks of the run are known: nothing is to do.
func (c RunLeaks) OnlyKnown() bool { return c.Open == 0 && c.Known > 0 }

// String counts what is new, what is open and what is known apart: "1 new leak; 500 known". It is "" where nothing is
// known, as the run's sentence then counts what is open.
func (c RunLeaks) String() string {
	if c.Known == 0 {
		return ""
	}
	var parts []string
	if c.New > 0 {
		parts = append(parts, plural(c.New, "new leak", "new leaks"))
	}
	if older := c.Open - c.New; older > 0 {
		parts = append(parts, plural(older, "open leak", "open leaks"))
	}
	if len(parts) == 0 {
		return "No open leak; " + plural(c.Known, "known", "known")
	}
	return strings.Join(append(parts, plural(c.Known, "known", "known")), "; ")
}
