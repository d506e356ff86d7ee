package desktop

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// shutdown is when the program frees what it holds to its end: after the run, so that nobody sees it.
func shutdown(s *behaviour.Stack) float64 { return s.Seconds * 1.02 }

// count draws how often something happens in the run: a rate per hour, within bounds for the whole run.
func count(s *behaviour.Stack, low, high, least, most float64) float64 {
	return min(max(s.LogUniform(low, high)*s.Seconds/3600, least), most)
}

// lost draws the share of n blocks that are lost, so that a run loses some thirty at least and three thousand at most.
func lost(s *behaviour.Stack, low, high, n float64) float64 {
	return min(max(s.LogUniform(low, high), 30/n), 3000/n, 1)
}

// spaced are n instants, one in each of n equal stretches of the work that is left after a share of it.
func spaced(s *behaviour.Stack, n int, from float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = s.WhenDone(from + (1-from)*(float64(i)+s.Float64())/float64(n))
	}
	return list
}

// jobs are n instants, one in each of n equal stretches of time; each has at least half a stretch until the next one.
func jobs(s *behaviour.Stack, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = (float64(i) + s.Float64()/2) / float64(n) * s.Seconds
	}
	return list
}

// early draws an instant of first use: soon after the start for most, before 55 % of the work for all.
func early(s *behaviour.Stack, mean float64) float64 {
	return s.WhenDone(math.Mod(s.Exponential(mean), 0.55))
}

// following is the first of ascending instants that is later than another one, or the end of the program.
func following(s *behaviour.Stack, instants []float64, at float64) float64 {
	return behaviour.After(instants, at, shutdown(s))
}

// popular draws one of n things; the k-th is asked for about 1/k as often as the first.
func popular(s *behaviour.Stack, n int) int {
	return int(math.Exp(s.Float64()*math.Log(float64(n)+1))) - 1
}

// A cache holds a block for each key, up to a limit.
type cache struct {
	s        *behaviour.Stack
	limit    int
	randomly bool    // the victim is any entry, not the one that is least recently used
	entries  []entry // the least recently used one first
}

type entry struct {
	key   int
	block behaviour.Block
	used  float64
}

// use looks up a key and makes its block if there is none. It returns the block that had to go for it, −1 for none.
func (c *cache) use(at float64, key, bytes int) behaviour.Block {
	found := slices.IndexFunc(c.entries, func(e entry) bool { return e.key == key })
	if found >= 0 {
		e := c.entries[found]
		e.used = at
		c.entries = append(slices.Delete(c.entries, found, found+1), e)
		return -1
	}
	gone := behaviour.Block(-1)
	if len(c.entries) >= c.limit {
		victim := 0
		if c.randomly {
			victim = c.s.IntN(len(c.entries))
		}
		gone = c.entries[victim].block
		c.s.Free(gone, at)
		c.entries = slices.Delete(c.entries, victim, victim+1)
	}
	c.entries = append(c.entries, entry{key, c.s.Alloc(at, bytes), at})
	return gone
}

// expire drops all that were not used for so many seconds.
func (c *cache) expire(at, seconds float64) {
	c.entries = slices.DeleteFunc(c.entries, func(e entry) bool {
		if at-e.used > seconds {
			c.s.Free(e.block, at)
			return true
		}
		return false
	})
}

// close empties the cache when the program ends.
func (c *cache) close() {
	for _, e := range c.entries {
		c.s.Free(e.block, shutdown(c.s))
	}
}

// A pool keeps blocks that came back, up to a number of idle ones, and hands them out again.
type pool struct {
	s     *behaviour.Stack
	keeps int
	lent  []loan
	idle  []behaviour.Block
}

type loan struct {
	block behaviour.Block
	until float64
}

// take lends a block for a while. Instants have to ascend.
func (p *pool) take(at, seconds float64, bytes int) {
	p.settle(at)
	var b behaviour.Block
	if n := len(p.idle); n > 0 {
		b, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		b = p.s.Alloc(at, bytes)
	}
	p.lent = append(p.lent, loan{b, at + seconds})
}

// settle takes back what was returned until an instant.
func (p *pool) settle(at float64) {
	p.lent = slices.DeleteFunc(p.lent, func(l loan) bool {
		switch {
		case l.until > at:
			return false
		case len(p.idle) < p.keeps:
			p.idle = append(p.idle, l.block)
		default:
			p.s.Free(l.block, l.until)
		}
		return true
	})
}

// close frees all when the program ends.
func (p *pool) close() {
	p.settle(shutdown(p.s))
	p.s.FreeAll(p.idle, shutdown(p.s))
	for _, l := range p.lent {
		p.s.Free(l.block, max(l.until, shutdown(p.s)))
	}
}
