// Package tracecapture makes captures of traces. In come the .etl files of one recording; out go a capture for each
// process that allocated or freed, and the allocation rows of all of them. Package etl reads the events, package
// lifetimes follows the memory of every process through them. Files that cannot be read give an *evidence.Error; lost
// events are counted in the captures.
package tracecapture

import (
	"cmp"
	"context"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/lifetimes"
	"heapdrift/ingest/evidence"
)

// Kind is that of captures of traces.
const Kind capture.Kind = "etl"

// Options tune Read. The zero value is right.
type Options struct {
	Workers int // goroutines that decode buffers; 0 for as many as are useful
}

// A Result is what a trace shows.
type Result struct {
	// Captures are one for each process with memory events, the one that holds most first.
	Captures []*capture.Capture
	// Rows are all allocations of all captures, on temporary disk until Close.
	Rows *allocations.Spool
	// Meta says what the numbers of rows stand for.
	Meta *allocations.Meta
}

// Close deletes the temporary disk that Rows lie on.
func (r *Result) Close() error { return r.Rows.Close() }

// CodeNoMemory is the code of the error for traces without memory events.
const CodeNoMemory = "no-memory-events"

// Read reads a trace from the files of one recording. The memory it needs follows what is alive, not the size of the
// files. Its error is an *evidence.Error, or the context's.
func Read(ctx context.Context, sources []etl.Source, opt Options) (_ *Result, err error) {
	trace, err := etl.Open(ctx, sources, etl.Options{Workers: opt.Workers})
	if err != nil {
		return nil, err
	}
	rows := allocations.NewSpool()
	defer func() {
		if err != nil {
			_ = rows.Close() // the first error says more
		}
	}()
	f := follower{tracker: lifetimes.New(rows)}
	joined, err := follow(ctx, trace, &f)
	if err != nil {
		return nil, err
	}
	b := builder{trace: trace, info: trace.Info(), joined: joined, tracker: f.tracker, rows: rows, files: f.files}
	captures, err := b.build(ctx)
	if err != nil {
		return nil, err
	}
	if len(captures) == 0 {
		return nil, noMemory(trace, joined)
	}
	slices.SortStableFunc(captures, func(a, b *capture.Capture) int { return cmp.Compare(b.Held(), a.Held()) })
	return &Result{Captures: captures, Rows: rows, Meta: b.meta()}, nil
}

// noMemory says that there is nothing to analyse, and what to record instead.
func noMemory(trace *etl.Trace, joined *etl.JoinResult) error {
	message := "the trace holds neither heap nor VirtualAlloc events"
	do := "record with heap tracing (wpr -start Heap, or xperf -start HeapSession -heap -Pids N -stackwalk HeapAlloc+HeapRealloc)"
	switch {
	case joined.HeapSnapshots > 0:
		message, do = "the trace holds heap snapshots (wpr -snapshotconfig) only, whose layout is not public",
			"record with heap tracing (wpr -start Heap)"
	case len(joined.Processes) > 0:
		do += "; if this is the kernel session of a pair, give the heap session's file with it"
	}
	return &evidence.Error{Code: CodeNoMemory, File: trace.Info().Files[0].Name, Message: message, Do: do}
}
