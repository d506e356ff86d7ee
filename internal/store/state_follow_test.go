package store

import (
	"math/rand/v2"
	"testing"
)

// sightingsOf reads "3L 4. 5C/2": builds with what they say (Leak, Growing, Clean, ? undecided) in scenario 1 or that behind the slash.
func sightingsOf(t *testing.T, text string) []sighting {
	t.Helper()
	var list []sighting
	at := sighting{build: -1}
	for _, r := range text + " " {
		switch {
		case r >= '0' && r <= '9' && at.scenario < 0:
			at.scenario = int64(r - '0')
		case r >= '0' && r <= '9':
			at.build = max(0, at.build)*10 + int(r-'0')
		case r == '/':
			at.scenario = -1
		case r == ' ':
			if at.build >= 0 {
				at.scenario = max(at.scenario, 1)
				list = append(list, at)
			}
			at = sighting{build: -1}
		default:
			at.seen = map[rune]seen{'L': leaking, 'G': growing, 'C': clean, '?': undecided}[r]
		}
	}
	return list
}

func TestFollow(t *testing.T) {
	none := said{-1, -1}
	for _, test := range []struct {
		history                                 string
		word                                    said
		state                                   State
		firstBad, lastClean, fixedIn, regressed int
	}{
		{"", none, "", -1, -1, -1, -1},
		{"1C 2C 3?", none, "", -1, -1, -1, -1},
		{"1L", none, StateNew, 1, -1, -1, -1},
		{"1C 2L", none, StateNew, 2, 1, -1, -1},
		{"1C 2? 5L 6L", none, StateOngoing, 5, 1, -1, -1}, // what cannot tell narrows nothing
		{"1G", none, StateNew, 1, -1, -1, -1},
		{"1C 2G 3L", none, StateOngoing, 2, 1, -1, -1},      // growth that turned out to be a leak
		{"1G 2C 3L", none, StateRegressed, 3, 2, 2, 3},      // growth that ended was none
		{"1L 2C", none, StateFixed, 1, -1, 2, -1},           // by a run that exercised it
		{"1L 2C/2", none, StateNew, 1, -1, -1, -1},          // another scenario proves nothing
		{"1L 1L/2 2C", none, StateNew, 1, -1, -1, -1},       // nor one of two
		{"1L 1L/2 2C 3C/2", none, StateFixed, 1, -1, 3, -1}, // both do
		{"1L 2C 3L/2", none, StateRegressed, 1, -1, 2, 3},   // in any scenario
		{"1L 2C 3G", none, StateFixed, 1, -1, 2, -1},        // growth is no proof
		{"1L 2C 3L 4C", none, StateFixed, 1, -1, 4, -1},     // fixed again
		{"1L 2C 3L 4L", none, StateRegressed, 1, -1, 2, 3},  // regressed until it is fixed
		{"1L 2L", said{2, -1}, StateFixed, 1, -1, 2, -1},    // the team's word
		{"1L 2L 3L", said{2, -1}, StateRegressed, 1, -1, 2, 3},
		{"1L 3?", said{2, -1}, StateFixed, 1, -1, 2, -1},
		{"1L", said{5, -1}, StateFixed, 1, -1, 5, -1},
		{"1L 2C 3C", said{3, -1}, StateFixed, 1, -1, 2, -1}, // runs knew before
		{"1L/1 1C/2 3L/2", none, StateOngoing, 1, -1, -1, -1},
		{"1C/1 2C/2 3L/2 3L/1", none, StateNew, 3, 2, -1, -1}, // the narrower interval
		{"3L 3L/2", none, StateNew, 3, -1, -1, -1},
	} {
		f := follow(sightingsOf(t, test.history), test.word)
		if f.state != test.state || f.firstBad != test.firstBad || f.lastClean != test.lastClean || f.fixedIn != test.fixedIn || f.regressedIn != test.regressed {
			t.Errorf("%q, %+v: %+v", test.history, test.word, f)
		}
	}
	if f := follow(sightingsOf(t, "1L 4L"), said{-1, 3}); !f.untilOver {
		t.Error("known until 3 and bad in 4 is over")
	}
	if f := follow(sightingsOf(t, "1L 2L 4C"), said{-1, 3}); f.untilOver {
		t.Error("known until 3 and clean in 4 is not over")
	}
}

// What every history has to obey, whatever it is.
func TestFollowAlways(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var list []sighting
		for build := range rng.IntN(8) {
			for scenario := range int64(2) {
				if rng.IntN(3) > 0 {
					list = append(list, sighting{build, scenario, seen(rng.IntN(4))})
				}
			}
		}
		word := said{rng.IntN(10) - 2, -1}
		f := follow(list, word)
		bad := false
		for _, s := range list {
			bad = bad || s.seen.bad()
			if f.state == StateFixed && s.seen == leaking && s.build > f.fixedIn {
				t.Fatalf("%v %v: fixed, and leaks later: %+v", list, word, f)
			}
		}
		switch {
		case bad != (f.state != StateNone), bad != (f.firstBad >= 0), bad != (f.lastBad >= 0):
			t.Fatalf("%v %v: %+v", list, word, f)
		case f.lastClean >= f.firstBad && bad, f.lastBad > f.lastSeen, f.firstBad > f.lastBad:
			t.Fatalf("%v %v: order of %+v", list, word, f)
		case f.state == StateRegressed && f.regressedIn <= f.fixedIn:
			t.Fatalf("%v %v: regressed before it was fixed: %+v", list, word, f)
		}
	}
}

func BenchmarkFollow(b *testing.B) {
	var list []sighting
	for build := range 1000 {
		list = append(list, sighting{build, 1, seen(build / 100 % 4)})
	}
	for b.Loop() {
		follow(list, said{-1, -1})
	}
	b.ReportMetric(float64(b.N)*float64(len(list))/b.Elapsed().Seconds(), "builds/s")
}
