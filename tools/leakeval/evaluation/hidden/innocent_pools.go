package hidden

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentPools keep blocks for the next use.
var innocentPools = []behaviour.Behaviour{
	behaviour.NewInnocent("database client: a pool of row buffers keeps as many as were ever in use at once",
		"The pool grows with each new peak and the highest peak of the run comes before its last fifth.", highWater),
	behaviour.NewInnocent("render server: a pool of surfaces follows the demand and is trimmed slowly",
		"A timer frees a part of the surfaces that are idle; those in use to the end are bounded by the demand.",
		trimmedPool),
}

// demandSteps is how finely a demand is known.
const demandSteps = 600

// demand is how many objects are in use over the run: it wanders, swings and trends upwards, and from a share of the
// run on it stays below its highest peak.
func demand(s *behaviour.Stack, most, calm float64) []int {
	list, walk, noise := make([]int, demandSteps), 0.0, s.Uniform(0.02, 0.15)
	swings, phase, depth, trend := s.Uniform(2, 12), s.Float64(), s.Uniform(0.1, 0.6), s.Uniform(0, 2)
	peak := 0.0
	for i := range list {
		t := float64(i) / demandSteps
		walk = 0.98*walk + noise*s.NormFloat64()
		level := math.Exp(walk) * (1 + trend*t) * (1 + depth*math.Sin(2*math.Pi*(swings*t+phase)))
		if t > calm {
			level = min(level, peak*s.Uniform(0.8, 0.99))
		}
		peak = max(peak, level)
		list[i] = int(level * 1000)
	}
	top := float64(slices.Max(list))
	for i, n := range list {
		list[i] = int(most * float64(n) / top)
	}
	return list
}

// highWater makes blocks at new peaks only and frees none.
func highWater(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	size, have := sizes(s, 200, 30000), 0
	for i, n := range demand(s, s.LogUniform(30, 3000), s.Uniform(0.6, 0.78)) {
		for ; have < n; have++ {
			s.Alloc(s.Seconds*(float64(i)+s.Float64())/demandSteps, size())
		}
	}
}

// trimmedPool frees the newest surfaces first or the oldest, as a pool is a stack or a queue.
func trimmedPool(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	size, newest, every, part := sizes(s, 400, 60000), s.Chance(0.5), s.UniformInt(4, 30), s.Uniform(0.1, 0.6)
	var pool []behaviour.Block
	for i, n := range demand(s, s.LogUniform(30, 1500), s.Uniform(0.6, 0.78)) {
		from := s.Seconds * float64(i) / demandSteps
		if idle := len(pool) - n; i%every == 0 && idle > 0 {
			for range int(math.Ceil(part * float64(idle))) {
				freed := 0
				if newest {
					freed = len(pool) - 1
				}
				s.Free(pool[freed], from)
				pool = slices.Delete(pool, freed, freed+1)
			}
		}
		for len(pool) < n {
			pool = append(pool, s.Alloc(from+s.Seconds/demandSteps*s.Uniform(0.05, 0.95), size()))
		}
	}
}
