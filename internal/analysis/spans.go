package analysis

import (
	"context"

	"heapdrift/ingest/capture"
)

// spans are when the blocks of each site in order came and went, over the snapshots of the longest life.
func (s *series) spans(ctx context.Context) (*capture.SiteSpans, error) {
	first, last := s.judgedLife()
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
	return capture.Spans(ctx, captures, func(capture int, site uint32) int32 { return s.places[parts[capture]][site] },
		len(s.order))
}
