package hidden

import (
	"math/rand/v2"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// An entry is what a cache holds for a key.
type entry struct {
	key   int
	block behaviour.Block
	used  float64
	hits  float64
}

// A cache replaces the least worthy of a few entries that it draws, as large caches do for speed.
type cache struct {
	s       *behaviour.Stack
	entries []entry
	places  map[int]int // key to index in entries
	size    func() int
	worth   func(*entry) float64
	drawn   int // how many it draws
}

func lastUse(e *entry) float64 { return e.used }
func hits(e *entry) float64    { return e.hits }
func equal(*entry) float64     { return 0 }

func newCache(s *behaviour.Stack, size func() int, worth func(*entry) float64, drawn int) *cache {
	return &cache{s: s, places: map[int]int{}, size: size, worth: worth, drawn: drawn}
}

// use looks a key up, and loads it into the cache where it is not there.
func (c *cache) use(at float64, key, capacity int) {
	if i, ok := c.places[key]; ok {
		c.entries[i].used = at
		c.entries[i].hits++
		return
	}
	for len(c.entries) >= capacity {
		c.evict(at)
	}
	c.places[key] = len(c.entries)
	c.entries = append(c.entries, entry{key: key, block: c.s.Alloc(at, c.size()), used: at, hits: 1})
}

func (c *cache) evict(at float64) {
	least := c.s.IntN(len(c.entries))
	for range c.drawn - 1 {
		if i := c.s.IntN(len(c.entries)); c.worth(&c.entries[i]) < c.worth(&c.entries[least]) {
			least = i
		}
	}
	c.s.Free(c.entries[least].block, at)
	c.forget(least)
}

// forget takes an entry out of the table and leaves its block alone.
func (c *cache) forget(i int) {
	last := len(c.entries) - 1
	delete(c.places, c.entries[i].key)
	if i < last {
		c.entries[i] = c.entries[last]
		c.places[c.entries[i].key] = i
	}
	c.entries = c.entries[:last]
}

// popular draws n keys, some of them far more often than others. In some programs what is popular shifts over the run.
func popular(s *behaviour.Stack, n int) []int {
	all := s.LogUniform(0.5, 8) * float64(n)
	zipf := rand.NewZipf(s.Rand, s.Uniform(1.02, 1.5), s.LogUniform(1, all/20), uint64(all))
	drift := 0.0
	if s.Chance(0.4) {
		drift = s.LogUniform(0.01, 0.3)
	}
	keys := make([]int, n)
	for i := range keys {
		keys[i] = int(zipf.Uint64()) + int(drift*float64(i))
	}
	return keys
}

// capacity draws how many entries a cache may have, so that it is full by a third of the time and of the work.
func capacity(s *behaviour.Stack, uses []float64, keys []int) int {
	seen, deadline := map[int]bool{}, early(s, 1.0/3)
	for i, at := range uses {
		if at < deadline {
			seen[keys[i]] = true
		}
	}
	return min(max(int(float64(len(seen))*s.Uniform(0.3, 0.95)), 15), 3500)
}

// runCache plays a cache that is full by a third of the run and turns over from then on.
func runCache(s *behaviour.Stack, n int, worth func(*entry) float64, drawn int) {
	s.MaybePrivate(0.35)
	uses, keys := atWork(s, n, 0, 1), popular(s, n)
	c, most := newCache(s, sizes(s, 40, 20000), worth, drawn), capacity(s, uses, keys)
	for i, at := range uses {
		c.use(at, keys[i], most)
	}
}
