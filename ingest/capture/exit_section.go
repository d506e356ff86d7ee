package capture

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

// putLines writes which sites of a capture without call stacks have blocks with a stack in another list.
func (c *Capture) putLines(e *encoder) {
	var places []int
	for i := range c.Sites {
		if len(c.Sites[i].SameBlocks) > 0 {
			places = append(places, i)
		}
	}
	e.uint(uint64(len(places)))
	for _, at := range places {
		e.uint(uint64(at))
		e.uint(uint64(len(c.Sites[at].SameBlocks)))
		for _, stack := range c.Sites[at].SameBlocks {
			e.uint(uint64(stack))
		}
	}
}

// takeLines relies on the sites section before it.
func (c *Capture) takeLines(d *decoder) {
	c.Lines = true
	for range d.count(2) {
		at := d.uint()
		if at >= uint64(len(c.Sites)) {
			d.bad = true
			return
		}
		stacks := make([]StackID, d.count(1))
		for i := range stacks {
			stacks[i] = StackID(d.uint())
		}
		c.Sites[at].SameBlocks = stacks
	}
}
