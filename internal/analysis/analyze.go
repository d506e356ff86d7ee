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
// the report is about the most informative kind, and the other kinds add what they show of its findings. Its error is an *Error
// where the input cannot be analysed, else the context's.
func Analyze(ctx context.Context, inputs []Input, opt Options) (*Report, error) {
	c, err := choose(inputs, opt)
	if err != nil {
		return nil, err
	}
	all := c.all()
	r, err := report(ctx, c.parts, &opt, slices.Concat(c.facts, slices.Concat(c.otherKinds...)))
	if err != nil {
		return nil, err
	}
	shown := len(r.Findings)
	if opt.Shown > 0 && len(c.otherKinds) == 0 && !opt.Rules.HasAttributes() {
		shown = min(shown, opt.Shown)
	}
	if err := r.describeFirst(ctx, shown); err != nil {
		return nil, err
	}
	for _, parts := range c.otherKinds {
		other, err := report(ctx, parts, &opt, nil)
		if err != nil {
			return nil, err
		}
		if err := other.describeFirst(ctx, len(other.Findings)); err != nil {
			return nil, err
		}
		addOtherKind(r, other)
		c.warnings = append(c.warnings, otherKindWarnings(other.Warnings)...)
	}
	if r.Memory, err = memories(ctx, all, &opt, r.table); err != nil {
		return nil, err
	}
	r.MemoryHistory = memoryHistoryOf(all)
	r.Reported = reported(r.Memory)
	r.Warnings = append(r.Warnings, otherKindWarnings(readerWarnings(c.facts))...)
	r.setHeldAtExit()
	r.Unreachable = unreached(r.Findings)
	forgetUnfound(r)
	r.Evidence = evidence(inputs, all)
	strangers := c.otherProcesses()
	if len(strangers) > 0 && r.doubted == nil {
		r.doubted = &strangers[0]
	}
	r.Warnings = slices.Concat(strangers, c.warnings, r.Warnings)
	if r.doubted != nil {
		for i := range r.Findings {
			r.Findings[i].Certain = false
		}
	}
	if firstLossy(r.Warnings) != nil || r.doubted != nil { // the verdict is inconclusive, whatever leaks
		r.Power, r.powerless = nil, ""
	}
	r.doubtAmongMany()
	if err := r.findCauses(ctx); err != nil {
		return nil, err
	}
	if err := r.describeFirst(ctx, min(len(r.Findings), shown+r.lostTogether())); err != nil { // a cause is shown as one
		return nil, err
	}
	r.asked = opt.Matters
	r.Verdict = decide(r)
	r.Verdict.Suffices = new(r.Suffices())
	r.dropFrames()
	return r, nil
}

// dropFrames lets go of the table of frames. Where it repeats rows, sites take from it what they need before.
func (r *Report) dropFrames() {
	if r.table.repeats {
		inParts(len(r.Sites), func(from, to int) {
			for i := from; i < to; i++ {
				r.write(i, &r.Sites[i])
			}
		})
		r.write = nil
		r.Stacks = r.Stacks.only(r.stackRefs())
	}
	r.table = nil
}

// report makes the report on parts that are of one kind, without the evidence that they stem from and without a
// verdict. others are other evidence of the run, which may have found blocks that nothing points to.
func report(ctx context.Context, parts []part, opt *Options, others []part) (*Report, error) {
	s, err := merge(ctx, parts)
	if err != nil {
		return nil, err
	}
	if err := s.joinUnreachable(ctx, others); err != nil {
		return nil, err
	}
	if err := s.agree(ctx); err != nil {
		return nil, err
	}
	last := parts[len(parts)-1]
	r := &Report{
		Schema:    Schema,
		Process:   processOf(processIn(parts)),
		Modules:   modules(parts, opt.Names),
		Snapshots: s.snapshots(),
		Heaps:     []Heap{},
		Stacks:    newStacks(),
		MatchedBy: s.matchedBy(),
		Work:      s.work(opt.WorkUnit),

		listsNothing: last.Shape == capture.ShapeFacts,
		listsChanged: last.Shape == capture.ShapeDifference,
	}
	r.table = newFrameTable(r)
	if trace := last.Trace; trace != nil {
		r.Trace, r.Window = traceOf(trace), new(windowOf(trace.Window))
		s.checkCoverage(last)
	}
	if opt.Settle > 0 {
		r.settle, r.settled = opt.Settle, s.settle(r.Snapshots, opt.Settle)
	}
	spans, err := s.spans(ctx)
	if err != nil {
		return nil, err
	}
	judge := s.judgeOf(r, spans)
	r.judged = r.Snapshots[judge.first:judge.last]
	sites, err := s.fillSites(ctx, r, judge, spans, opt)
	if err != nil {
		return nil, err
	}
	if last.Trace != nil {
		s.fillTraceTotals(r)
	} else {
		s.fillTotals(r)
	}
	r.doubted = s.doubted
	r.Power, r.powerless = judge.power(r, sites)
	r.Stretches = judge.stretches(r)
	countFrames(r, r.table)
	r.Warnings = append(append([]Warning{}, readerWarnings(parts)...), s.warnings...)
	r.Warnings = append(r.Warnings, symbolWarnings(r)...)
	return r, nil
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
		list[i] = Snapshot{File: s.parts[at.part].file, TakenAt: takenAt(from.TakenAt), LowerBound: from.LowerBound}
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
