package allocations

import (
	"context"
	"sync/atomic"

	"heapdrift/ingest/crew"
)

// A Scanner is a set of rows that can be read again and again.
type Scanner interface {
	// Len is the number of rows.
	Len() int64
	// Scan passes every row that can matter to the window [from, to] to exactly one of the sinks; rows that ended before
	// it or began after it may be left out. Each sink is used by one goroutine at a time, different sinks at the same
	// time. A single sink gets rows in the order in which they were written. The first error of a sink ends the scan and
	// is returned; so does the context's.
	Scan(ctx context.Context, from, to int64, sinks ...Sink) error
}

// deal runs do for every number below parts, in rising order, on one goroutine for each sink. The first error ends it.
func deal(ctx context.Context, parts int64, sinks []Sink, do func(part int64, sink Sink) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	work := func(sink Sink) {
		for ctx.Err() == nil {
			part := next.Add(1) - 1
			if part >= parts {
				return
			}
			if err := do(part, sink); err != nil {
				cancel(err)
				return
			}
		}
	}
	var others crew.Crew
	for _, sink := range sinks[min(1, len(sinks)):] {
		others.Go(func() { work(sink) })
	}
	if len(sinks) > 0 {
		work(sinks[0])
	}
	others.Wait()
	return context.Cause(ctx)
}
