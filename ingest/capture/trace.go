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
	From, To allocations.TraceTime
	// Window is the time that the numbers of sites and heaps are of: the whole trace, or a part of it.
	Window Window
	// HeapFrom is when the first session that traced heaps began. What heaps did before is not seen.
	HeapFrom allocations.TraceTime
	Began    allocations.TraceTime // when the process began; allocations.BeforeTrace where it ran before, or the trace does not tell
	Exited   allocations.TraceTime // when it ended; allocations.Never where it did not
	// Teardown is the last instant before the process began to free what it held in order to end; allocations.Never where
	// it did not. What it frees after that was outstanding as long as it worked.
	Teardown allocations.TraceTime
	// SurvivalsBeyond is how many sites, of all processes of the trace, have no Survival because sites with more
	// allocations left have used up the limit.
	SurvivalsBeyond int64
	Events          int64 // events in the trace, of all processes
	// Heap and Virtual are outstanding memory: of all heaps, and committed by the program.
	Heap, Virtual Timeline
}

// A Window is a part of a trace, from From to To inclusive, in ns since the trace's start.
type Window struct{ From, To allocations.TraceTime }

// Whole is the window that holds all of the trace's time.
func (t *Trace) Whole() Window { return Window{min(0, t.From), max(t.To, t.From)} }

// WorkEnd is when the process's work in a window ends: at the end of the window, at the exit of the process, or where
// the process begins to free its memory, whichever comes first. Times before the trace are in no window.
func (t *Trace) WorkEnd(w Window) int64 {
	over := w.To
	for _, at := range []int64{t.Exited, t.Teardown} {
		if at > t.From {
			over = min(over, at)
		}
	}
	return max(over, w.From)
}

// TracedFrom is when the trace begins to see one kind of memory in a window: at the beginning of the window, of the
// process, or for heaps of the first session that traced them, whichever comes last.
func (t *Trace) TracedFrom(w Window, kind SiteKind) int64 {
	since := max(w.From, t.From, t.Began) // of a circular trace the beginning is gone
	if kind == KindHeap {
		since = max(since, t.HeapFrom)
	}
	return min(since, t.WorkEnd(w))
}

// Held is how many bytes the process holds at the end of what the capture covers; of a trace in which the process
// ended, at the instant before that.
func (c *Capture) Held() (bytes int64) {
	if c.Trace == nil {
		return c.Total(len(c.Snapshots) - 1).Bytes
	}
	for i := range c.Sites {
		if s := &c.Sites[i]; s.Kind != KindHeapVirtual {
			bytes += s.Life.Usage.Outstanding().Bytes + s.Life.Usage.AtExit.Bytes
		}
	}
	return bytes
}

// Instants are n snapshots, all fields but TakenAt empty, at instants that divide the window evenly.
func (t *Trace) Instants(n int) []Snapshot {
	list := make([]Snapshot, n)
	for i, at := range allocations.Instants(t.Window.From, t.Window.To, n) {
		list[i].TakenAt = t.Start.Add(time.Duration(at) - t.Bias)
	}
	return list
}

// A Timeline is outstanding memory over time.
type Timeline struct {
	Peak   allocations.Peak    // the most inside the window, exact
	Points []allocations.Point // over the whole trace
}

// A Life is a site's allocations and their ends.
type Life struct {
	// Number is the site's in the allocation table of the trace.
	Number uint32
	// Usage is what the site allocated and freed in the trace's window.
	Usage allocations.WindowUsage
	// Peak is the most bytes that were outstanding at once inside the window.
	Peak allocations.Peak
	// Survival covers the time from Trace.TracedFrom to Trace.WorkEnd. It is nil for a site
	//   - with fewer than allocations.SurvivalLeast allocations of that time left at its end,
	//   - of KindHeapVirtual, whose heap blocks show more,
	//   - that Trace.SurvivalsBeyond counts,
	//   - in an artifact that was written before survivals existed.
	Survival *allocations.Survival
}
