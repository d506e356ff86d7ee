package leaks

import (
	"fmt"
	"slices"
	"strings"
)

// A ScenarioHistory is what follows from the sightings of a signature in one scenario that it was bad in. Its numbers
// are builds: indexes in the BuildOrder, −1 for none.
type ScenarioHistory struct {
	Scenario        int64
	Open            bool // bad, and not clean since; a signature is fixed when no scenario is open
	FirstBad        int
	LastBadBuild    int
	FirstCleanAfter int  // the first build behind LastBadBuild that is clean
	Absent          bool // FirstCleanAfter shows nothing of it, and its callers ran
	Tried           int  // the newest build behind LastBadBuild that shows it and does not decide
	LastSeen        int  // the newest build that shows it
}

// historyByScenario follows sightings, which are ordered by build, in each scenario that was bad. open are those that
// were bad and not clean since.
func historyByScenario(sightings []Sighting, open map[int64]bool) []ScenarioHistory {
	at := map[int64]int{}
	var list []ScenarioHistory
	seen := map[int64]int{}
	for _, s := range sightings {
		if !s.Absent {
			seen[s.Scenario] = s.BuildIndex
		}
		k, bad := at[s.Scenario]
		if !bad {
			if !s.Judgement.IsBad() {
				continue
			}
			k = len(list)
			at[s.Scenario] = k
			list = append(list, ScenarioHistory{Scenario: s.Scenario, FirstBad: s.BuildIndex})
		}
		switch c := &list[k]; {
		case s.Judgement.IsBad():
			c.LastBadBuild, c.FirstCleanAfter, c.Absent, c.Tried = s.BuildIndex, -1, false, -1
		case s.isClean():
			if c.FirstCleanAfter < 0 {
				c.FirstCleanAfter, c.Absent = s.BuildIndex, s.Absent
			}
		default:
			c.Tried = s.BuildIndex
		}
	}
	for i := range list {
		c := &list[i]
		c.Open, c.LastSeen = open[c.Scenario], seen[c.Scenario]
	}
	slices.SortFunc(list, func(a, b ScenarioHistory) int { return int(a.Scenario - b.Scenario) })
	return list
}

// gravities order states, the gravest last.
var gravities = []State{StateNone, StateFixed, StateKnown, StateFound, StateNew, StateOngoing, StateRegressed}

// GravestState is the gravest of states; none for none.
func GravestState(list ...State) State {
	gravest := StateNone
	for _, s := range list {
		if slices.Index(gravities, s) > slices.Index(gravities, gravest) {
			gravest = s
		}
	}
	return gravest
}

// InScenario is the state in one scenario of a signature that has this state overall: the overall state where the
// signature is open there, else fixed. A tolerated signature is tolerated everywhere.
func (s State) InScenario(open bool) State {
	if open || s == StateNone || s == StateKnown {
		return s
	}
	return StateFixed
}

// A ScenarioState is how a leak stands in one scenario that it was bad in, and what is missing until it is fixed there.
// Builds are named; "" is none.
type ScenarioState struct {
	Scenario string
	State    State
	FirstBad string
	LastBad  string
	Clean    string
	Absent   bool
	Tried    string
	Bad      *Figure // in LastBad; nil where its run has gone
	Now      *Figure // in NowBuild, the newest that shows it in the scenario
	NowBuild string
	open     bool
}

// NewScenarioState is the state in a scenario of a signature that has a state over all.
func NewScenarioState(s ScenarioState, over State, open bool) ScenarioState {
	s.State, s.open = over.InScenario(open), open
	return s
}

// Text tells how the leak stands in the scenario and, where it is open, what is missing. fixed is the build that the
// leak is fixed in overall.
func (s *ScenarioState) Text(fixed string) string {
	switch {
	case s.Clean != "" && s.Absent:
		return fmt.Sprintf("gone in build %s (its callers ran)", s.Clean)
	case s.Clean != "":
		return "clean in build " + s.Clean
	case s.open && s.Tried != "":
		return fmt.Sprintf("not retested since build %s, where it leaked: build %s is inconclusive",
			s.LastBad, s.Tried)
	case s.open:
		return fmt.Sprintf("not retested since build %s, where it leaked", s.LastBad)
	case fixed != "":
		return fmt.Sprintf("fixed in build %s; leaked last in build %s", fixed, s.LastBad)
	}
	return "leaked last in build " + s.LastBad
}

// IsOpen reports whether the leak was bad in the scenario and not clean since.
func (s *ScenarioState) IsOpen() bool { return s.open }

// DescribeScenarios tells how a leak stands in all scenarios, those where it is clean first.
func DescribeScenarios(list []ScenarioState, fixed string) string {
	var clean, open []string
	for i := range list {
		s := &list[i]
		text := s.Scenario + ": " + s.Text(fixed)
		if s.open {
			open = append(open, text)
		} else {
			clean = append(clean, text)
		}
	}
	return strings.Join(append(clean, open...), "; ")
}
