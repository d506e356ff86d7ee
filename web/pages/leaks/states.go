package leaks

import (
	"slices"
	"strings"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// standsIn says in a line how a leak stands: where it leaks in the newest build, where it is clean, and why it is not
// fixed yet where newer builds do not decide. newest is the build that lists end with.
func standsIn(list []leaks.ScenarioState, fixed, newest string) string {
	var bad []string
	var rest []leaks.ScenarioState
	for i := range list {
		if list[i].IsOpen() && list[i].LastBad == newest {
			bad = append(bad, list[i].Scenario)
		} else {
			rest = append(rest, list[i])
		}
	}
	var parts []string
	if bad != nil {
		parts = append(parts, "bad in "+strings.Join(bad, ", "))
	}
	if says := leaks.SayStates(rest, fixed); says != "" {
		parts = append(parts, says)
	}
	text := strings.Join(parts, "; ")
	if bad == nil && slices.ContainsFunc(rest, func(s leaks.ScenarioState) bool { return s.IsOpen() }) {
		return "not fixed yet: " + text
	}
	return text
}

// shownGrowth is how fast a leak grows in the newest build that shows it. For a leak that is fixed or tolerated, it is
// the former growth, and not in red.
func shownGrowth(s *store.SignatureRow) ui.Change {
	figure := &s.Latest
	if s.State == leaks.StateFixed {
		for i := range s.States {
			if then := s.States[i].Bad; then != nil && (figure == &s.Latest || leaks.CompareGravity(then, figure) < 0) {
				figure = then
			}
		}
	}
	c := ui.GrowthRate(figure)
	if s.State == leaks.StateFixed && figure != &s.Latest {
		c.Text = "was " + c.Text
	}
	if !s.Latest.Class.IsSuspect() || s.State == leaks.StateFixed || s.State == leaks.StateKnown {
		c.Class = "flat"
	}
	return c
}

// measuredIn says where the figures of a row were measured.
func measuredIn(s store.Signature) string {
	if s.Measured == "" {
		return "no run shows it any more"
	}
	return "measured in " + s.Measured + ", build " + s.LastSeen
}
