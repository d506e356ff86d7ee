package query

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// WriteTable writes the allocations of the selection as an allocation table: those that were made or freed inside the
// window, or held throughout. Its numbers have the meaning of the table of the whole trace.
func (r *Result) WriteTable(ctx context.Context, w io.Writer) error {
	window, err := r.scannable()
	if err != nil {
		return err
	}
	var meta *allocations.Meta
	if r.table.Meta != nil {
		if meta, err = r.table.Meta(); err != nil {
			return err
		}
	}
	return allocations.Write(ctx, w, &selectedRows{r.Selection.rows(r.table.Scanner, window), window, r.siteOf()}, meta)
}

// selectedRows are the rows of a Scanner that lie in a window, of the sites that have a place.
type selectedRows struct {
	allocations.Scanner
	window capture.Window
	siteOf []int32
}

// Scan implements allocations.Scanner.
func (s *selectedRows) Scan(ctx context.Context, from, to int64, sinks ...allocations.Sink) error {
	selected := make([]allocations.Sink, len(sinks))
	for i, sink := range sinks {
		selected[i] = &filter{s.takes, sink, nil}
	}
	return s.Scanner.Scan(ctx, max(from, s.window.From), min(to, s.window.To), selected...)
}

func (s *selectedRows) takes(row *allocations.Row) bool {
	return row.AllocTime <= s.window.To && row.FreeTime >= s.window.From && uint64(row.Site) < uint64(len(s.siteOf)) &&
		s.siteOf[row.Site] >= 0
}
