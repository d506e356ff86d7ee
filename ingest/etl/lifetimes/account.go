package lifetimes

import "heapdrift/ingest/capture/allocations"

// An account is what is known of some allocations so far: of a site, a heap or a process. What most events change comes
// first.
type account struct {
	live  allocations.Usage // of these, before is older than the trace
	freed allocations.Usage // that were allocated inside it
	peak  allocations.Peak

	before       allocations.Usage
	freedBefore  allocations.Usage // that were older
	atExit       allocations.Usage // the part of both that ended with its process
	unknownFrees int64
}

func (a *account) grow(at int64, count, bytes int64) {
	a.live.Count += count
	a.live.Bytes += bytes
	if a.live.Bytes > a.peak.Bytes {
		a.peak = allocations.Peak{Usage: a.live, At: at}
	}
}

// adopt adds memory that turns out to have been there all the time.
func (a *account) adopt(at int64, bytes int64) {
	a.live = a.live.Add(allocations.Usage{Count: 1, Bytes: bytes})
	a.before = a.before.Add(allocations.Usage{Count: 1, Bytes: bytes})
	if a.peak.Bytes == 0 {
		a.peak.At = at
	}
	a.peak.Usage = a.peak.Add(allocations.Usage{Count: 1, Bytes: bytes})
}

// end takes allocations away. Their part in before goes, too.
func (a *account) end(u allocations.Usage, before bool, how allocations.End) {
	a.live = a.live.Sub(u)
	if before {
		a.before = a.before.Sub(u)
		a.freedBefore = a.freedBefore.Add(u)
	} else {
		a.freed = a.freed.Add(u)
	}
	if how == allocations.EndExit {
		a.atExit = a.atExit.Add(u)
	}
}

// classes are those of the whole trace up to now.
func (a *account) classes() allocations.WindowUsage {
	return allocations.WindowUsage{
		AIFO: a.live.Sub(a.before), AIFI: a.freed, AOFO: a.before, AOFI: a.freedBefore, AtExit: a.atExit,
		UnknownFrees: a.unknownFrees,
	}
}

// leave and enter move what is alive between accounts.
func (a *account) leave(u allocations.Usage, before bool) {
	a.live = a.live.Sub(u)
	if before {
		a.before = a.before.Sub(u)
	}
}

func (a *account) enter(at int64, u allocations.Usage, before bool) {
	if before {
		a.before = a.before.Add(u)
	}
	a.grow(at, u.Count, u.Bytes)
}
