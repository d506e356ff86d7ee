package servers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

const (
	seeds    = 12
	mostMade = 30_000
	mostLive = 4_000
)

// loadExplains are innocents that may end with more than they held before, because ever more is asked of them.
var loadExplains = map[string]bool{
	"front end: connections that grow in number all run long and end after a while": true,
}

func play(b *behaviour.Behaviour, seed int) *behaviour.Stack {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, 1800*math.Exp(r.Float64()*math.Log(24))))
	b.Play(s)
	return s
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Behaviours {
		if b.Name == "" || seen[b.Name] {
			t.Errorf("%q: name is empty or not unique", b.Name)
		}
		seen[b.Name] = true
		if !strings.HasSuffix(b.Why, ".") || b.Play == nil {
			t.Errorf("%q: no sentence or nothing to play", b.Name)
		}
	}
}

func TestBehaviours(t *testing.T) {
	for i := range Behaviours {
		b := &Behaviours[i]
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			var unfair []string
			for seed := range seeds {
				s := play(b, seed)
				check(t, s, seed)
				if fault := fairness(b, s); fault != "" {
					unfair = append(unfair, fmt.Sprintf("seed %d: %s", seed, fault))
				}
			}
			limit := seeds / 20
			if b.Truth == behaviour.Innocent {
				limit = seeds / 10
			}
			if len(unfair) > limit {
				t.Errorf("%d of %d runs: %s", len(unfair), seeds, strings.Join(unfair, "; "))
			}
		})
	}
}

// check reports everything that no stack may do.
func check(t *testing.T, s *behaviour.Stack, seed int) {
	list := s.Allocations()
	if len(list) < 5 || len(list) > mostMade {
		t.Errorf("seed %d: %d allocations", seed, len(list))
	}
	for _, a := range list {
		isSane := a.Born >= 0 && a.Born < 1.1*s.Seconds+120 && a.Died > a.Born &&
			(a.Died == behaviour.Never || a.Died < 20*s.Seconds)
		if !isSane || a.Bytes < 1 || a.Bytes > 1<<28 {
			t.Fatalf("seed %d: %+v in a run of %.0f s", seed, a, s.Seconds)
		}
	}
	if most := s.MostLive(0, s.Seconds); most > mostLive {
		t.Errorf("seed %d: %d live", seed, most)
	}
}

// fairness says why a run does not show what its behaviour claims, empty where it does.
func fairness(b *behaviour.Behaviour, s *behaviour.Stack) string {
	switch b.Truth {
	case behaviour.Leaks:
		if lost, byTime, byWork, chain := losses(s); chain < 8 && (lost < 12 || max(byTime, byWork) < 6) {
			return fmt.Sprintf("%d lost in %d and %d places, %d growths", lost, byTime, byWork, chain)
		}
	case behaviour.Innocent:
		byTime, end := s.MostLive(0.3*s.Seconds, 0.67*s.Seconds), s.MostLive(s.Seconds, s.Seconds)
		byWork := s.MostLive(s.WhenDone(0.3), s.WhenDone(0.67))
		if most := max(byTime, byWork); float64(end) > 1.35*float64(most)+8 && !loadExplains[b.Name] {
			return fmt.Sprintf("%d live at the end, %d before", end, most)
		}
	}
	return ""
}

// losses counts the blocks that are never freed, the places where they are born, and the growths of the longest chain.
func losses(s *behaviour.Stack) (lost, byTime, byWork, chain int) {
	var times, works [24]bool
	lengths := make([]int, len(s.Allocations()))
	for i, a := range s.Allocations() {
		if a.Born >= s.Seconds {
			continue
		}
		if a.MovedFrom >= 0 {
			lengths[i] = lengths[a.MovedFrom] + 1
			chain = max(chain, lengths[i])
		}
		if a.Died == behaviour.Never {
			lost++
			times[int(24*a.Born/s.Seconds)] = true
			works[min(23, int(24*s.Work(a.Born)))] = true
		}
	}
	for i := range times {
		if times[i] {
			byTime++
		}
		if works[i] {
			byWork++
		}
	}
	return lost, byTime, byWork, chain
}
