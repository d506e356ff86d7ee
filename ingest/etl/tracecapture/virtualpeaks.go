package tracecapture

import (
	"context"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/lifetimes"
)

// virtualPeaks finds the peaks of virtual memory in processes whose heaps committed some. The tracker's own peaks of such
// processes hold each commit of a heap as one of the program for the moment until it shows to be the heap's.
func (b *builder) virtualPeaks(ctx context.Context) error {
	groups := map[uint32]int{}
	for i := range b.sites {
		if b.sites[i].kind == allocations.KindHeapVirtual {
			if _, known := groups[b.sites[i].process]; !known {
				groups[b.sites[i].process] = len(groups)
			}
		}
	}
	if len(groups) == 0 {
		return nil
	}
	from, to := b.window.From, b.window.To
	site := func(r *allocations.Row) int {
		if r.Kind == allocations.KindHeap {
			return -1
		}
		if _, ok := groups[r.Process]; !ok {
			return -1
		}
		return int(r.Site)
	}
	process := func(r *allocations.Row) int {
		if r.Kind != allocations.KindVirtual {
			return -1
		}
		if group, ok := groups[r.Process]; ok {
			return group
		}
		return -1
	}
	sites, processes := allocations.NewPeaks(from, to, len(b.sites), site), allocations.NewPeaks(from, to, len(groups), process)
	if err := b.rows.Scan(ctx, from, to, sinks{sites, processes}); err != nil {
		return err
	}
	b.virtual = map[uint32]allocations.Peak{}
	peaks := processes.Result()
	for process, group := range groups {
		b.virtual[process] = peaks[group]
	}
	peaks = sites.Result()
	for i := range b.sites {
		if _, ok := groups[b.sites[i].process]; ok && b.sites[i].kind != allocations.KindHeap {
			b.sites[i].peak = peaks[i]
		}
	}
	return nil
}

// virtualPeak is the most that a program had committed itself.
func (b *builder) virtualPeak(p *lifetimes.Process) allocations.Peak {
	if peak, ok := b.virtual[p.Instance]; ok {
		return peak
	}
	return p.VirtualPeak
}

// sinks pass rows to several.
type sinks []allocations.Sink

func (s sinks) Rows(rows []allocations.Row) error {
	for _, sink := range s {
		if err := sink.Rows(rows); err != nil {
			return err
		}
	}
	return nil
}
