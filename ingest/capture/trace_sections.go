package capture

import (
	"time"

	"heapdrift/ingest/capture/allocations"
)

// The payloads of the sections that only traces have, written and read side by side.

func (c *Capture) putTrace(e *encoder) {
	t := c.Trace
	e.bool(t != nil)
	if t == nil {
		return
	}
	e.int(t.Start.UnixNano())
	e.int(int64(t.Bias))
	for _, v := range []int64{t.From, t.To, t.Window.From, t.Window.To, t.HeapFrom, t.Began, t.Exited, t.Events} {
		e.int(v)
	}
	putLine(e, &t.Heap)
	putLine(e, &t.Virtual)
	for i := range c.Heaps {
		putLine(e, &c.Heaps[i].Timeline)
	}
}

// takeTrace relies on the heaps section before it.
func (c *Capture) takeTrace(d *decoder) {
	if !d.bool() {
		return
	}
	t := &Trace{Start: time.Unix(0, d.int()).UTC(), Bias: time.Duration(d.int()), Teardown: allocations.Never}
	for _, v := range []*int64{&t.From, &t.To, &t.Window.From, &t.Window.To, &t.HeapFrom, &t.Began, &t.Exited, &t.Events} {
		*v = d.int()
	}
	t.Heap, t.Virtual = takeLine(d), takeLine(d)
	for i := range c.Heaps {
		c.Heaps[i].Timeline = takeLine(d)
	}
	c.Trace = t
}

func putLine(e *encoder, l *Timeline) {
	putPeak(e, l.Peak)
	e.uint(uint64(len(l.Points)))
	var last allocations.Point
	for _, p := range l.Points {
		e.int(p.Time - last.Time)
		e.int(p.LastBytes - last.LastBytes)
		e.int(p.MaxBytes - p.LastBytes)
		e.int(p.MaxAt - p.Time)
		last = p
	}
}

func takeLine(d *decoder) (l Timeline) {
	l.Peak = takePeak(d)
	n := d.count(4)
	if n == 0 {
		return l
	}
	l.Points = make([]allocations.Point, n)
	var last allocations.Point
	for i := range l.Points {
		p := allocations.Point{Time: last.Time + d.int(), LastBytes: last.LastBytes + d.int()}
		p.MaxBytes, p.MaxAt = p.LastBytes+d.int(), p.Time+d.int()
		l.Points[i], last = p, p
	}
	return l
}

func putPeak(e *encoder, p allocations.Peak) {
	e.int(p.Count)
	e.int(p.Bytes)
	e.int(p.At)
}

func takePeak(d *decoder) (p allocations.Peak) {
	p.Count, p.Bytes, p.At = d.int(), d.int(), d.int()
	return p
}

// usages are the numbers of a set of classes, in the order in which they are written.
func usages(c *allocations.WindowUsage) [5]*allocations.Usage {
	return [5]*allocations.Usage{&c.AIFO, &c.AIFI, &c.AOFO, &c.AOFI, &c.AtExit}
}

func (c *Capture) putLives(e *encoder) {
	if c.Trace == nil {
		e.uint(0)
		return
	}
	e.uint(uint64(len(c.Sites)))
	for i := range c.Sites {
		l := c.Sites[i].Life
		e.uint(uint64(l.Number))
		for _, u := range usages(&l.Usage) {
			e.int(u.Count)
			e.int(u.Bytes)
		}
		e.int(l.Usage.UnknownFrees)
		putPeak(e, l.Peak)
	}
}

// takeLives relies on the sites section before it.
func (c *Capture) takeLives(d *decoder) {
	n := d.count(15)
	if n > len(c.Sites) {
		d.bad = true
		return
	}
	for i := range n {
		l := &Life{Number: uint32(d.uint())}
		for _, u := range usages(&l.Usage) {
			u.Count, u.Bytes = d.int(), d.int()
		}
		l.Usage.UnknownFrees = d.int()
		l.Peak = takePeak(d)
		c.Sites[i].Life = l
	}
}
