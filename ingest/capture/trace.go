package capture

import (
	"time"

	"heapdrift/ingest/capture/allocations"
)

// A Trace is what only a capture over time has. Times are ns since Start.
type Trace struct {
	Start time.Time     // UTC; the start time in the trace's header
	Bias  time.Duration // UTC = local time of the traced machine + Bias
	// From and To are the time that is covered: from the first event to the session's end, or to the last event where
	// nothing tells that. What happened outside is not seen.
	From, To int64
	// Window is the time that the numbers of sites and heaps are of: the whole trace, or a part of it.
	Window Window
	// HeapFrom is when the first session that traced heaps began. What heaps did before is not seen.
	HeapFrom int64
	Began    int64 // when the process began: allocations.BeforeTrace where it was there already, or nothing tells
	Exited   int64 // when it ended; allocations.Never where it did not
	Events   int64 // in the trace, of all processes
	// Heap and Virtual are outstanding memory: of all heaps, and committed by the program.
	Heap, Virtual Line
}

// A Window is a stretch of a trace, both ends inside.
type Window struct{ From, To int64 }

// Whole is the window that holds everything a trace knows.
func (t *Trace) Whole() Window { return Window{min(0, t.From), max(t.To, t.From)} }

// Held is what the process holds at the end of what the capture covers, in bytes: of a trace, as of the instant before
// the process ended.
func (c *Capture) Held() (bytes int64) {
	if c.Trace == nil {
		return c.Total(len(c.Snapshots) - 1).Bytes
	}
	for i := range c.Sites {
		if s := &c.Sites[i]; s.Kind != KindHeapVirtual {
			bytes += s.Life.Classes.Outstanding().Bytes + s.Life.Classes.AtExit.Bytes
		}
	}
	return bytes
}

// Instants are n snapshots that divide the window evenly.
func (t *Trace) Instants(n int) []Snapshot {
	list := make([]Snapshot, n)
	for i, at := range allocations.Instants(t.Window.From, t.Window.To, n) {
		list[i].TakenAt = t.Start.Add(time.Duration(at) - t.Bias)
	}
	return list
}

// A Line is outstanding memory over time.
type Line struct {
	Peak   allocations.Peak    // exact, inside the window
	Points []allocations.Point // over the whole trace
}

// A Life is a site's allocations and their ends.
type Life struct {
	// Number is the site's in the allocation table of the trace.
	Number uint32
	// Classes are those of the trace's window.
	Classes allocations.Classes
	// Peak is the most bytes that were outstanding at once inside the window.
	Peak allocations.Peak
}
