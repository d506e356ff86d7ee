package analysis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// depthLimit is the number of frames that Windows records in a stack at most: 32, and 16 in old versions. A
// stack of that depth lacks its outer end.
const depthLimit, oldDepthLimit = 32, 16

// Analyze makes the report on one process from evidence in the order of time. Where the evidence is of several kinds, the
// report is about the one that says most, and the others are witnesses of its findings. Its error is an *Error where the
// input cannot be analysed, else the context's.
func Analyze(ctx context.Context, inputs []Input, opt Options) (*Report, error) {
	c, err := choose(inputs, opt)
	if err != nil {
		return nil, err
	}
	all := c.all()
	r, err := report(ctx, c.parts, &opt, slices.Concat(c.facts, slices.Concat(c.witnesses...)))
	if err != nil {
		return nil, err
	}
	for _, parts := range c.witnesses {
		other, err := report(ctx, parts, &opt, nil)
		if err != nil {
			return nil, err
		}
		takeWitness(r, other)
		c.warnings = append(c.warnings, witnessWarnings(other.Warnings)...)
	}
	if r.Memory, err = memories(ctx, all, &opt); err != nil {
		return nil, err
	}
	r.Reported = reported(r.Memory)
	r.Warnings = append(r.Warnings, witnessWarnings(readerWarnings(c.facts))...)
	r.sayHeldAtExit()
	r.Unreachable = unreached(r.Findings)
	forgetUnfound(r)
	r.Evidence = evidence(inputs, all)
	strangers := c.strangers()
	if len(strangers) > 0 && r.doubted == nil {
		r.doubted = &strangers[0]
	}
	r.Warnings = slices.Concat(strangers, c.warnings, r.Warnings)
	if r.doubted != nil {
		for i := range r.Findings {
			r.Findings[i].Certain = false
		}
	}
	r.Verdict = decide(r)
	return r, nil
}

// report makes the report on parts that are of one kind, without the evidence that they stem from and without a verdict.
// others are other evidence of the run, which may have found blocks that nothing points to.
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
		MatchedBy: s.matchedBy(),
		Work:      s.work(opt.WorkUnit),

		listsNothing: last.Shape == capture.ShapeFacts,
		listsChanged: last.Shape == capture.ShapeDifference,
	}
	if trace := last.Trace; trace != nil {
		r.Trace, r.Window = traceOf(trace), new(windowOf(trace.Window))
		s.checkCoverage(last)
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
	r.Power = judge.power(r, sites)
	countFrames(r)
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

// fillSites makes the report's sites, most growth first, and behind them those that are in no total, and the findings that
// they are.
func (s *series) fillSites(ctx context.Context, r *Report, judge *judge, spans *capture.SiteSpans, opt *Options) ([]*judgedSite, error) {
	made, process := make([]*frames, len(s.parts)), processIn(s.parts)
	sites := make([]*judgedSite, len(s.order)) // sorted as pointers: a Site is large
	for i, m := range s.order {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("analysis: %w", context.Cause(ctx))
		}
		if made[m.stackOf] == nil {
			made[m.stackOf] = newFrames(s.keys[m.stackOf], opt, process)
		}
		site := s.site(m, made[m.stackOf], r.Snapshots)
		site.sample.spans, site.sample.followed = spans.Of(i)
		sites[i] = site
	}
	if err := judge.all(ctx, sites); err != nil {
		return nil, err
	}
	slices.SortStableFunc(sites, func(x, y *judgedSite) int {
		a, b := x.Site, y.Site
		return cmp.Or(compareKind(a, b), compareGrowth(b, a), cmp.Compare(b.Outstanding.Bytes, a.Outstanding.Bytes), compareAllocated(b, a),
			cmp.Compare(a.Signature, b.Signature), slices.Compare(a.Key.Stack[:], b.Key.Stack[:]), cmp.Compare(a.Heap, b.Heap))
	})
	r.Sites = make([]Site, len(sites))
	for i, site := range sites {
		r.Sites[i] = *site.Site
	}
	var err error
	r.Findings, err = s.findings(ctx, judge, sites)
	return sites, err
}

// compareKind puts what heaps took from the system last: the heaps' own sites say where it went.
func compareKind(a, b *Site) int {
	last := func(s *Site) int {
		if s.Kind == capture.KindHeapVirtual.String() {
			return 1
		}
		return 0
	}
	return cmp.Compare(last(a), last(b))
}

// compareGrowth orders by growth; where a process ended, by that of the instant before.
func compareGrowth(a, b *Site) int {
	x, y := a.BeforeExit(), b.BeforeExit()
	return cmp.Or(cmp.Compare(x.Bytes, y.Bytes), cmp.Compare(x.Count, y.Count))
}

// compareAllocated orders the sites of traces by what they allocated.
func compareAllocated(a, b *Site) int {
	if a.Lifetimes == nil || b.Lifetimes == nil {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Allocated.Bytes, b.Allocated.Bytes), cmp.Compare(a.Allocated.Count, b.Allocated.Count))
}

// site makes one site of the report.
func (s *series) site(m *merged, f *frames, snapshots []Snapshot) *judgedSite {
	stack := f.of(m.stack, m.key.Kind)
	out := &Site{
		Kind: m.key.Kind.String(), Amounts: amounts(m.usage), Key: m.key, Flags: []string{},
		Signature: stack.signatures[m.key.Kind], Stack: stack.frames, Blame: stack.blamed(), Series: make([]Point, len(m.usage)),
	}
	for i, u := range m.usage {
		out.Series[i] = Point{snapshots[i].AtNS, Amount{u.Count, u.Bytes}}
	}
	if m.key.Heap != capture.NoHeap {
		out.Heap = hexNumber(s.heaps[m.key.Heap])
	}
	for _, trace := range m.traces {
		out.Traces = append(out.Traces, strings.ToUpper(fmt.Sprintf("%x", trace)))
	}
	for _, alias := range m.aliases {
		out.Aliases = append(out.Aliases, f.of(alias, m.key.Kind).frames)
	}
	if len(out.Aliases) > 0 {
		out.Flags = append(out.Flags, FlagAmbiguous)
	}
	if isTruncated(len(f.keys.capture.Stacks.Stack(m.stack)), out.Stack) {
		out.Flags = append(out.Flags, FlagTruncated)
	}
	if len(out.Stack) == 0 {
		out.Flags = append(out.Flags, FlagNoStack)
	}
	if s.looked {
		out.Unreachable = &Amount{m.unreachable.Count, m.unreachable.Bytes}
	}
	site := &judgedSite{Site: out, kind: m.key.Kind, agreed: Amount{m.agreed.Count, m.agreed.Bytes}, tell: func() told { return f.tell(m.stack, m.key.Kind) }, sample: sample{kind: m.key.Kind, usage: m.usage}}
	if len(m.lives) > 0 {
		site.takeLives(m, s.parts[m.part].Trace)
	} else {
		site.sample.amounts = out.Amounts
	}
	return site
}

// isTruncated reports whether a stack of that many return addresses ends because no more were recorded. At the old
// limit only a stack that does not end in the start of a thread counts.
func isTruncated(depth int, stack []*Frame) bool {
	return depth >= depthLimit || depth == oldDepthLimit && stack[len(stack)-1].Layer != LayerBase
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
			kinds[m.key.Kind][i] = kinds[m.key.Kind][i].Add(u)
			if m.key.Heap != capture.NoHeap {
				heaps[m.key.Heap][i] = heaps[m.key.Heap][i].Add(u)
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
