package allocations

// Usage counts allocations and their bytes.
type Usage struct{ Count, Bytes int64 }

// Add returns the sum u + v.
func (u Usage) Add(v Usage) Usage { return Usage{u.Count + v.Count, u.Bytes + v.Bytes} }

// Sub returns the difference u − v.
func (u Usage) Sub(v Usage) Usage { return Usage{u.Count - v.Count, u.Bytes - v.Bytes} }

// WindowUsage sorts allocations by when they were made and freed relative to a window [from, to], both ends inside. The
// fields have WPA's names: A is allocated, F freed, I inside the window and O outside. An allocation outside came
// before the window; a free outside came after it, or never. What was freed before the window or allocated after it is
// in none.
type WindowUsage struct {
	AIFO Usage // allocated inside, held at the end: the leak candidates
	AIFI Usage // allocated and freed inside: transient
	AOFO Usage // allocated before, held at the end
	AOFI Usage // allocated before, freed inside
	// AtExit is the part of AIFI and AOFI that ended with its process. As of the instant before, it was outstanding.
	AtExit Usage
	// UnknownFrees counts frees inside the window whose allocation is not in the trace. They are in none of the four,
	// because their size, and in a trace that has lost events their time too, is not known.
	UnknownFrees int64
}

// Outstanding is what is held at the window's end, whenever it was allocated: AIFO and AOFO.
func (c *WindowUsage) Outstanding() Usage { return c.AIFO.Add(c.AOFO) }

// AtStart is what is alive as the window begins.
func (c *WindowUsage) AtStart() Usage { return c.AOFO.Add(c.AOFI) }

// Growth is what is alive at the window's end less what was at its start.
func (c *WindowUsage) Growth() Usage { return c.AIFO.Sub(c.AOFI) }

// Allocated is what was allocated inside: Size and Count of WPA's tables.
func (c *WindowUsage) Allocated() Usage { return c.AIFO.Add(c.AIFI) }

// Freed is what was freed inside.
func (c *WindowUsage) Freed() Usage { return c.AIFI.Add(c.AOFI) }

// Add returns the sums of two sets of allocations in the same window.
func (c WindowUsage) Add(d WindowUsage) WindowUsage {
	return WindowUsage{
		AIFO: c.AIFO.Add(d.AIFO), AIFI: c.AIFI.Add(d.AIFI), AOFO: c.AOFO.Add(d.AOFO), AOFI: c.AOFI.Add(d.AOFI),
		AtExit: c.AtExit.Add(d.AtExit), UnknownFrees: c.UnknownFrees + d.UnknownFrees,
	}
}

// A Peak is the most bytes that were outstanding at once, with the number of allocations at that instant.
type Peak struct {
	Usage
	At TraceTime // when it was first reached, ns since the trace's start
}
