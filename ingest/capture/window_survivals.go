package capture

import (
	"context"

	"heapdrift/ingest/capture/allocations"
)

// askSurvivals adds to a question about a window which sites' Survivals are wanted.
func askSurvivals(ctx context.Context, captures []*Capture, rows allocations.Scanner,
	q *allocations.Question) (beyond int, err error) {
	s := &allocations.SurvivalQuestion{From: make([]int64, q.Sites), Over: make([]int64, q.Sites),
		Heaps: make([]int32, q.Sites)}
	for i := range s.Heaps {
		s.Heaps[i] = -1
	}
	most := make([]allocations.Usage, q.Sites)
	w, heap := Window{q.From, q.To}, int32(0)
	for _, c := range captures {
		known := c.Trace.Window
		inside := known.From <= w.From && known.To >= w.To
		over := c.Trace.WorkEnd(w)
		for i := range c.Sites {
			site := &c.Sites[i]
			n := site.Life.Number
			s.From[n], s.Over[n] = c.Trace.TracedFrom(w, site.Kind), over
			if site.Kind == KindHeapVirtual {
				continue
			}
			s.Heaps[n] = heap + site.Heap + 1 // NoHeap is −1: virtual memory
			most[n] = site.Life.Usage.Allocated()
			if !inside { // nothing bounds it
				most[n].Count = max(most[n].Count, allocations.SurvivalLeast)
			}
		}
		heap += int32(len(c.Heaps)) + 1
	}
	q.Survivals = s
	return q.Pick(ctx, rows, most)
}
