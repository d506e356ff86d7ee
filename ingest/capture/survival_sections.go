package capture

import "heapdrift/ingest/capture/allocations"

// The payload of the section of survivals: the teardown, how many are left out, and for each Survival the distance of
// its site to the one before, its times and its numbers. Most numbers are zero: those that are not follow their
// distance to the one before.

func (c *Capture) putSurvivals(e *encoder) {
	if c.Trace == nil {
		return
	}
	e.int(c.Trace.Teardown)
	e.int(c.Trace.SurvivalsBeyond)
	n := 0
	for i := range c.Sites {
		if c.Sites[i].Life.Survival != nil {
			n++
		}
	}
	e.uint(uint64(n))
	last := 0
	for i := range c.Sites {
		s := c.Sites[i].Life.Survival
		if s == nil {
			continue
		}
		e.uint(uint64(i - last))
		last = i
		e.int(s.From)
		e.int(s.Over)
		e.int(s.LateUnknownFrees)
		for _, list := range numbersOf(s) {
			putSparse(e, list)
		}
	}
}

// takeSurvivals relies on the sections of the trace and the lives before it.
func (c *Capture) takeSurvivals(d *decoder) {
	if c.Trace == nil || len(d.b) == 0 {
		return
	}
	c.Trace.Teardown, c.Trace.SurvivalsBeyond = d.int(), d.int()
	n := d.count(8)
	if n > allocations.MaxSurvivals { // a few bytes claim 2.6 KB each
		d.bad = true
		return
	}
	site := uint64(0)
	for i := range n {
		step := d.uint()
		if site += step; step > uint64(len(c.Sites)) || site >= uint64(len(c.Sites)) || i > 0 && step == 0 ||
			c.Sites[site].Life == nil {
			d.bad = true
			return
		}
		s := &allocations.Survival{From: d.int(), Over: d.int(), LateUnknownFrees: d.int()}
		for _, list := range numbersOf(s) {
			takeSparse(d, list)
		}
		if d.bad = d.bad || s.From > s.Over || s.LateUnknownFrees < 0; d.bad {
			return
		}
		c.Sites[site].Life.Survival = s
	}
}

// numbersOf are the lists of a survival, in the order in which they are written.
func numbersOf(s *allocations.Survival) [4][]int64 {
	return [4][]int64{s.Born[:], s.Left[:], s.LeftBytes[:], s.Ended[:]}
}

func putSparse(e *encoder, list []int64) {
	n := 0
	for _, v := range list {
		if v != 0 {
			n++
		}
	}
	e.uint(uint64(n))
	last := 0
	for i, v := range list {
		if v != 0 {
			e.uint(uint64(i - last))
			e.uint(uint64(v))
			last = i
		}
	}
}

// takeSparse takes numbers that are not negative.
func takeSparse(d *decoder, list []int64) {
	at := uint64(0)
	for range d.count(2) {
		step := d.uint()
		v := int64(d.uint())
		if at += step; step >= uint64(len(list)) || at >= uint64(len(list)) || v < 0 {
			d.bad = true
			return
		}
		list[at] = v
	}
}
