package leaks_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

func TestScenarios(t *testing.T) {
	for _, test := range []struct {
		history string
		marks   leaks.MarkedBuilds
		want    []leaks.ScenarioHistory
	}{
		{"1C 2C", unmarked, nil},
		{"1L", unmarked, []leaks.ScenarioHistory{{1, true, 1, 1, -1, false, -1, 1}}},
		{"1L 2C", unmarked, []leaks.ScenarioHistory{{1, false, 1, 1, 2, false, -1, 2}}},
		{"1L 2A", unmarked, []leaks.ScenarioHistory{{1, false, 1, 1, 2, true, -1, 1}}},
		{"1L 1L/2 2C 3C", unmarked, []leaks.ScenarioHistory{{1, false, 1, 1, 2, false, -1, 3}, {2, true, 1, 1, -1, false, -1, 1}}}, // the other one never decides
		{"1L 1L/2 2C 2?/2", unmarked,
			[]leaks.ScenarioHistory{{1, false, 1, 1, 2, false, -1, 2}, {2, true, 1, 1, -1, false, 2, 2}}},
		{"1L 2C 3L/2", unmarked,
			[]leaks.ScenarioHistory{{1, false, 1, 1, 2, false, -1, 2}, {2, true, 3, 3, -1, false, -1, 3}}},
		{"1L 1L/2 2?", fixedIn(2),
			[]leaks.ScenarioHistory{{1, false, 1, 1, -1, false, 2, 2}, {2, false, 1, 1, -1, false, -1, 1}}},
		{"1L 2C 3G", unmarked, []leaks.ScenarioHistory{{1, false, 1, 3, -1, false, -1, 3}}}, // growth behind a fix is no proof
	} {
		if got := leaks.Follow(sightings(t, test.history), test.marks).Scenarios; !slices.Equal(got, test.want) {
			t.Errorf("%q: %+v, want %+v", test.history, got, test.want)
		}
	}
}

// For any history and any triage, the state over all scenarios is the gravest of theirs. No signature is fixed over all
// while it is open in one.
func TestStateIsTheGravest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var history []leaks.Sighting
		for build := range 1 + random.IntN(6) {
			for scenario := range int64(3) {
				if random.IntN(2) == 0 {
					s := leaks.Sighting{BuildIndex: build, ScenarioID: scenario, Judgement: leaks.Judgement(random.IntN(4))}
					if s.Judgement == leaks.JudgedUndecided {
						s.Absent = random.IntN(2) == 0
					}
					history = append(history, s)
				}
			}
		}
		marks := leaks.MarkedBuilds{FixedIn: random.IntN(8) - 2, KnownUntil: -1}
		c := leaks.Follow(history, marks)
		shuffled := slices.Clone(history) // within a build scenarios may come in any order
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		slices.SortStableFunc(shuffled, func(a, b leaks.Sighting) int { return a.BuildIndex - b.BuildIndex })
		if again := leaks.Follow(shuffled, marks); !slices.Equal(again.Scenarios, c.Scenarios) || again.State != c.State {
			t.Fatalf("%+v: %+v, and in another order %+v", history, c, again)
		}
		for _, over := range []leaks.State{c.State, leaks.StateKnown} {
			var states []leaks.State
			open := false
			for _, s := range c.Scenarios {
				states = append(states, over.InScenario(s.Open))
				open = open || s.Open
			}
			if got := leaks.GravestState(states...); c.State != leaks.StateNone && got != over {
				t.Fatalf("%+v, fixed in %d: over all %q, of the scenarios %q", history, marks.FixedIn, over, states)
			}
			if open && c.State == leaks.StateFixed {
				t.Fatalf("%+v: fixed, and open in a scenario", history)
			}
		}
	}
}

func TestSayStates(t *testing.T) {
	list := []leaks.ScenarioState{
		leaks.NewScenarioState(leaks.ScenarioState{Scenario: "soak", LastBad: "1"}, leaks.StateNew, true),
		leaks.NewScenarioState(leaks.ScenarioState{Scenario: "trace", LastBad: "1", FirstCleanAfter: "2"}, leaks.StateNew, false),
		leaks.NewScenarioState(leaks.ScenarioState{Scenario: "idle", LastBad: "1", LastUndecided: "2"}, leaks.StateNew, true),
		leaks.NewScenarioState(leaks.ScenarioState{Scenario: "load", LastBad: "1", FirstCleanAfter: "2", Absent: true},
			leaks.StateNew, false),
	}
	if list[0].State != leaks.StateNew || list[1].State != leaks.StateFixed {
		t.Errorf("%+v", list)
	}
	want := []string{
		"trace: clean in build 2", "load: gone in build 2 (its callers ran)",
		"soak: not retested since build 1, where it leaked",
		"idle: not retested since build 1, where it leaked: build 2 is inconclusive",
	}
	if got := leaks.DescribeScenarios(list, ""); got != strings.Join(want, "; ") {
		t.Error(got)
	}
}
