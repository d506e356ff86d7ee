package analysis

import (
	"context"

	"heapdrift/ingest/capture"
)

// survivors is, for each site in order, how many of its blocks came between the first and the last snapshot of the longest
// life and stayed; −1 where addresses are not known.
func (s *series) survivors(ctx context.Context) ([]int64, error) {
	first, last := s.longestLife()
	var captures []*capture.Capture
	var parts []int
	for i := first; i < last; i++ {
		p := s.instants[i].part
		if s.parts[p].Shape != capture.ShapeSnapshot {
			captures = nil
			break
		}
		captures, parts = append(captures, s.parts[p].Capture), append(parts, p)
	}
	return capture.Survivors(ctx, captures, func(capture int, site uint32) int32 { return s.places[parts[capture]][site] }, len(s.order))
}
