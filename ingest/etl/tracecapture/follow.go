package tracecapture

import (
	"context"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/lifetimes"
)

// ops are what operations do to memory, by kind; zero is nothing.
var ops = [256]struct {
	op    lifetimes.EventKind
	known bool
}{
	etl.KindHeapCreate:          {lifetimes.HeapCreate, true},
	etl.KindHeapAlloc:           {lifetimes.HeapAlloc, true},
	etl.KindHeapReAlloc:         {lifetimes.HeapRealloc, true},
	etl.KindHeapFree:            {lifetimes.HeapFree, true},
	etl.KindHeapDestroy:         {lifetimes.HeapDestroy, true},
	etl.KindHeapSnapShot:        {lifetimes.HeapSnapshot, true},
	etl.KindHeapRangeRundown:    {lifetimes.HeapRange, true},
	etl.KindHeapRangeReserve:    {lifetimes.HeapRange, true},
	etl.KindHeapRangeRelease:    {lifetimes.HeapRangeEnd, true},
	etl.KindVirtualAlloc:        {lifetimes.VirtualAlloc, true},
	etl.KindVirtualFree:         {lifetimes.VirtualFree, true},
	etl.KindVirtualAllocDCStart: {lifetimes.VirtualRundownStart, true},
	etl.KindVirtualAllocDCEnd:   {lifetimes.VirtualRundownEnd, true},
	etl.KindProcessStart:        {lifetimes.ProcessStart, true},
	etl.KindProcessEnd:          {lifetimes.ProcessEnd, true},
}

// A follower tracks what operations do, and when the files of the trace had any.
type follower struct {
	tracker *lifetimes.Tracker
	events  [lifetimes.BatchSize]lifetimes.Event
	files   []extent // by source
}

// An extent is the time of the first and the last operation of a file.
type extent struct {
	from, to int64
	any      bool
	heap     bool // some are of heaps
}

// follow tracks every operation of the trace to its end.
func follow(ctx context.Context, trace *etl.Trace, f *follower) (*etl.JoinResult, error) {
	f.files = make([]extent, len(trace.Info().Files))
	joined, err := trace.OperationBatches(ctx, etl.JoinOptions{}, f.batch)
	if err != nil {
		return nil, err
	}
	return joined, f.tracker.Finish()
}

func (f *follower) batch(operations []etl.Operation) error {
	n := 0
	for i := range operations {
		o := &operations[i]
		op := ops[o.Kind]
		if !op.known { // ranges that a heap was created with have no address
			continue
		}
		f.files[o.SourceIndex].cover(o.Time, o.Kind)
		set(&f.events[n], o, op.op)
		if n++; n == len(f.events) {
			if err := f.tracker.AddAll(f.events[:n]); err != nil {
				return err
			}
			n = 0
		}
	}
	return f.tracker.AddAll(f.events[:n])
}

// set makes an event of an operation. What events of its Op have no use for stays as it was: clearing all of an event
// takes longer than the rest.
func set(e *lifetimes.Event, o *etl.Operation, op lifetimes.EventKind) {
	e.Op, e.Flags, e.Time, e.Process, e.Thread, e.Stack = op, o.Flags, o.Time, o.ProcessIndex, o.TID, uint32(o.Stack)
	e.Heap, e.Address, e.Size = o.Heap, o.Address, o.Size
	switch o.Kind {
	case etl.KindHeapReAlloc:
		e.OldAddress, e.OldSize = o.Old, o.OldSize
	case etl.KindVirtualAllocDCStart, etl.KindVirtualAllocDCEnd:
		e.Committed = o.OldSize
	case etl.KindHeapSnapShot:
		e.Counters = lifetimes.Counters{Free: o.Address, Committed: o.Size, Reserved: o.Old, Allocated: o.OldSize}
	}
}

// cover takes in an operation; times do not decrease.
func (x *extent) cover(at int64, kind etl.Kind) {
	if !x.any {
		x.from, x.any = at, true
	}
	x.to = at
	x.heap = x.heap || heapKinds.Has(kind)
}

// heapKinds are what only a session that traces heaps logs.
var heapKinds = etl.Kinds(etl.KindHeapCreate, etl.KindHeapAlloc, etl.KindHeapReAlloc,
	etl.KindHeapFree, etl.KindHeapDestroy)
