package services

import (
	"slices"
	"sort"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// A window is a stretch of the run: an outage, a crawl, a job.
type window struct{ from, to float64 }

// length is how many seconds a window lasts.
func (w window) length() float64 { return w.to - w.from }

// windows divides [from, to] into n equal slots and puts one window at a random position in each. A window fills a
// share of its slot between low and high.
func windows(s *behaviour.Stack, n int, from, to, low, high float64) []window {
	list := make([]window, n)
	slot := (to - from) / float64(n)
	for i := range list {
		length := slot * s.Uniform(low, high)
		start := from + float64(i)*slot + (slot-length)*s.Float64()
		list[i] = window{start, start + length}
	}
	return list
}

// clock returns the ticks of a timer with a round period (1 s to 1 h) that fires low to high times in the run; where no
// round period fits, of another.
func clock(s *behaviour.Stack, low, high, jitter float64) []float64 {
	var fit []float64
	for _, period := range []float64{1, 2, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300, 600, 900, 1200, 1800, 3600} {
		if times := s.Seconds / period; low <= times && times <= high {
			fit = append(fit, period)
		}
	}
	if len(fit) == 0 {
		return s.Every(s.Seconds/s.LogUniform(low, high), jitter)
	}
	return s.Every(fit[s.IntN(len(fit))], jitter)
}

// requests are the instants of low to high requests.
func requests(s *behaviour.Stack, low, high float64) []float64 {
	return s.Requests(s.LogUniform(low, high))
}

// rarely draws the share of n events that fail, between low and high, but at least 30/n, so that about 30 or more fail.
func rarely(s *behaviour.Stack, n int, low, high float64) float64 {
	return min(1, max(s.LogUniform(low, high), 30/float64(max(n, 1))))
}

// A cache holds a limited number of blocks, least recently used first.
type cache struct {
	s      *behaviour.Stack
	limit  int
	blocks []behaviour.Block
}

// put makes a block for a new entry. A full cache first frees blocks[victim].
func (c *cache) put(at float64, bytes, victim int) {
	if len(c.blocks) >= c.limit {
		c.s.Free(c.blocks[victim], at)
		c.blocks = slices.Delete(c.blocks, victim, victim+1)
	}
	c.blocks = append(c.blocks, c.s.Alloc(at, bytes))
}

// hit uses an entry times times, recently used ones more often.
func (c *cache) hit(times int) {
	for range times {
		if n := len(c.blocks); n > 0 {
			i := n - 1 - int(float64(n)*c.s.Float64()*c.s.Float64())
			b := c.blocks[i]
			c.blocks = append(slices.Delete(c.blocks, i, i+1), b)
		}
	}
}

// limitOf draws the capacity of a cache, from 8 to at most most, that is full within the first sixth of its n misses.
func limitOf(s *behaviour.Stack, n int, most float64) int {
	return int(s.LogUniform(8, max(9, min(most, float64(n)/6))))
}

// A job borrows a block from a pool for a while.
type job struct{ from, to float64 }

// jobsOf starts a job at each instant. Lengths are exponential, with a mean by which about underway jobs run at once,
// but at most a 25th of the run.
func jobsOf(s *behaviour.Stack, instants []float64, underway float64) []job {
	mean := min(s.Seconds/25, underway*s.Seconds/float64(max(1, len(instants))))
	list := make([]job, len(instants))
	for i, at := range instants {
		list[i] = job{at, at + s.Exponential(mean)}
	}
	return list
}

// peak is the largest number of jobs that run at once among those begun by until. jobs must be sorted by from.
func peak(jobs []job, until float64) int {
	var ends []float64
	most := 0
	for _, j := range jobs {
		if j.from > until {
			break
		}
		ends = slices.DeleteFunc(ends, func(end float64) bool { return end <= j.from })
		ends = append(ends, j.to)
		most = max(most, len(ends))
	}
	return most
}

// A pool lends blocks to jobs and keeps those that come back.
type pool struct {
	limit int       // blocks at most; a job that finds none does without one
	idle  int       // blocks kept for later at most; others are freed as they come back
	trims []float64 // instants at which half of the idle blocks are freed
	size  func() int
}

// serve runs jobs that are in the order of their beginnings.
func (p pool) serve(s *behaviour.Stack, jobs []job) {
	type event struct {
		at   float64
		job  int // −1 for a trim
		ends bool
	}
	var events []event
	for i, j := range jobs {
		events = append(events, event{j.from, i, false}, event{j.to, i, true})
	}
	for _, at := range p.trims {
		events = append(events, event{at, -1, false})
	}
	sort.SliceStable(events, func(i, j int) bool { return events[i].at < events[j].at })
	lent := make(map[int]behaviour.Block)
	var idle []behaviour.Block
	for _, e := range events {
		block, has := lent[e.job]
		switch {
		case e.job < 0:
			keep := len(idle) / 2
			s.FreeAll(idle[keep:], e.at)
			idle = idle[:keep]
		case e.ends && has && len(idle) < p.idle:
			idle = append(idle, block)
			delete(lent, e.job)
		case e.ends && has:
			s.Free(block, e.at)
			delete(lent, e.job)
		case e.ends: // the pool had no block for this job
		case len(idle) > 0:
			lent[e.job] = idle[len(idle)-1]
			idle = idle[:len(idle)-1]
		case len(lent) < p.limit:
			lent[e.job] = s.Alloc(e.at, p.size())
		}
	}
}
