package evaluation

import (
	"context"

	"heapdrift/ingest/capture/allocations"
)

// trace is what a heap trace of a process shows: a Survival for each site, by the same question that the product asks.
func (p *process) trace(ctx context.Context) ([]allocations.Survival, error) {
	rows := p.rows()
	span := p.nanoseconds(1) - p.nanoseconds(p.attached)
	q := allocations.Question{From: 0, To: span, Sites: len(p.sites)}
	survivals := &allocations.SurvivalQuestion{Places: make([]int32, len(p.sites)), Heaps: make([]int32, len(p.sites))}
	for i := range p.sites {
		survivals.Places[i] = int32(i)
		survivals.Heaps[i] = int32(p.sites[i].heap)
	}
	q.Survivals = survivals
	answer, err := allocations.Ask(ctx, rows, q)
	if err != nil {
		return nil, err
	}
	return answer.Survivals, nil
}

func (p *process) nanoseconds(share float64) int64 { return int64(share * p.hours * 3600e9) }

// rows are the allocations of a trace that began when the process was attached to. Of older blocks only frees are in it, and
// a free has neither size nor stack: the row goes to its heap's first site, from where Ask shares it out.
func (p *process) rows() memory {
	start := p.nanoseconds(p.attached)
	var firstOf [4]uint32
	for i := len(p.sites) - 1; i >= 0; i-- {
		firstOf[p.sites[i].heap] = uint32(i)
	}
	var rows memory
	for i := range p.sites {
		s := &p.sites[i]
		for j := range s.blocks {
			b := &s.blocks[j]
			r := allocations.Row{
				AllocTime: p.nanoseconds(b.born) - start, FreeTime: allocations.Never,
				Address: uint64(b.address) << 4, Size: b.size, Heap: uint64(s.heap), Site: uint32(i),
			}
			if b.died <= 1 {
				r.FreeTime, r.End = p.nanoseconds(b.died)-start, allocations.EndFree
			}
			switch {
			case r.FreeTime < 0:
				continue
			case r.AllocTime < 0 && r.FreeTime == allocations.Never:
				continue // never seen
			case r.AllocTime < 0:
				r.AllocTime, r.Size, r.Unknown, r.Site = allocations.BeforeTrace, 0, true, firstOf[s.heap]
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// memory is rows in memory: a Scanner.
type memory []allocations.Row

// Len is the number of rows.
func (m memory) Len() int64 { return int64(len(m)) }

// Scan passes all rows to the first sink.
func (m memory) Scan(ctx context.Context, _, _ int64, sinks ...allocations.Sink) error {
	const batch = 4096
	for len(m) > 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n := min(batch, len(m))
		if err := sinks[0].Rows(m[:n]); err != nil {
			return err
		}
		m = m[n:]
	}
	return nil
}
