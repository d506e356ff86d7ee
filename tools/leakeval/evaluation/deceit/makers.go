package deceit

import (
	"cmp"
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// sizes draws how large the blocks of a stack are: all the same, or spread. Some programs use a heap of their own.
func sizes(s *behaviour.Stack, low, high float64) func() int {
	s.MaybePrivate(0.35)
	return s.SizesBetween(low, high, 0.6, 1.2)
}

// heavy draws from a Pareto distribution that is cut at both ends. The smaller tail is, the more is long.
func heavy(s *behaviour.Stack, shortest, longest, tail float64) float64 {
	return shortest * math.Pow(1-s.Float64()*(1-math.Pow(shortest/longest, tail)), -1/tail)
}

// lives draws how lifetimes are distributed about a mean: without memory, about a typical one, with a heavy tail, or as
// two kinds of which one lives far longer. None is longer than the longest.
func lives(s *behaviour.Stack, mean, longest float64) func() float64 {
	kind, spread, tail, share := s.IntN(4), s.Uniform(0.3, 1.5), s.Uniform(0.8, 1.6), s.Uniform(0.02, 0.2)
	return func() float64 {
		life := 0.0
		switch kind {
		case 0:
			life = s.Exponential(mean)
		case 1:
			life = s.LogNormal(mean, spread)
		case 2:
			life = heavy(s, mean/5, max(longest, mean), tail)
		case 3:
			life = s.Exponential(mean / 2)
			if s.Chance(share) {
				life += s.Exponential(5 * mean)
			}
		}
		return min(life, longest)
	}
}

// beside is the population that turns over on the same stack: so many requests hold a block for a while.
func beside(s *behaviour.Stack, fewest, most float64, size func() int) {
	n := s.LogUniform(fewest, most)
	life := lives(s, min(s.LogUniform(0.0003, 0.02)*s.Seconds, 200*s.Seconds/n), s.Seconds/8)
	for _, at := range s.Requests(n) {
		s.AllocFor(at, life(), size())
	}
}

// shares are n shares of the run between two, ascending: one in each of n equal stretches.
func shares(s *behaviour.Stack, n int, from, to float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = from + (to-from)*(float64(i)+s.Uniform(0.15, 0.85))/float64(n)
	}
	return list
}

// bouts are n instants from a share of the run to its end, measured by its work in one program and by its time in
// another.
func bouts(s *behaviour.Stack, n int, from float64) []float64 {
	list, byWork := shares(s, n, from, 1), s.Chance(0.5)
	for i, share := range list {
		list[i] = share * s.Seconds
		if byWork {
			list[i] = s.WhenDone(share)
		}
	}
	return list
}

// cycles cut the run into n spans of time which differ in length by a spread, and end at a share of the run. They are
// given by their edges, of which the first is 0.
func cycles(s *behaviour.Stack, n int, spread, end float64) []float64 {
	edges := make([]float64, n+1)
	for i := range n {
		edges[i+1] = edges[i] + min(max(s.LogNormal(1, spread), 0.3), 2.5)
	}
	for i := range edges {
		edges[i] *= end * s.Seconds / edges[n]
	}
	return edges
}

// next is the first of ascending instants that is later, or one after the end of the run.
func next(s *behaviour.Stack, list []float64, at float64) float64 {
	i, found := slices.BinarySearch(list, at)
	if found {
		i++
	}
	if i == len(list) {
		return afterEnd(s)
	}
	return list[i]
}

// afterEnd is when things go that are still in use when the recording stops.
func afterEnd(s *behaviour.Stack) float64 { return s.Seconds * s.Uniform(1.001, 1.3) }

// freeAfterEnd frees each block at its own instant after the end of the run.
func freeAfterEnd(s *behaviour.Stack, blocks []behaviour.Block) {
	for _, b := range blocks {
		s.Free(b, afterEnd(s))
	}
}

// lose makes k of the blocks live for ever.
func lose(s *behaviour.Stack, blocks []behaviour.Block, k int) {
	for i, isLost := range s.Picked(len(blocks), k) {
		if isLost {
			s.Free(blocks[i], behaviour.Never)
		}
	}
}

// busy is how busy the process is about an instant, 1 on average.
func busy(s *behaviour.Stack, at float64) float64 {
	span := s.Seconds / 200
	return (s.Work(at+span) - s.Work(at-span)) * s.Seconds / (2 * span)
}

// firstUses are the shares of the work at which the words of a finite vocabulary come up first, in no order. The
// popularity of words falls by Zipf's law. The rarest comes so many times a run on average; what has not come until
// last never does.
func firstUses(s *behaviour.Stack, words int, rarest, last float64) []float64 {
	var list []float64
	law := s.Uniform(0.4, 1.3)
	for rank := 1; rank <= words; rank++ {
		if at := s.Exponential(1 / rarest * math.Pow(float64(rank)/float64(words), law)); at < last {
			list = append(list, at)
		}
	}
	return list
}

// quietest are the n instants at which the process has least to do.
func quietest(s *behaviour.Stack, list []float64, n int) []float64 {
	type instant struct{ at, load float64 }
	all := make([]instant, len(list))
	for i, at := range list {
		// A little noise draws lots among instants of the same load.
		all[i] = instant{at, busy(s, at) * s.Uniform(0.97, 1.03)}
	}
	slices.SortFunc(all, func(a, b instant) int { return cmp.Compare(a.load, b.load) })
	quiet := make([]float64, min(n, len(all)))
	for i := range quiet {
		quiet[i] = all[i].at
	}
	return quiet
}
