package leaks_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
)

var said = map[byte]leaks.Judgement{'L': leaks.JudgedLeaking, 'G': leaks.JudgedGrowing, 'C': leaks.JudgedClean,
	'?': leaks.JudgedUndecided, 'A': leaks.JudgedUndecided}

// sightings reads a history such as "1L 2? 3C/2": builds with their judgement (L leaking, G growing, C clean, ?
// undecided, A absent) in scenario 1, or in the scenario behind the slash.
func sightings(t *testing.T, text string) []leaks.Sighting {
	t.Helper()
	var list []leaks.Sighting
	for word := range strings.FieldsSeq(text) {
		at, scenario, other := strings.Cut(word, "/")
		judgement, ok := said[at[len(at)-1]]
		build, err := strconv.Atoi(at[:len(at)-1])
		if err != nil || !ok {
			t.Fatalf("%q is no sighting", word)
		}
		s := leaks.Sighting{BuildIndex: build, ScenarioID: 1, Judgement: judgement, Absent: at[len(at)-1] == 'A',
			AsFastAsLeak: at[len(at)-1] == 'G'}
		if other {
			if s.ScenarioID, err = strconv.ParseInt(scenario, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, s)
	}
	return list
}

// unmarked are the marks of a signature of which the team has said nothing.
var unmarked = leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1}

// fixedIn are the marks of a signature that the team calls fixed in a build.
func fixedIn(build int) leaks.MarkedBuilds { return leaks.MarkedBuilds{FixedIn: build, KnownUntil: -1} }

// knownUntil are the marks of a signature that the team tolerates until a build.
func knownUntil(build int) leaks.MarkedBuilds {
	return leaks.MarkedBuilds{FixedIn: -1, KnownUntil: build}
}

// failedIn are the marks of a signature for which builds have failed.
func failedIn(builds ...int) leaks.MarkedBuilds {
	return leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1, FailedIn: builds}
}

// owned are the marks of a signature that somebody has taken.
var owned = leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1, Owned: true}

// since are the marks of a signature whose scenario has its first result in a build.
func since(first int) leaks.MarkedBuilds {
	return leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1, FirstByScenario: map[int64]int{1: first}}
}

// A leak stays new until a build has failed for it or somebody has taken it. What the first build of a scenario shows
// is found.
func TestNewUntilItWasSaid(t *testing.T) {
	for _, test := range []struct {
		history      string
		marks        leaks.MarkedBuilds
		state        leaks.State
		after, since int
	}{
		{"1C 2L", failedIn(2), leaks.StateOngoing, 1, 2},
		{"1C 2L 3L", failedIn(3), leaks.StateOngoing, 1, 2},
		{"1C 2L", failedIn(1), leaks.StateNew, 1, 2}, // that was of the leak before it was clean
		{"1C 2L", owned, leaks.StateOngoing, 1, 2},
		{"1L 2C 3L", failedIn(1), leaks.StateRegressed, 2, 3},
		{"1L 2L", since(1), leaks.StateFound, -1, 1},
		{"1L 2L", since(0), leaks.StateNew, -1, 1}, // the build before does not show it
		{"1? 2L", since(1), leaks.StateFound, -1, 2},
		{"1C 2L", since(1), leaks.StateNew, 1, 2},
		{"1L 2C 3L", since(1), leaks.StateRegressed, 2, 3},
		{"1L", leaks.MarkedBuilds{FixedIn: -1, KnownUntil: -1, FailedIn: []int{1}, FirstByScenario: map[int64]int{1: 1}}, leaks.StateOngoing, -1, 1},
	} {
		c := leaks.Follow(sightings(t, test.history), test.marks)
		if c.State != test.state || c.After != test.after || c.Since != test.since {
			t.Errorf("%q, %+v: %s between %d and %d, want %s between %d and %d", test.history, test.marks, c.State, c.After, c.Since,
				test.state, test.after, test.since)
		}
	}
}

func TestFollow(t *testing.T) {
	for _, test := range []struct {
		history                                 string
		marks                                   leaks.MarkedBuilds
		state                                   leaks.State
		firstBad, lastClean, fixedIn, regressed int
	}{
		{"", unmarked, leaks.StateNone, -1, -1, -1, -1},
		{"1C 2C 3?", unmarked, leaks.StateNone, -1, -1, -1, -1},
		{"1L", unmarked, leaks.StateNew, 1, -1, -1, -1},
		{"1C 2L", unmarked, leaks.StateNew, 2, 1, -1, -1},
		{"1C 2? 5L 6L", unmarked, leaks.StateNew, 5, 1, -1, -1}, // what cannot tell narrows nothing
		{"1L 2A", unmarked, leaks.StateFixed, 1, -1, 2, -1},     // nothing is left of it, and its callers ran
		{"1A 2L", unmarked, leaks.StateNew, 2, 1, -1, -1},       // its callers ran, and left nothing
		{"1C 2A 3L", unmarked, leaks.StateNew, 3, 2, -1, -1},
		{"1L 2A 3L", unmarked, leaks.StateRegressed, 1, -1, 2, 3},
		{"1L 2A 3G", unmarked, leaks.StateFixed, 1, -1, 2, -1},
		{"1L 1L/2 2A", unmarked, leaks.StateNew, 1, -1, -1, -1},
		{"1L 1L/2 2A 3A/2", unmarked, leaks.StateFixed, 1, -1, 3, -1},
		{"1A 2A", unmarked, leaks.StateNone, -1, -1, -1, -1},
		{"1G", unmarked, leaks.StateNew, 1, -1, -1, -1},
		{"1C 2G 3L", unmarked, leaks.StateNew, 2, 1, -1, -1},          // growth that turned out to be a leak
		{"1G 2C 3L", unmarked, leaks.StateRegressed, 3, 2, 2, 3},      // growth that ended was none
		{"1L 2C", unmarked, leaks.StateFixed, 1, -1, 2, -1},           // by a run that exercised it
		{"1L 2C/2", unmarked, leaks.StateNew, 1, -1, -1, -1},          // another scenario proves nothing
		{"1L 1L/2 2C", unmarked, leaks.StateNew, 1, -1, -1, -1},       // nor one of two
		{"1L 1L/2 2C 3C/2", unmarked, leaks.StateFixed, 1, -1, 3, -1}, // both do
		{"1L 2C 3L/2", unmarked, leaks.StateRegressed, 1, -1, 2, 3},   // in any scenario
		{"1L 2C 3G", unmarked, leaks.StateFixed, 1, -1, 2, -1},        // growth is no proof
		{"1L 2C 3L 4C", unmarked, leaks.StateFixed, 1, -1, 4, -1},     // fixed again
		{"1L 2C 3L 4L", unmarked, leaks.StateRegressed, 1, -1, 2, 3},  // regressed until it is fixed
		{"1L 2L", fixedIn(1), leaks.StateRegressed, 1, -1, 1, 2},      // the team's word, and a leak behind it
		{"1L 2L", fixedIn(2), leaks.StateFixed, 1, -1, 2, -1},         // in the build itself
		{"1L 2L", fixedIn(3), leaks.StateFixed, 1, -1, 3, -1},         // and before
		{"1L 2L 3L", fixedIn(2), leaks.StateRegressed, 1, -1, 2, 3},
		{"1L 3?", fixedIn(2), leaks.StateFixed, 1, -1, 2, -1},
		{"1L", fixedIn(5), leaks.StateFixed, 1, -1, 5, -1},
		{"1L 2C 3C", fixedIn(3), leaks.StateFixed, 1, -1, 2, -1}, // runs knew before
		{"1C 2C", fixedIn(1), leaks.StateNone, -1, -1, -1, -1},   // there was nothing to fix
		{"1L/1 1C/2 3L/2", unmarked, leaks.StateNew, 1, -1, -1, -1},
		{"1C/1 2C/2 3L/2 3L/1", unmarked, leaks.StateNew, 3, 2, -1, -1}, // the narrower interval
		{"3L 3L/2", unmarked, leaks.StateNew, 3, -1, -1, -1},
	} {
		c := leaks.Follow(sightings(t, test.history), test.marks)
		if c.State != test.state || c.FirstBad != test.firstBad || c.LastClean != test.lastClean ||
			c.FixedIn != test.fixedIn || c.RegressedIn != test.regressed {
			t.Errorf("%q, %+v: %+v", test.history, test.marks, c)
		}
	}
}

// A toleration until a build is over once that build, or a newer one, is bad.
func TestFollowUntilABuild(t *testing.T) {
	for history, over := range map[string]bool{
		"1L 2L": false, "1L 3L": true, "1L 4L": true, "1L 3G": true, "1L 3C": false, "1L 3?": false, "1L 2L 4C": false,
		"1L 3L 4C": true, "3C 3L/2": true,
	} {
		if c := leaks.Follow(sightings(t, history), knownUntil(3)); c.UntilOver != over {
			t.Errorf("%q, known until 3: over %v, want %v", history, c.UntilOver, over)
		}
		if c := leaks.Follow(sightings(t, history), unmarked); c.UntilOver {
			t.Errorf("%q, known until no build: over", history)
		}
	}
}

func TestFollowNamesBuildsAndWhoKnows(t *testing.T) {
	for _, test := range []struct {
		history           string
		marks             leaks.MarkedBuilds
		lastBad, lastSeen int
		worst             leaks.Judgement
		byRuns            bool
	}{
		{"", unmarked, -1, -1, leaks.JudgedUndecided, false},
		{"1?", unmarked, -1, 1, leaks.JudgedUndecided, false},
		{"1C 2?", unmarked, -1, 2, leaks.JudgedClean, false},
		{"1L 2G 3C 4?", unmarked, 2, 4, leaks.JudgedLeaking, true},
		{"1G", unmarked, 1, 1, leaks.JudgedGrowing, false},
		{"1L 2L", fixedIn(2), 2, 2, leaks.JudgedLeaking, false},
		{"1L 2C", fixedIn(1), 1, 2, leaks.JudgedLeaking, false}, // the team said it first
		{"1L 2C", fixedIn(2), 1, 2, leaks.JudgedLeaking, true},
		{"1C", fixedIn(1), -1, 1, leaks.JudgedClean, false},
	} {
		c := leaks.Follow(sightings(t, test.history), test.marks)
		if c.LastBad != test.lastBad || c.LastSeen != test.lastSeen || c.Worst != test.worst || c.FixedByRuns != test.byRuns {
			t.Errorf("%q, %+v: %+v", test.history, test.marks, c)
		}
	}
}

// These laws hold for every history.
func TestFollowAlways(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var list []leaks.Sighting
		for build := range rng.IntN(8) {
			for scenario := range int64(2) {
				if rng.IntN(3) > 0 {
					list = append(list, leaks.Sighting{BuildIndex: build, ScenarioID: scenario, Judgement: leaks.Judgement(rng.IntN(4))})
				}
			}
		}
		marks := leaks.MarkedBuilds{FixedIn: rng.IntN(10) - 2, KnownUntil: rng.IntN(10) - 2}
		c := leaks.Follow(list, marks)
		bad, over := false, false
		for _, s := range list {
			bad = bad || s.Judgement.IsBad()
			over = over || s.Judgement.IsBad() && marks.KnownUntil >= 0 && s.BuildIndex >= marks.KnownUntil
			if c.State == leaks.StateFixed && s.Judgement == leaks.JudgedLeaking && s.BuildIndex > c.FixedIn {
				t.Fatalf("%v %v: fixed, and leaks later: %+v", list, marks, c)
			}
		}
		switch {
		case bad != (c.State != leaks.StateNone), bad != (c.FirstBad >= 0), bad != (c.LastBad >= 0), over != c.UntilOver:
			t.Fatalf("%v %v: %+v", list, marks, c)
		case c.LastClean >= c.FirstBad && bad, c.LastBad > c.LastSeen, c.FirstBad > c.LastBad:
			t.Fatalf("%v %v: order of %+v", list, marks, c)
		case c.State == leaks.StateRegressed && c.RegressedIn <= c.FixedIn:
			t.Fatalf("%v %v: regressed before it was fixed: %+v", list, marks, c)
		}
	}
}

func BenchmarkFollow(b *testing.B) {
	var list []leaks.Sighting
	for build := range 1000 {
		list = append(list, leaks.Sighting{BuildIndex: build, ScenarioID: 1, Judgement: leaks.Judgement(build / 100 % 4)})
	}
	for b.Loop() {
		leaks.Follow(list, unmarked)
	}
	b.ReportMetric(float64(b.N)*float64(len(list))/b.Elapsed().Seconds(), "builds/s")
}

// A leak that a place has in the first build of a scenario is found there, unless the runs since tell that it began: in
// the first build that was bad, or in a later one of the same episode.
func TestFoundUnlessItBegan(t *testing.T) {
	for began, found := range map[int]bool{-1: true, 1: false, 2: false} {
		list := sightings(t, "1? 2L 3L")
		if began >= 0 {
			list[began].Began = true
		}
		if c := leaks.Follow(list, since(1)); c.Found != found || c.Since != 2 || c.After != -1 {
			t.Errorf("began %d: %+v", began, c)
		}
	}
	list := sightings(t, "1G 2L 3L")
	list[1].Began = true
	if c := leaks.Follow(list, since(1)); !c.Found {
		t.Errorf("bad in the first build: %+v", c)
	}
}
