package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
)

// A ScenarioHistory is the history of a leak in one scenario that it was bad in. Builds are indexes in the BuildOrder,
// −1 for none.
type ScenarioHistory struct {
	ScenarioID      int64 // id
	Open            bool  // bad, and not clean since; a signature is fixed when no scenario is open
	FirstBad        BuildIndex
	LastBad         BuildIndex
	FirstCleanAfter BuildIndex // the first build after LastBad that is clean
	Absent          bool       // FirstCleanAfter does not show it although its callers ran
	LastUndecided   BuildIndex // the newest build after LastBad that shows it and does not decide
	LastSeen        BuildIndex // the newest build that shows it
}

// historyByScenario follows sightings, which are ordered by build, in each scenario that was bad. open are those that
// were bad and not clean since.
func historyByScenario(sightings []Sighting, open map[int64]bool) []ScenarioHistory {
	at := map[int64]int{}
	var list []ScenarioHistory
	seen := map[int64]int{}
	for _, s := range sightings {
		if !s.Absent {
			seen[s.ScenarioID] = s.BuildIndex
		}
		k, bad := at[s.ScenarioID]
		if !bad {
			if !s.Judgement.IsBad() {
				continue
			}
			k = len(list)
			at[s.ScenarioID] = k
			list = append(list, ScenarioHistory{ScenarioID: s.ScenarioID, FirstBad: s.BuildIndex})
		}
		switch c := &list[k]; {
		case s.Judgement.IsBad():
			c.LastBad, c.FirstCleanAfter, c.Absent, c.LastUndecided = s.BuildIndex, -1, false, -1
		case s.isClean():
			if c.FirstCleanAfter < 0 {
				c.FirstCleanAfter, c.Absent = s.BuildIndex, s.Absent
			}
		default:
			c.LastUndecided = s.BuildIndex
		}
	}
	for i := range list {
		c := &list[i]
		c.Open, c.LastSeen = open[c.ScenarioID], seen[c.ScenarioID]
	}
	sorting.Stable(list, func(a, b ScenarioHistory) int { return int(a.ScenarioID - b.ScenarioID) })
	return list
}

// gravities order states, the gravest last.
var gravities = []State{StateNone, StateFixed, StateKnown, StateFound, StateNew, StateOngoing, StateRegressed}

// GravestState returns the gravest of states; StateNone for none.
func GravestState(list ...State) State {
	gravest := StateNone
	for _, s := range list {
		if slices.Index(gravities, s) > slices.Index(gravities, gravest) {
			gravest = s
		}
	}
	return gravest
}

// InScenario is the state in one scenario of a leak with the state s overall: s where the leak is open there, else
// fixed. A tolerated leak is tolerated everywhere.
func (s State) InScenario(open bool) State {
	if open || s == StateNone || s == StateKnown {
		return s
	}
	return StateFixed
}

// A ScenarioState is the state of a leak in one scenario that it was bad in, and what is missing until it is fixed
// there. Builds are given by name; "" is none.
type ScenarioState struct {
	Scenario        string
	State           State
	FirstBad        string
	LastBad         string
	FirstCleanAfter string  // the first build after LastBad that is clean
	Absent          bool    // FirstCleanAfter does not show it although its callers ran
	LastUndecided   string  // the newest build after LastBad that shows it and does not decide
	Bad             *Figure // numbers in LastBad; nil where its run has been deleted
	Now             *Figure // numbers in NowBuild
	NowBuild        string  // the newest build that shows it in the scenario
	open            bool
}

// NewScenarioState sets the State of s: over is the state of the leak overall, and open says that it is not fixed in
// the scenario.
func NewScenarioState(s ScenarioState, over State, open bool) ScenarioState {
	s.State, s.open = over.InScenario(open), open
	return s
}

// Text describes the leak in the scenario and, where it is open, what is missing. fixed names the build in which the
// leak is fixed overall.
func (s *ScenarioState) Text(fixed string) string {
	switch {
	case s.FirstCleanAfter != "" && s.Absent:
		return fmt.Sprintf("gone in build %s (its callers ran)", s.FirstCleanAfter)
	case s.FirstCleanAfter != "":
		return "clean in build " + s.FirstCleanAfter
	case s.open && s.LastUndecided != "":
		return fmt.Sprintf("not retested since build %s, where it leaked: build %s is inconclusive",
			s.LastBad, s.LastUndecided)
	case s.open:
		return fmt.Sprintf("not retested since build %s, where it leaked", s.LastBad)
	case fixed != "":
		return fmt.Sprintf("fixed in build %s; leaked last in build %s", fixed, s.LastBad)
	}
	return "leaked last in build " + s.LastBad
}

// IsOpen reports whether the leak was bad in the scenario and not clean since.
func (s *ScenarioState) IsOpen() bool { return s.open }

// DescribeScenarios describes a leak in all scenarios, those where it is clean first.
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
