package leaks

import (
	"cmp"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// standing is how a leak stands in the newest build of the list, by the strip beside it.
func (t Table) standing(s *store.SignatureRow) leaks.Standing {
	seen := leaks.BuildView{Build: t.newest(), FirstBad: s.FirstBad, LastBad: s.LastBad, FixedIn: s.FixedIn}
	if s.FixedBy != "" { // the team knows better than the runs so far
		seen.FixedIn = seen.Build
	}
	isAfter := !slices.ContainsFunc(t.Builds, func(b store.BuildRef) bool { return b.Name == s.LastBad })
	for i := range s.Strip {
		seen.CleanSince = seen.CleanSince || isAfter && s.Strip[i].IsClean()
		isAfter = isAfter || t.Builds[i].Name == s.LastBad
	}
	return s.State.StandingIn(seen)
}

// standing is how the leak stands in the newest build with a result.
func (v signatureView) standing() leaks.Standing {
	seen := leaks.BuildView{FirstBad: v.FirstBad, LastBad: v.LastBad, FixedIn: v.FixedIn}
	at := map[string]int{}
	for i, b := range v.history.Builds {
		at[b.Name], seen.Build = i, b.Name
	}
	if v.FixedBy != "" {
		seen.FixedIn = seen.Build
	}
	for i := range v.history.Outcomes {
		o := &v.history.Outcomes[i]
		seen.CleanSince = seen.CleanSince || at[o.Build] > at[v.LastBad] && o.IsClean()
	}
	return v.State.StandingIn(seen)
}

// standingInScenario is how the leak stands in one scenario in the newest build with a result.
func (v signatureView) standingInScenario(s *leaks.ScenarioState) leaks.Standing {
	seen := leaks.BuildView{FirstBad: v.FirstBad, LastBad: s.LastBad, FixedIn: cmp.Or(v.FixedIn, s.FirstCleanAfter)}
	if n := len(v.history.Builds); n > 0 {
		seen.Build = v.history.Builds[n-1].Name
	}
	return s.State.StandingIn(seen)
}

// standsIn says in a line how a leak stands: where it leaks in the newest build, where it is clean, and why it is not
// fixed yet where newer builds do not decide. newest is the build that lists end with.
func standsIn(s *store.Signature, newest string) string {
	var bad []string
	var rest []leaks.ScenarioState
	measured := false
	for i := range s.States {
		in := &s.States[i]
		measured = measured || in.Scenario == s.Measured
		if in.IsOpen() && in.LastBad == newest {
			bad = append(bad, in.Scenario)
		} else {
			rest = append(rest, *in)
		}
	}
	var parts []string
	if bad != nil {
		parts = append(parts, "leaks in "+strings.Join(bad, ", "))
	}
	isOpen := bad == nil && slices.ContainsFunc(rest, func(s leaks.ScenarioState) bool { return s.IsOpen() })
	// A scenario that never showed it leaking has no state of its own, and may be the one that shows it clean.
	if class := s.Latest.Class; isOpen && !measured && s.Measured != "" && class != analysis.ClassUnknown &&
		!class.IsSuspect() {
		parts = append(parts, s.Measured+": clean in build "+s.LastSeen)
	}
	if says := leaks.DescribeScenarios(rest, s.FixedIn); says != "" {
		parts = append(parts, says)
	}
	return strings.Join(parts, "; ")
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
