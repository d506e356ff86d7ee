package hidden

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentCaches fill, and then free one block for each that they make.
var innocentCaches = []behaviour.Behaviour{
	behaviour.NewInnocent("file server: a cache of directory entries that replaces the least recently used",
		"The cache is full by a third of the run; popular entries are old and still bounded.",
		func(s *behaviour.Stack) { runCache(s, s.LogUniformInt(1500, 25000), lastUse, s.UniformInt(4, 16)) }),
	behaviour.NewInnocent("content server: a cache of pages that replaces the least often used",
		"The cache is full by a third of the run; pages that were popular once stay in it for long.",
		func(s *behaviour.Stack) { runCache(s, s.LogUniformInt(1500, 25000), hits, s.UniformInt(3, 10)) }),
	behaviour.NewInnocent("map client: a cache of tiles that replaces a random one",
		"The cache is full by a third of the run; chance lets some tiles become old.",
		func(s *behaviour.Stack) { runCache(s, s.LogUniformInt(1500, 25000), equal, 1) }),
	behaviour.NewInnocent("firewall: a table with one slot per hash of a host, in which the next host replaces the last",
		"There is one block per slot at most; rare hashes get theirs late and keep it for long.", hashedSlots),
}

// hashedSlots fill until some share of the work; some are used far more often than others.
func hashedSlots(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	slots, last, skew := s.LogUniformInt(40, 2200), s.Uniform(0.6, 0.85), s.Uniform(1, 3.5)
	order, size := s.Perm(slots), sizes(s, 40, 2000)
	filled, blocks := make([]bool, slots), make([]behaviour.Block, slots)
	put := func(slot int, at float64) {
		if filled[slot] {
			s.Free(blocks[slot], at)
		}
		filled[slot], blocks[slot] = true, s.Alloc(at, size())
	}
	uses := atWork(s, min(slots*s.UniformInt(2, 25), 25000), 0, 1)
	for _, at := range uses {
		slot := order[int(float64(slots)*math.Pow(s.Float64(), skew))]
		// No hash that has not come by then is that of a host of this network.
		if filled[slot] || s.Work(at) < last {
			put(slot, at)
		}
	}
}
