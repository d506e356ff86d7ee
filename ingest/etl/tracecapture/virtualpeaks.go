package tracecapture

import (
	"context"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/lifetimes"
)

// virtualPeaks finds the peaks of virtual memory in processes whose heaps committed some. The tracker's own peaks of
// such processes hold each commit of a heap as one of the program for the moment until it shows to be the heap's.
func (b *builder) virtualPeaks(ctx context.Context) error {
	groups := map[uint32]int32{}
	for i := range b.sites {
		if _, known := groups[b.sites[i].process]; !known && b.sites[i].kind == allocations.KindHeapVirtual {
			groups[b.sites[i].process] = int32(len(groups))
		}
	}
	if len(groups) == 0 {
		return nil
	}
	sites, processes := make([]int32, len(b.sites)), make([]int32, len(b.sites))
	for i := range b.sites {
		sites[i], processes[i] = -1, -1
		s := &b.sites[i]
		group, ok := groups[s.process]
		if !ok || s.kind == allocations.KindHeap {
			continue
		}
		sites[i] = int32(i)
		if s.kind == allocations.KindVirtual {
			processes[i] = group
		}
	}
	answer, err := allocations.Ask(ctx, virtualRows{b.rows}, allocations.Question{
		From: b.window.From, To: b.window.To, Sites: len(b.sites), Peaks: [][]int32{sites, processes},
	})
	if err != nil {
		return err
	}
	for i, g := range sites {
		if g >= 0 {
			b.sites[i].peak = answer.Peaks[0][g]
		}
	}
	b.virtual = map[uint32]allocations.Peak{}
	for process, group := range groups {
		b.virtual[process] = allocations.Peak{At: b.window.From}
		if int(group) < len(answer.Peaks[1]) {
			b.virtual[process] = answer.Peaks[1][group]
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

// virtualRows leave out the blocks of heaps, which are most rows.
type virtualRows struct{ allocations.Scanner }

func (v virtualRows) Scan(ctx context.Context, from, to int64, sinks ...allocations.Sink) error {
	filtered := make([]allocations.Sink, len(sinks))
	for i, s := range sinks {
		filtered[i] = &virtualSink{sink: s}
	}
	return v.Scanner.Scan(ctx, from, to, filtered...)
}

// A virtualSink passes on what is no block of a heap.
type virtualSink struct {
	sink allocations.Sink
	rows []allocations.Row
}

func (s *virtualSink) AddRows(rows []allocations.Row) error {
	s.rows = s.rows[:0]
	for i := range rows {
		if rows[i].Kind != allocations.KindHeap {
			s.rows = append(s.rows, rows[i])
		}
	}
	if len(s.rows) == 0 {
		return nil
	}
	return s.sink.AddRows(s.rows)
}
