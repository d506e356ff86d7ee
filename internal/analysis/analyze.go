package analysis

import (
	"context"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// depthLimit is the number of frames that Windows records in a stack at most: 32, and 16 in old versions. A
// stack of that depth lacks its outer end.
const depthLimit, oldDepthLimit = 32, 16

// Analyze makes the report on one process from evidence in the order of time. Where the evidence is of several kinds,
// the report is about the most informative kind, and the other kinds add what they show of its findings. Its error is
// an *Error where the input cannot be analysed, else the context's.
func Analyze(ctx context.Context, inputs []Input, opt Options) (*Report, error) {
	c, err := choose(inputs, opt)
	if err != nil {
		return nil, err
	}
	d, err := draftOf(ctx, c.parts, slices.Concat(c.facts, slices.Concat(c.otherKinds...)), &opt)
	if err != nil {
		return nil, err
	}
	d.inputs, d.chosen = inputs, c
	if err := d.take(ctx, runSteps); err != nil {
		return nil, err
	}
	return d.report, nil
}

func processOf(p capture.Process) Process { return Process{p.Name, p.PID, int(p.Bits)} }

func (s *series) matchedBy() string {
	switch {
	case len(s.parts) == 1:
		return ""
	case s.lives[len(s.lives)-1] == 0:
		return "id"
	}
	return "stack"
}

// snapshots lists the instants; fillTotals adds their figures.
func (s *series) snapshots() []Snapshot {
	list := make([]Snapshot, len(s.instants))
	var start time.Time
	for i, at := range s.instants {
		from := s.parts[at.part].Snapshots[at.snapshot]
		list[i] = Snapshot{File: s.parts[at.part].file, TakenAt: from.WallClock(), LowerBound: from.LowerBound}
		if i == 0 {
			start = from.TakenAt
		}
		if !start.IsZero() && !from.TakenAt.IsZero() {
			list[i].AtNS = from.TakenAt.Sub(start).Nanoseconds()
		}
	}
	if trace := s.parts[len(s.parts)-1].Trace; trace != nil { // the clock is coarser than its instants
		for i, at := range allocations.Instants(trace.Window.From, trace.Window.To, len(list)) {
			list[i].AtNS = at
		}
	}
	return list
}

// amounts gives outstanding and growth of a series of usages.
func amounts(usage []capture.Usage) Amounts {
	last := usage[len(usage)-1]
	a := Amounts{Outstanding: Amount{last.Count, last.Bytes}}
	if len(usage) > 1 {
		d := last.Sub(usage[0])
		a.Growth = &Amount{d.Count, d.Bytes}
	}
	return a
}

// fillTotals sums the sites by kind, by heap and by instant.
func (s *series) fillTotals(r *Report) {
	n := len(s.instants)
	kinds := [2][]capture.Usage{make([]capture.Usage, n), make([]capture.Usage, n)}
	heaps := make([][]capture.Usage, len(s.heaps))
	for i := range heaps {
		heaps[i] = make([]capture.Usage, n)
	}
	for _, m := range s.order {
		for i, u := range m.usage {
			kinds[m.key.kind][i] = kinds[m.key.kind][i].Add(u)
			if m.key.heap != capture.NoHeap {
				heaps[m.key.heap][i] = heaps[m.key.heap][i].Add(u)
			}
		}
	}
	r.Totals = Totals{Heap: amounts(kinds[capture.KindHeap]), Virtual: amounts(kinds[capture.KindVirtual])}
	for slot, handle := range s.heaps {
		r.Heaps = append(r.Heaps, Heap{Handle: hexNumber(handle), Amounts: amounts(heaps[slot])})
	}
	for i := range r.Snapshots {
		sum := kinds[capture.KindHeap][i].Add(kinds[capture.KindVirtual][i])
		r.Snapshots[i].Amount = Amount{sum.Count, sum.Bytes}
	}
}
