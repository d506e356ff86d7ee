package servers

import (
	"math/rand/v2"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// lookups are n requests for keys of which some are popular and many are not.
func lookups(s *behaviour.Stack, n float64) (at []float64, keys []int) {
	zipf := rand.NewZipf(s.Rand, s.Uniform(1.05, 1.5), s.LogUniform(2, 60), uint64(s.LogUniform(n/3, 20*n)))
	at = s.Requests(n)
	keys = make([]int, len(at))
	for i := range keys {
		keys[i] = int(zipf.Uint64())
	}
	return at, keys
}

// boundOf draws the bound of a cache which these lookups reach before 45 % of them are done.
func boundOf(s *behaviour.Stack, keys []int) int {
	seen, until := map[int]bool{}, int(s.Uniform(0.05, 0.45)*float64(len(keys)))
	for _, key := range keys[:until] {
		seen[key] = true
	}
	return min(max(len(seen), 4), 2500)
}

// A cache holds blocks by key up to a bound.
type cache struct {
	s       *behaviour.Stack
	bound   int
	victim  func(*cache) int // which one goes where a new one comes and the cache is full
	entries []entry
	index   map[int]int
}

// An entry is a block in a cache.
type entry struct {
	key, hits int
	used      float64
	block     behaviour.Block
}

func newCache(s *behaviour.Stack, bound int, victim func(*cache) int) *cache {
	return &cache{s: s, bound: bound, victim: victim, index: map[int]int{}}
}

// play does all lookups and keeps what is in the cache at the end.
func (c *cache) play(at []float64, keys []int, size func() int) {
	for i, t := range at {
		c.get(t, keys[i], size)
	}
}

// get looks a key up and puts it in where it is missing.
func (c *cache) get(at float64, key int, size func() int) {
	if i, isThere := c.index[key]; isThere {
		c.entries[i].used = at
		c.entries[i].hits++
		return
	}
	if len(c.entries) >= c.bound {
		c.drop(c.victim(c), at)
	}
	c.index[key] = len(c.entries)
	c.entries = append(c.entries, entry{key, 1, at, c.s.Alloc(at, size())})
}

// drop frees an entry.
func (c *cache) drop(i int, at float64) {
	c.s.Free(c.entries[i].block, at)
	delete(c.index, c.entries[i].key)
	last := len(c.entries) - 1
	if i != last {
		c.entries[i] = c.entries[last]
		c.index[c.entries[i].key] = i
	}
	c.entries = c.entries[:last]
}

// shutDown frees what is left after the run, so that only what is lost is never freed.
func (c *cache) shutDown() {
	for _, e := range c.entries {
		c.s.Free(e.block, c.s.Seconds+60)
	}
}

func leastRecent(c *cache) int {
	best := 0
	for i := range c.entries {
		if c.entries[i].used < c.entries[best].used {
			best = i
		}
	}
	return best
}

func leastOften(c *cache) int {
	best := 0
	for i := range c.entries {
		if c.entries[i].hits < c.entries[best].hits {
			best = i
		}
	}
	return best
}

func anyOne(c *cache) int { return c.s.IntN(len(c.entries)) }

// A pool lends members, makes one where all are lent, and closes those which idle for long.
type pool struct {
	s       *behaviour.Stack
	idle    float64 // seconds after which an idle member is closed
	least   int     // so many are never closed
	most    int     // who finds so many lent has to wait
	members []member
}

// A member of a pool is lent until an instant.
type member struct {
	block behaviour.Block
	until float64
}

// take lends a member for a while; the one given back last goes first. Where all are lent nothing happens.
func (p *pool) take(at, seconds float64, size func() int) {
	p.trim(at)
	best := -1
	for i := range p.members {
		if p.members[i].until <= at && (best < 0 || p.members[i].until > p.members[best].until) {
			best = i
		}
	}
	if best < 0 {
		if len(p.members) >= p.most {
			return
		}
		best = len(p.members)
		p.members = append(p.members, member{block: p.s.Alloc(at, size())})
	}
	p.members[best].until = at + seconds
}

// trim closes what idles for too long at an instant.
func (p *pool) trim(at float64) {
	for i := len(p.members) - 1; i >= 0 && len(p.members) > p.least; i-- {
		if due := p.members[i].until + p.idle; due <= at {
			p.s.Free(p.members[i].block, due)
			p.members = append(p.members[:i], p.members[i+1:]...)
		}
	}
}

// forget takes the idle members out of the pool without closing them.
func (p *pool) forget(at float64) {
	var kept []member
	for _, m := range p.members {
		if m.until > at {
			kept = append(kept, m)
		}
	}
	p.members = kept
}

// shutDown closes the pool after the run.
func (p *pool) shutDown() {
	p.trim(p.s.Seconds)
	for _, m := range p.members {
		p.s.Free(m.block, p.s.Seconds+60)
	}
}
