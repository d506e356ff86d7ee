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
		parts = append(parts, "leaks in "+strings.Join(bad, ", "))
	}
	if says := leaks.DescribeScenarios(rest, fixed); says != "" {
		parts = append(parts, says)
	}
	text := strings.Join(parts, "; ")
	if bad == nil && slices.ContainsFunc(rest, func(s leaks.ScenarioState) bool { return s.IsOpen() }) {
		return "not fixed yet: " + text
	}
	return text
}

// A shownGrowth is how fast a leak grows, and where that was measured.
type shownGrowth struct {
	ui.GrowthText
	Measured string
}

// growthOf is the growth of a leak in the newest build that shows it. Of a fixed leak it is the gravest growth that it
// had where it was bad. The growth of a leak that is fixed or tolerated is not red.
func growthOf(s *store.SignatureRow) shownGrowth {
	figure, measured := &s.Latest, "its runs were deleted"
	if s.Measured != "" {
		measured = measuredIn(s.Measured, s.LastSeen)
	}
	was := false
	if s.State == leaks.StateFixed {
		for i := range s.States {
			in := &s.States[i]
			if in.Bad != nil && (!was || leaks.CompareGravity(in.Bad, figure) < 0) {
				figure, measured, was = in.Bad, measuredIn(in.Scenario, in.LastBad), true
			}
		}
	}
	growth := shownGrowth{ui.FigureGrowthText(figure), measured}
	if was {
		growth.Text = "was " + growth.Text
	}
	if !s.Latest.Class.IsSuspect() || s.State == leaks.StateFixed || s.State == leaks.StateKnown {
		growth.Class = "flat"
	}
	return growth
}

func measuredIn(scenario, build string) string { return "measured in " + scenario + ", build " + build }
