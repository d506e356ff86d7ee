// Package afterwards is a set of behaviours that is written after the detector is final, and is used once, to check it:
// servers, desktop programs, services, games and drivers' helpers, half of them easy and half of them hard.
package afterwards

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// Behaviours are all of the set.
var Behaviours = slices.Concat(leaksEasy, leaksHard, innocentsEasy, innocentsHard, undecidable)

// sizes draws what blocks of a stack measure: all the same, or spread about a typical size.
func sizes(s *behaviour.Stack, low, high float64) func() int {
	return s.SizesBetween(low, high, 0.6, 0.9)
}

// lives draws how long blocks of a stack live; low and high are shares of the run between which their mean is. None
// lives longer than four times the mean.
func lives(s *behaviour.Stack, low, high float64) func() float64 {
	mean, spread := s.Seconds*s.LogUniform(low, high), s.Uniform(0.1, 1)
	if s.Chance(0.5) {
		return func() float64 { return min(s.Exponential(mean), 4*mean) }
	}
	return func() float64 { return min(s.LogNormal(mean, spread), 4*mean) }
}

// tails draws lives with a heavy tail: most are about the shortest, a few last until the longest.
func tails(s *behaviour.Stack, shortest, longest float64) func() float64 {
	power := s.Uniform(0.8, 1.6)
	return func() float64 { return min(shortest*math.Pow(1-s.Float64(), -1/power), longest) }
}

// pass makes a block at each instant; it lives as long as is drawn, and those which are lost live for ever.
func pass(s *behaviour.Stack, instants []float64, bytes func() int, life func() float64, isLost func(i int) bool) {
	for i, at := range instants {
		b, seconds := s.Alloc(at, bytes()), life()
		if !isLost(i) {
			s.Free(b, at+seconds)
		}
	}
}

// none is for pass: nothing is lost.
func none(int) bool { return false }

// some picks exactly so many of the numbers from first to last, all if there are fewer.
func some(s *behaviour.Stack, count, first, last int) func(i int) bool {
	picked := make(map[int]bool, count)
	for _, i := range s.Perm(max(last-first+1, 0))[:max(min(count, last-first+1), 0)] {
		picked[first+i] = true
	}
	return func(i int) bool { return picked[i] }
}

// spread are n numbers between two, ascending, one somewhere in each nth of the way.
func spread(s *behaviour.Stack, n int, from, to float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = from + (to-from)*(float64(i)+s.Float64())/float64(n)
	}
	return list
}

// whenDone are the instants at which shares of the work are done.
func whenDone(s *behaviour.Stack, shares []float64) []float64 {
	list := make([]float64, len(shares))
	for i, share := range shares {
		list[i] = s.WhenDone(share)
	}
	return list
}

// after is the first of the instants that is later than another, or one after the run.
func after(s *behaviour.Stack, instants []float64, at float64) float64 {
	return behaviour.After(instants, at, s.Seconds+1)
}

// A cache holds a bounded number of blocks.
type cache struct {
	s     *behaviour.Stack
	bound int
	held  []behaviour.Block
}

// put adds a block; goes says which one leaves a full cache, by its place.
func (c *cache) put(at float64, bytes int, goes func(n int) int) {
	b := c.s.Alloc(at, bytes)
	if len(c.held) < c.bound {
		c.held = append(c.held, b)
		return
	}
	i := goes(len(c.held))
	c.s.Free(c.held[i], at)
	c.held[i] = b
}

// close frees all after the run, as the program does at its exit.
func (c *cache) close() {
	for _, b := range c.held {
		c.s.Free(b, c.s.Seconds+1)
	}
}

// recent is a cache whose entry that was not used for longest goes first. Keys are drawn, low ones oftener where skew
// is above 1.
func recent(s *behaviour.Stack, instants []float64, bound int, keys, skew float64, bytes func() int) {
	type entry struct {
		key   int
		block behaviour.Block
	}
	var held []entry
	for _, at := range instants {
		key := int(keys * math.Pow(s.Float64(), skew))
		i := slices.IndexFunc(held, func(e entry) bool { return e.key == key })
		if i >= 0 {
			e := held[i]
			held = append(slices.Delete(held, i, i+1), e)
			continue
		}
		if len(held) == bound {
			s.Free(held[0].block, at)
			held = slices.Delete(held, 0, 1)
		}
		held = append(held, entry{key, s.Alloc(at, bytes())})
	}
}
