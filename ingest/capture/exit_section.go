package capture

import "math"

// putExit writes what only captures of ShapeExit have: the test, and the sites whose blocks a tool looked for pointers
// to.
func (c *Capture) putExit(e *encoder) {
	e.string(c.Test)
	var places []int
	for i := range c.Sites {
		if c.Sites[i].Reach != ReachUnsearched {
			places = append(places, i)
		}
	}
	e.uint(uint64(len(places)))
	for _, at := range places {
		e.uint(uint64(at))
		e.uint(uint64(c.Sites[at].Reach))
	}
}

// takeExit relies on the sites section before it.
func (c *Capture) takeExit(d *decoder) {
	c.Test = d.string()
	for range d.count(2) {
		at, reach := d.uint(), d.uint()
		if at >= uint64(len(c.Sites)) || reach >= uint64(ReachCount) {
			d.bad = true
			return
		}
		c.Sites[at].Reach = Reach(reach)
	}
}

func (c *Capture) putRan(e *encoder) {
	e.uint(uint64(len(c.Ran)))
	for _, test := range c.Ran {
		e.string(test)
	}
}

func (c *Capture) takeRan(d *decoder) {
	for range d.count(1) {
		c.Ran = append(c.Ran, d.string())
	}
}

func (c *Capture) putLines(e *encoder) {
	e.uint(uint64(len(c.Lines)))
	for i := range c.Lines {
		l := &c.Lines[i]
		e.uint(uint64(len(l.SameBlocks)))
		for _, stack := range l.SameBlocks {
			e.uint(uint64(stack))
		}
		e.int(l.BeforeTests.Count)
		e.int(l.BeforeTests.Bytes)
	}
}

func (c *Capture) takeLines(d *decoder) {
	c.Lines = make([]Line, d.count(3))
	for i := range c.Lines {
		l := &c.Lines[i]
		if n := d.count(1); n > 0 {
			l.SameBlocks = make([]StackID, n)
			for k := range l.SameBlocks {
				l.SameBlocks[k] = StackID(d.uint())
			}
		}
		l.BeforeTests = Usage{Count: d.int(), Bytes: d.int()}
	}
}

func (c *Capture) putPrinted(e *encoder) { e.uint(uint64(c.Printed)) }

// takePrinted refuses more lists than a log can hold.
func (c *Capture) takePrinted(d *decoder) {
	n := d.uint()
	if n > math.MaxInt32 {
		d.bad = true
	}
	c.Printed = int64(n)
}
