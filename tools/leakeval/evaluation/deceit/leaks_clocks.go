package deceit

import (
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksOfClocks = []behaviour.Behaviour{
	behaviour.NewLeak("game server: rounds that free all of their objects but the odd corpse",
		"A round ends by freeing its objects; a player who is killed while leaving is on no list any more.", rounds),
	behaviour.NewLeak("device control: descriptors of a card that a watchdog resets now and then",
		"Descriptors turn over in their slots; a reset takes new ones and forgets the one that was in work.", cardResets),
	behaviour.NewLeak("mail client: probes of idle connections, lost when nothing else goes over the line",
		"A timer probes the line; in the quietest hours some answers come when nobody waits for them, and stay.", idleProbes),
	behaviour.NewLeak("database: rows of a periodic report, one or two of which are forgotten in most reports",
		"Each report frees the rows of the one before, but for one that a filter had set aside.", reports),
}

func rounds(s *behaviour.Stack) {
	size, typical := sizes(s, 80, 5000), s.LogUniform(10, 150)
	edges := cycles(s, s.UniformInt(22, 50), s.Uniform(0.1, 0.5), 1)
	for i, from := range edges[:len(edges)-1] {
		lost := 0
		if s.Chance(0.75) {
			lost = s.UniformInt(1, 2)
		}
		for k := range s.Size(typical, 0.4) + lost {
			b := s.Alloc(s.Uniform(from, edges[i+1]), size())
			if k >= lost {
				s.Free(b, edges[i+1])
			}
		}
	}
}

func cardResets(s *behaviour.Stack) {
	size, begin := sizes(s, 64, 4096), s.Uniform(0, 0.4)
	resets := cycles(s, s.UniformInt(20, 45), 0.7, 1-begin)
	for i := range resets {
		resets[i] += begin * s.Seconds
	}
	slots := s.LogUniformInt(10, 120)
	use := s.Seconds * max(s.LogUniform(0.002, 0.05), float64(slots)/15000)
	last := make([]float64, len(resets))
	stuck := make([]behaviour.Block, len(resets))
	for range slots {
		for at := s.Seconds * 0.02 * s.Float64(); at < s.Seconds; {
			done, reset := at+s.Exponential(use), next(s, resets, at)
			b := s.AllocFor(at, min(done, reset)-at, size())
			// The card works on what it was given last.
			if i, _ := slices.BinarySearch(resets, reset); i < len(resets) && at > last[i] {
				last[i], stuck[i] = at, b
			}
			at = min(done, reset) + 0.001
		}
	}
	for i, at := range last {
		if at > 0 {
			s.Free(stuck[i], behaviour.Never)
		}
	}
}

func idleProbes(s *behaviour.Stack) {
	size := sizes(s, 50, 2000)
	interval := s.Seconds / s.LogUniform(90, 900)
	probes := s.Every(interval, s.Uniform(0, 0.5))
	quiet := quietest(s, probes, int(float64(len(probes))*s.Uniform(0.4, 0.6)))
	isQuiet := make(map[float64]bool)
	for i, isLost := range s.Picked(len(quiet), s.LogUniformInt(22, 75)) {
		isQuiet[quiet[i]] = isLost
	}
	life := interval * s.LogUniform(0.05, 20)
	for _, at := range probes {
		probe := s.Alloc(at, size())
		if !isQuiet[at] {
			s.Free(probe, at+life*s.Uniform(0.5, 1.5))
		}
	}
	beside(s, 60, 2000, size)
}

func reports(s *behaviour.Stack) {
	size, typical := sizes(s, 30, 900), s.LogUniform(15, 200)
	interval := s.Seconds / s.LogUniform(22, 60)
	times := s.Every(interval, 0.1)
	for _, at := range times {
		lost := 0
		if s.Chance(0.7) {
			lost = s.UniformInt(1, 2)
		}
		for i := range s.Size(typical, 0.3) + lost {
			row := s.Alloc(at+0.01*interval*s.Float64(), size())
			if i >= lost {
				s.Free(row, at+interval*s.Uniform(1, 1.02))
			}
		}
	}
	beside(s, 200, 5000, size)
}
