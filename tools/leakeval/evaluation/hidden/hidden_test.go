package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

const (
	seeds          = 12
	stretches      = 24
	mostAllocated  = 30000
	mostLive       = 4000
	leastLost      = 12
	leastMoves     = 8
	leastStretches = 6
)

// play plays a behaviour over a run of its own.
func play(b *behaviour.Behaviour, seed uint64) *behaviour.Stack {
	r := rand.New(rand.NewPCG(seed, 4711))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, behaviour.Geometric(1800, 43200, r.Float64())))
	b.Play(s)
	return s
}

// losses are the instants of losses: births of blocks that are never freed, and moves of a block that grows for ever.
func losses(s *behaviour.Stack) (lost, moved []float64) {
	list := s.Allocations()
	for _, a := range list {
		if a.Died != behaviour.Never {
			continue
		}
		lost = append(lost, a.Born)
		var chain []float64
		for from := a.MovedFrom; from >= 0; from = list[from].MovedFrom {
			chain = append(chain, list[from].Died)
		}
		if len(chain) > len(moved) {
			moved = chain
		}
	}
	return lost, moved
}

// spread is how many equal stretches of the time or of the work contain some of the instants.
func spread(s *behaviour.Stack, instants []float64) int {
	time, work := map[int]bool{}, map[int]bool{}
	for _, at := range instants {
		time[int(stretches*at/s.Seconds)] = true
		work[int(stretches*s.Work(at))] = true
	}
	return max(len(time), len(work))
}

func TestNames(t *testing.T) {
	seen, truths := map[string]bool{}, map[behaviour.Truth]int{}
	for _, b := range Behaviours {
		if seen[b.Name] || b.Name == "" || b.Why == "" {
			t.Errorf("%q: its name is not unique, or something is missing", b.Name)
		}
		seen[b.Name] = true
		truths[b.Truth]++
	}
	if truths[behaviour.Leaks] != 18 || truths[behaviour.Innocent] != 22 || truths[behaviour.Undecidable] != 4 {
		t.Errorf("truths %v", truths)
	}
}

func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for i := range Behaviours {
		b := &Behaviours[i]
		for seed := range uint64(seeds) {
			s := play(b, seed)
			list := s.Allocations()
			if len(list) == 0 || len(list) > mostAllocated {
				t.Errorf("%s, seed %d: %d allocations", b.Name, seed, len(list))
			}
			if n := s.MostLive(0, math.Inf(1)); n > mostLive {
				t.Errorf("%s, seed %d: %d live at once", b.Name, seed, n)
			}
			for _, a := range list {
				if math.IsNaN(a.Born+a.Died) || a.Born < 0 || a.Born > s.Seconds*1.03 || a.Died <= a.Born || a.Bytes < 1 {
					t.Errorf("%s, seed %d: %+v in %g s", b.Name, seed, a, s.Seconds)
					break
				}
			}
		}
	}
}

func TestLeaksLose(t *testing.T) {
	for i := range Behaviours {
		b := &Behaviours[i]
		if b.Truth != behaviour.Leaks {
			continue
		}
		good, counts, shares := 0, []int(nil), []float64(nil)
		for seed := range uint64(seeds) {
			s := play(b, seed)
			lost, moved := losses(s)
			if len(lost) >= leastLost && spread(s, lost) >= leastStretches ||
				len(moved) >= leastMoves && spread(s, moved) >= leastStretches {
				good++
			}
			counts = append(counts, len(lost))
			shares = append(shares, 100*float64(len(lost))/float64(len(s.Allocations())))
		}
		slices.Sort(counts)
		slices.Sort(shares)
		t.Logf("%s: loses %d to %d blocks, half of the runs under %d and %.2f %%", b.Name, counts[0], counts[seeds-1],
			counts[seeds/2], shares[seeds/2])
		if good < seeds*95/100 {
			t.Errorf("%s: loses enough in %d of %d runs", b.Name, good, seeds)
		}
	}
}

// TestInnocentsAreBounded shows that blocks which an innocent allocates in the last part of the run do not stay for
// good, unless they replace earlier ones.
func TestInnocentsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for i := range Behaviours {
		b := &Behaviours[i]
		if b.Truth != behaviour.Innocent {
			continue
		}
		for seed := range uint64(seeds) {
			s := play(b, seed)
			late, calm := 0, max(s.WhenDone(0.86), 0.8*s.Seconds)
			for _, a := range s.Allocations() {
				if a.Died == behaviour.Never && a.Born > calm {
					late++
				}
			}
			before, end := s.MostLive(0, calm), liveAt(s, s.Seconds)
			if late > 0 && float64(end) > 1.1*float64(before)+5 {
				t.Errorf("%s, seed %d: %d live, at the end %d", b.Name, seed, before, end)
			}
		}
	}
}

// liveAt is how many blocks are live at an instant.
func liveAt(s *behaviour.Stack, at float64) int {
	n := 0
	for i := range s.Allocations() {
		if s.IsLive(behaviour.Block(i), at) {
			n++
		}
	}
	return n
}
