package lifetimes

// Usage counts allocations and their bytes.
type Usage struct{ Count, Bytes int64 }

// Add returns the sum u + v.
func (u Usage) Add(v Usage) Usage { return Usage{u.Count + v.Count, u.Bytes + v.Bytes} }

// Sub returns the difference u − v.
func (u Usage) Sub(v Usage) Usage { return Usage{u.Count - v.Count, u.Bytes - v.Bytes} }

// Classes sorts allocations by when they were made and freed relative to a window [from, to], both ends inside:
// Allocated Inside or Outside (before), Freed Inside or Outside (after, or never). What was freed before the window or
// allocated after it is in none.
type Classes struct {
	AIFO Usage // outstanding: the leak candidates
	AIFI Usage // transient
	AOFO Usage
	AOFI Usage
	// AtExit is the part of AIFI and AOFI that ended with its process. As of the instant before, it was outstanding.
	AtExit Usage
	// UnknownFrees counts frees inside the window whose allocation is not in the trace. They are in no class, because
	// their size, and in a trace that has lost events their time too, is not known.
	UnknownFrees int64
}

// Outstanding is what is alive at the window's end.
func (c *Classes) Outstanding() Usage { return c.AIFO.Add(c.AOFO) }

// AtStart is what is alive as the window begins.
func (c *Classes) AtStart() Usage { return c.AOFO.Add(c.AOFI) }

// Growth is what is alive at the window's end less what was at its start.
func (c *Classes) Growth() Usage { return c.AIFO.Sub(c.AOFI) }

// Allocated is what was allocated inside: Size and Count of WPA's tables.
func (c *Classes) Allocated() Usage { return c.AIFO.Add(c.AIFI) }

// Freed is what was freed inside.
func (c *Classes) Freed() Usage { return c.AIFI.Add(c.AOFI) }

// Add returns the sums of two sets of allocations in the same window.
func (c Classes) Add(d Classes) Classes {
	return Classes{
		AIFO: c.AIFO.Add(d.AIFO), AIFI: c.AIFI.Add(d.AIFI), AOFO: c.AOFO.Add(d.AOFO), AOFI: c.AOFI.Add(d.AOFI),
		AtExit: c.AtExit.Add(d.AtExit), UnknownFrees: c.UnknownFrees + d.UnknownFrees,
	}
}

// A Peak is the most bytes that were outstanding at once, how many allocations that were, and since when.
type Peak struct {
	Usage
	At int64
}

// An account is what is known of some allocations so far: of a site, a heap or a process.
type account struct {
	live   Usage // of these, before is older than the trace
	before Usage
	ended  Classes // only AIFI, AOFI, AtExit, UnknownFrees
	peak   Peak
}

func (a *account) grow(at int64, count, bytes int64) {
	a.live.Count += count
	a.live.Bytes += bytes
	if a.live.Bytes > a.peak.Bytes {
		a.peak = Peak{a.live, at}
	}
}

// adopt adds memory that turns out to have been there all the time.
func (a *account) adopt(at int64, bytes int64) {
	a.live = a.live.Add(Usage{1, bytes})
	a.before = a.before.Add(Usage{1, bytes})
	if a.peak.Bytes == 0 {
		a.peak.At = at
	}
	a.peak.Usage = a.peak.Add(Usage{1, bytes})
}

// end takes allocations away. Their part in before goes, too.
func (a *account) end(u Usage, before bool, how End) {
	a.live = a.live.Sub(u)
	if before {
		a.before = a.before.Sub(u)
		a.ended.AOFI = a.ended.AOFI.Add(u)
	} else {
		a.ended.AIFI = a.ended.AIFI.Add(u)
	}
	if how == EndExit {
		a.ended.AtExit = a.ended.AtExit.Add(u)
	}
}

// classes are those of the whole trace up to now.
func (a *account) classes() Classes {
	c := a.ended
	c.AIFO, c.AOFO = a.live.Sub(a.before), a.before
	return c
}

// leave and enter move what is alive between accounts.
func (a *account) leave(u Usage, before bool) {
	a.live = a.live.Sub(u)
	if before {
		a.before = a.before.Sub(u)
	}
}

func (a *account) enter(at int64, u Usage, before bool) {
	if before {
		a.before = a.before.Add(u)
	}
	a.grow(at, u.Count, u.Bytes)
}
