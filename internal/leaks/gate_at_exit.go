package leaks

import (
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// An AtExitPolicy says which leaks at exit fail a gate. When a team turns on a tool that lists them, a program has many
// that nobody has looked at.
type AtExitPolicy string

// Which leaks at exit fail a gate; "" is AtExitNew.
const (
	AtExitNew  AtExitPolicy = "new"  // those that came in, where the gate fails on any leak or on new ones
	AtExitAny  AtExitPolicy = "leak" // all, as other leaks
	AtExitNone AtExitPolicy = "none"
)

// atExitPolicies are all of them, in the order of lists.
var atExitPolicies = []AtExitPolicy{AtExitNew, AtExitAny, AtExitNone}

// asksOf reports whether the gate fails on a kind of leaks, if a finding is of that kind. A call that asks for any leak
// asks for those at exit, too.
func (d *decider) asksOf(on FailOn, f *compare.Finding) bool {
	if f.Class != analysis.ClassLeftAtExit || slices.Contains(d.Asked, FailOnLeak) {
		return d.asks(on)
	}
	switch d.Policy.AtExit {
	case AtExitAny:
		return d.asks(on)
	case AtExitNone:
		return false
	}
	switch on {
	case FailOnLeak:
		return false
	case FailOnNew, FailOnRegressed:
		return d.asks(on) || d.asks(FailOnLeak)
	}
	return d.asks(on)
}

// byAge counts the leaks of which the gate asks only whether they are new.
func (d *decider) byAge() (n int) {
	for _, f := range d.counted {
		if FailsGate(f) && d.asksOf(FailOnNew, f) && !d.asksOf(FailOnLeak, f) {
			n++
		}
	}
	return n
}
