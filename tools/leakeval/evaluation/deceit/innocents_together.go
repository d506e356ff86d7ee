package deceit

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var freedTogether = []behaviour.Behaviour{
	behaviour.NewInnocent("trading system: settlements that pile up higher before each close",
		"Settlements wait for the next close and are freed with it; there are ever more until the last.", closes),
	behaviour.NewInnocent("game: objects of scripts in three generations of a collector",
		"Garbage is freed by the next small, large or full collection, by how old it was; the last full is late.",
		generations),
	behaviour.NewInnocent("virus scanner: verdicts that are dropped when new definitions come, which is irregular",
		"Each update of the definitions frees the verdicts so far, or the next one does; waits differ much.", definitions),
	behaviour.NewInnocent("CAD: entities of drawings that attach to each other, with the largest drawing late",
		"A drawing grows faster the larger it is and is freed when closed; the last is closed before the end.", drawings),
	behaviour.NewInnocent("database: versions of rows that are kept for the oldest reader",
		"A version goes when the last reader is done that read at its birth, and no reader stays for long.", rowVersions),
}

func closes(s *behaviour.Stack) {
	size, rise := sizes(s, 80, 2500), s.Uniform(0.3, 2)
	edges := cycles(s, s.UniformInt(7, 13), s.Uniform(0.05, 0.4), s.Uniform(0.9, 0.98))
	for range s.Poisson(s.LogUniform(250, 6000)) {
		at := s.Seconds * math.Pow(s.Float64(), 1/(1+rise))
		s.Free(s.Alloc(at, size()), next(s, edges, at)+0.002*s.Seconds*s.Float64())
	}
}

func generations(s *behaviour.Stack) {
	size, end := sizes(s, 24, 700), s.Uniform(0.88, 0.97)
	small := cycles(s, s.UniformInt(60, 300), 0.5, 1)
	large := cycles(s, s.UniformInt(14, 40), 0.3, 0.99)
	full := cycles(s, s.UniformInt(6, 9), 0.15, end)
	young, old := s.Uniform(0.5, 0.9), s.Uniform(0.02, 0.15)
	life := s.Seconds * s.LogUniform(0.005, 0.03)
	for _, at := range s.Requests(s.LogUniform(600, 12000)) {
		b := s.Alloc(at, size())
		switch fate := s.Float64(); {
		case fate < young:
			s.Free(b, next(s, small, at))
		case fate < 1-old:
			s.Free(b, next(s, large, at+s.Exponential(life)))
		default:
			s.Free(b, next(s, full, at))
		}
	}
}

func definitions(s *behaviour.Stack) {
	size := sizes(s, 60, 1200)
	// No wait is more than about a fifth of the run.
	updates := cycles(s, s.UniformInt(12, 26), s.Uniform(0.4, 1), s.Uniform(0.9, 0.99))
	kept := s.Uniform(0, 0.3)
	for _, at := range s.Requests(s.LogUniform(250, 6000)) {
		dropped := next(s, updates, at)
		if dropped < s.Seconds && s.Chance(kept) {
			// What was asked for again stays for one more update at most.
			dropped = next(s, updates, dropped)
		}
		s.Free(s.Alloc(at, size()), dropped)
	}
}

func drawings(s *behaviour.Stack) {
	size, typical := sizes(s, 50, 1500), s.LogUniform(30, 250)
	end := s.Uniform(0.9, 0.97)
	n := s.UniformInt(8, 16)
	entities := make([]int, n)
	for i := range entities {
		entities[i] = min(s.Size(typical, 0.8), 1500)
	}
	slices.Sort(entities)
	// The order is that of the sizes but for some exchanges.
	for range n / 2 {
		i, k := s.IntN(n), s.IntN(n)
		if s.Chance(0.4) {
			entities[i], entities[k] = entities[k], entities[i]
		}
	}
	bend := s.Uniform(1, 3)
	for i := range n {
		closed := end * s.Seconds * (float64(i) + s.Uniform(0.6, 1)) / float64(n)
		opened := max(0, closed-s.Seconds*s.Uniform(0.04, 0.13))
		for range entities[i] {
			entity := s.Alloc(opened+(closed-opened)*math.Pow(s.Float64(), 1/bend), size())
			s.Free(entity, closed+0.001*s.Seconds*s.Float64())
		}
	}
	if s.Chance(0.5) {
		beside(s, 100, 2000, size)
	}
}

func rowVersions(s *behaviour.Stack) {
	size, longest := sizes(s, 60, 2500), s.Seconds/s.Uniform(7, 12)
	tail := s.Uniform(0.4, 1)
	type reader struct{ from, to float64 }
	var readers []reader
	for _, at := range s.Instants(s.LogUniform(20, 90), 0, s.Seconds) {
		readers = append(readers, reader{at, at + heavy(s, longest/50, longest, tail)})
	}
	life := s.Seconds * s.LogUniform(0.0005, 0.005)
	for _, at := range s.Requests(s.LogUniform(300, 7000)) {
		gone := at + s.Exponential(life)
		for _, r := range readers {
			if r.from <= at && at < r.to {
				gone = max(gone, r.to)
			}
		}
		s.AllocFor(at, gone-at, size())
	}
}
