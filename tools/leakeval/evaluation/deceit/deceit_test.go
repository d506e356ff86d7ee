package deceit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

const (
	seeds     = 12
	stretches = 24
)

// eachPlay plays a behaviour with every seed.
func eachPlay(b *behaviour.Behaviour, see func(seed uint64, s *behaviour.Stack)) {
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 17))
		seconds := 1800 + r.Float64()*(43200-1800)
		s := behaviour.NewStack(r, behaviour.NewLoad(r, seconds))
		b.Play(s)
		see(seed, s)
	}
}

func TestNamesAreUniqueAndSayWhy(t *testing.T) {
	seen := make(map[string]bool)
	for _, b := range Behaviours {
		if b.Name == "" || b.Why == "" || b.Play == nil || seen[b.Name] {
			t.Errorf("%q has no name of its own, no reason or no play", b.Name)
		}
		seen[b.Name] = true
	}
}

func TestPlaysAreWithinLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for i := range Behaviours {
		b := &Behaviours[i]
		eachPlay(b, func(seed uint64, s *behaviour.Stack) {
			list := s.Allocations()
			if len(list) < 30 || len(list) > 30000 {
				t.Errorf("%s, seed %d: %d allocations", b.Name, seed, len(list))
			}
			if most := s.MostLive(0, s.Seconds); most > 4000 {
				t.Errorf("%s, seed %d: %d blocks live at once", b.Name, seed, most)
			}
			for _, a := range list {
				isSane := a.Born >= 0 && a.Died > a.Born && a.Bytes > 0 && a.Bytes < 1<<30 && !math.IsInf(a.Died, 0)
				if !isSane || a.MovedFrom >= 0 && list[a.MovedFrom].Died != a.Born {
					t.Fatalf("%s, seed %d: %+v in a run of %.0f s", b.Name, seed, a, s.Seconds)
				}
			}
		})
	}
}

// loses reports whether a run loses enough blocks in enough places, or one block that is moved often enough.
func loses(s *behaviour.Stack) bool {
	byTime, byWork := make(map[int]bool), make(map[int]bool)
	lost := 0
	list := s.Allocations()
	for _, a := range list {
		if a.Died < behaviour.Never || a.Born > s.Seconds {
			continue
		}
		lost++
		byTime[int(stretches*a.Born/s.Seconds)] = true
		byWork[int(stretches*s.Work(a.Born))] = true
		moves := 0
		for from := a.MovedFrom; from >= 0; from = list[from].MovedFrom {
			moves++
		}
		if moves >= 8 {
			return true
		}
	}
	return lost >= 12 && max(len(byTime), len(byWork)) >= 6
}

func TestLeaksLoseThroughoutTheRun(t *testing.T) {
	for i := range Behaviours {
		b, failed := &Behaviours[i], 0
		if b.Truth != behaviour.Leaks {
			continue
		}
		eachPlay(b, func(_ uint64, s *behaviour.Stack) {
			if !loses(s) {
				failed++
			}
		})
		if failed > seeds/20 {
			t.Errorf("%s loses too little in %d of %d runs", b.Name, failed, seeds)
		}
	}
}

// An innocent stack holds no more in the end than it did before, or it never held any block for long.
func TestInnocentsAreBoundedOrFree(t *testing.T) {
	for i := range Behaviours {
		b, failed := &Behaviours[i], 0
		if b.Truth != behaviour.Innocent {
			continue
		}
		eachPlay(b, func(seed uint64, s *behaviour.Stack) {
			before, last := s.MostLive(0, s.WhenDone(0.86)), s.MostLive(s.Seconds, s.Seconds)
			isShort := !slices.ContainsFunc(s.Allocations(), func(a behaviour.Allocation) bool {
				return min(a.Died, s.Seconds)-a.Born > s.Seconds/5
			})
			if float64(last) > 1.1*float64(before)+5 && !isShort {
				failed++
				t.Logf("%s, seed %d: %d before, %d in the end", b.Name, seed, before, last)
			}
		})
		if failed > seeds/20 {
			t.Errorf("%s looks unbounded in %d of %d runs", b.Name, failed, seeds)
		}
	}
}
