package lifetimes

import (
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/evidence"
)
import "math"

// A Tracker follows memory through events in time order.
type Tracker struct {
	// Anomalies so far.
	Anomalies Anomalies // those met so far
	// Events counts the events met so far; the index is Event.Op.
	Events [ProcessEnd + 1]int64

	rows      rows
	blocks    blockArena
	sites     siteTable
	heaps     heapTable
	processes processTable
	commits   commitArena
	granules  granuleCache
	last      int64      // time of the latest event
	gaps      []interval // scratch of commit
	ending    []uint32   // scratch of endHeap
	touched   uint64     // keeps the reads of touch from being left out
	finished  bool
	err       error
}

// New makes a Tracker that passes rows to sink, which may be nil.
func New(sink allocations.Sink) *Tracker {
	return &Tracker{rows: rows{sink: sink, buf: make([]allocations.Row, 0, batch)}, last: math.MinInt64}
}

// Add takes the next event. Events that make no sense are counted in Anomalies; an error is an *evidence.Error, and the
// same for every later call.
func (t *Tracker) Add(e *Event) error {
	if t.finished {
		return &evidence.Error{Code: CodeFinished, Message: "an event after the end of the trace",
			Do: "make a new Tracker", Internal: true}
	}
	if e.Op > ProcessEnd || e.Time == allocations.BeforeTrace || e.Time == allocations.Never {
		t.Anomalies.Malformed++
		return t.failure()
	}
	t.Events[e.Op]++
	if e.Time < t.last {
		t.Anomalies.Disordered++
	} else {
		t.last = e.Time
	}
	switch e.Op {
	case HeapAlloc:
		t.heapAlloc(e)
	case HeapFree:
		t.heapFree(e)
	case HeapRealloc:
		t.heapRealloc(e)
	case HeapCreate:
		t.heapCreate(e)
	case HeapDestroy:
		t.heapDestroy(e)
	case HeapSnapshot:
		t.heapSnapshot(e)
	case HeapRange:
		t.heapRange(e)
	case HeapRangeEnd:
		t.heapRangeEnd(e)
	case VirtualAlloc:
		t.virtualAlloc(e)
	case VirtualFree:
		t.virtualFree(e)
	case VirtualRundownStart:
		t.rundownStart(e)
	case VirtualRundownEnd:
		t.rundownEnd(e)
	case ProcessStart:
		t.processStart(e)
	case ProcessEnd:
		t.processEnd(e)
	}
	return t.failure()
}

func (t *Tracker) failure() error {
	if t.err != nil {
		return t.err
	}
	return t.rows.err
}

// tooMany stops the Tracker.
func (t *Tracker) tooMany() {
	t.err = &evidence.Error{Code: CodeTooMany, Message: "more than four billion blocks are alive",
		Do: "analyse a shorter trace"}
}

// Finish ends the trace: what is alive becomes rows that end Never. What Site and Process tell is final afterwards.
func (t *Tracker) Finish() error {
	if t.finished {
		return t.failure()
	}
	t.finished = true
	for id := range uint32(t.heaps.len()) {
		t.endHeap(id, allocations.Never, allocations.EndNone)
	}
	for id := range uint32(t.processes.len()) {
		t.endVirtual(id, allocations.Never, allocations.EndNone)
	}
	t.rows.flush()
	t.rows.buf, t.blocks, t.commits, t.ending, t.gaps = nil, blockArena{}, commitArena{}, nil, nil
	t.sites.kinds, t.heaps.index, t.heaps.recent = [len(t.sites.kinds)]siteIndex{}, nil, 0
	return t.failure()
}

// Last is the time of the latest event in ns since the trace's start; ok is false before the first.
func (t *Tracker) Last() (at int64, ok bool) { return t.last, t.last != math.MinInt64 }
