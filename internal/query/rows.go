package query

import (
	"context"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// rows are those of a table that a selection takes by what single allocations are.
func (s *Selection) rows(all allocations.Scanner, w capture.Window) allocations.Scanner {
	if !s.OfAllocations() {
		return all
	}
	return &chosenRows{all, s, w}
}

// chosenRows are rows of a Scanner: those that a selection takes.
type chosenRows struct {
	allocations.Scanner
	selection *Selection
	window    capture.Window
}

// Scan implements allocations.Scanner.
func (c *chosenRows) Scan(ctx context.Context, from, to int64, sinks ...allocations.Sink) error {
	chosen := make([]allocations.Sink, len(sinks))
	for i, sink := range sinks {
		chosen[i] = &filter{func(row *allocations.Row) bool { return c.selection.takes(row, c.window) }, sink, nil}
	}
	return c.Scanner.Scan(ctx, from, to, chosen...)
}

// A filter hands on the rows that it takes. Rows are in a slice that is used again, so that it takes no memory for
// each.
type filter struct {
	takes func(*allocations.Row) bool
	next  allocations.Sink
	kept  []allocations.Row
}

// AddRows implements allocations.Sink.
func (c *filter) AddRows(rows []allocations.Row) error {
	c.kept = c.kept[:0]
	for i := range rows {
		if c.takes(&rows[i]) {
			c.kept = append(c.kept, rows[i])
		}
	}
	if len(c.kept) == 0 {
		return nil
	}
	return c.next.AddRows(c.kept)
}

// takes reports whether an allocation is selected. Of a free whose allocation is not in the trace neither size nor
// thread are known: it is selected by neither.
func (s *Selection) takes(r *allocations.Row, w capture.Window) bool {
	if s.Thread != nil && (r.UnknownFree || r.Thread != *s.Thread) {
		return false
	}
	if s.Size != (Range{}) && (r.UnknownFree || !s.Size.has(r.Size)) {
		return false
	}
	return s.Age == (Range{}) || s.Age.has(ageOf(r, w))
}

// ageOf is how old an allocation is at a window's end, or was when it was freed, in ns. Of one from before the trace
// only the time since the trace's start is known.
func ageOf(r *allocations.Row, w capture.Window) uint64 {
	from, to := r.AllocTime, min(r.FreeTime, w.To)
	if from == allocations.BeforeTrace {
		from = min(0, w.From)
	}
	if to < from {
		return 0
	}
	return uint64(to - from)
}
