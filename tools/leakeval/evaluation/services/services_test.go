package services

import (
	"math"
	"math/rand/v2"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

const seeds = 12

// play plays a behaviour of a seed over a run of a random length.
func play(b *behaviour.Behaviour, seed uint64) *behaviour.Stack {
	r := rand.New(rand.NewPCG(seed, 77))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, 1800*math.Pow(24, r.Float64())))
	b.Play(s)
	return s
}

func TestBehaviours(t *testing.T) {
	names := make(map[string]bool)
	for i := range Behaviours {
		b := &Behaviours[i]
		if b.Name == "" || b.Why == "" || names[b.Name] {
			t.Errorf("%q: no name, no reason, or a name that is taken", b.Name)
		}
		names[b.Name] = true
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			unfair := 0
			for seed := range uint64(seeds) {
				s := play(b, seed)
				checkLimits(t, s, seed)
				if b.Truth == behaviour.Leaks && !losesEnough(s) ||
					b.Truth == behaviour.Innocent && !isOverItsGrowth(s) {
					unfair++
				}
			}
			allowed := map[behaviour.Truth]int{behaviour.Leaks: 2, behaviour.Innocent: 4}[b.Truth]
			if unfair > allowed {
				t.Errorf("%d of %d runs do not confirm what is declared, at most %d may", unfair, seeds, allowed)
			}
		})
	}
}

func checkLimits(t *testing.T, s *behaviour.Stack, seed uint64) {
	t.Helper()
	list := s.Allocations()
	if len(list) == 0 || len(list) > 30000 {
		t.Errorf("seed %d: %d allocations", seed, len(list))
	}
	for _, a := range list {
		isSane := a.Born >= 0 && a.Born <= 1.1*s.Seconds+60 && a.Died > a.Born && a.Bytes > 0 && a.Bytes < 1<<28
		if !isSane || a.Died > 10*s.Seconds && a.Died != behaviour.Never {
			t.Fatalf("seed %d: allocation %+v in a run of %.0f s", seed, a, s.Seconds)
		}
	}
	if most := s.MostLive(0, s.Seconds); most > 4200 {
		t.Errorf("seed %d: %d blocks live at once", seed, most)
	}
}

// losesEnough reports whether at least 12 blocks are lost in at least 6 places of 24, by time or by work, or whether
// a block has moved eight times.
func losesEnough(s *behaviour.Stack) bool {
	lost := 0
	byTime, byWork := make(map[int]bool), make(map[int]bool)
	moves := make([]int, len(s.Allocations()))
	for i, a := range s.Allocations() {
		if a.MovedFrom >= 0 && a.Born < s.Seconds {
			if moves[i] = moves[a.MovedFrom] + 1; moves[i] >= 8 {
				return true
			}
		}
		if a.Died == behaviour.Never && a.Born < s.Seconds {
			lost++
			byTime[int(24*a.Born/s.Seconds)], byWork[int(24*s.Work(a.Born))] = true, true
		}
	}
	return lost >= 12 && (len(byTime) >= 6 || len(byWork) >= 6)
}

// isOverItsGrowth reports whether hardly more is live at the end than at some time in the middle of the run.
func isOverItsGrowth(s *behaviour.Stack) bool {
	end := s.MostLive(s.Seconds*(1-1e-9), s.Seconds)
	byTime := s.MostLive(0.3*s.Seconds, 0.67*s.Seconds)
	byWork := s.MostLive(s.WhenDone(0.3), s.WhenDone(0.67))
	return float64(end) <= 1.35*float64(max(byTime, byWork))+8
}
