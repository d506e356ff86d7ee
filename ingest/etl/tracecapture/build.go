package tracecapture

import (
	"context"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/lifetimes"
)

// A builder makes captures of a trace that was followed to its end.
type builder struct {
	trace   *etl.Trace
	info    etl.Info // after the pass; a copy each time it is asked for would be one for each process
	joined  *etl.JoinResult
	tracker *lifetimes.Tracker
	all     lifetimes.Anomalies // of the trace
	rows    *allocations.Spool
	files   []extent // of memory events, by file

	sites    []site
	covered  capture.Window // from the first event to the session's end
	window   capture.Window // the whole trace
	answer   *allocations.Answer
	instants []capture.Snapshot // of the whole trace: the same for all captures
	asked    allocations.Question
	torn     map[uint32]int64            // by process that ended: when it began to free what it held
	beyond   int                         // sites without a Survival because others have more left
	lost     []capture.Warning           // what the files lack
	messages map[string]string           // of warnings
	virtual  map[uint32]allocations.Peak // by process, where heaps committed memory
	turns    map[uint32]*turns           // by process, where images had the same addresses one after the other
}

// idle is how long a session may have gone on behind its last event for its header to be believed.
const idle = int64(time.Hour)

// cover is the time that the trace covers. The session's end is that of its header, where there is one: which events
// come last depends on how the session was recorded and merged.
func (b *builder) cover() capture.Window {
	w := capture.Window{}
	w.From, w.To = b.trace.Covered()
	last, ok := b.tracker.Last()
	if !ok {
		return w
	}
	var end int64
	for i := range b.info.Files {
		l := &b.info.Files[i].LogFile
		if l.End.IsZero() {
			return w
		}
		end = max(end, l.End.Sub(b.info.Start).Nanoseconds())
	}
	if end >= last && end <= w.To+idle {
		w.To = end
	}
	return w
}

// Instants at which the outstanding memory of sites is sampled: as many as sampleMemory allows.
const (
	maxSamples   = 64
	minSamples   = 2
	sampleMemory = 64 << 20 // bytes
	sampleBytes  = 32       // of one site at one instant, as it is counted and in the capture
)

// build makes a capture for every process with memory.
func (b *builder) build(ctx context.Context) ([]*capture.Capture, error) {
	b.covered = b.cover()
	b.number()
	if len(b.sites) == 0 {
		return nil, nil
	}
	b.window = (&capture.Trace{From: b.covered.From, To: b.covered.To}).Whole()
	b.all = b.tracker.Anomalies
	if err := b.ask(ctx); err != nil {
		return nil, err
	}
	byProcess := map[uint32][]uint32{}
	var order []uint32
	for n := range b.sites {
		p := b.sites[n].process
		if b.sites[n].classes == (allocations.WindowUsage{}) { // nothing was allocated while its images were there
			continue
		}
		if byProcess[p] == nil {
			order = append(order, p)
		}
		byProcess[p] = append(byProcess[p], uint32(n))
	}
	b.lost, b.messages = b.trace.Warnings(), map[string]string{}
	var captures []*capture.Capture
	for _, p := range order {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		captures = append(captures, b.capture(p, byProcess[p]))
	}
	return captures, nil
}

// ask looks through the rows for what the tracker does not know: samples, survivals, and the peaks of sites that were
// several and of virtual memory beside heaps.
func (b *builder) ask(ctx context.Context) (err error) {
	q := allocations.Question{
		From: b.window.From, To: b.window.To, Sites: len(b.sites),
		Samples: max(minSamples, min(maxSamples, sampleMemory/sampleBytes/len(b.sites))),
	}
	groups, n := make([]int32, len(b.sites)), int32(0)
	for i := range b.sites {
		groups[i] = -1
		if b.sites[i].merged {
			groups[i] = n
			n++
		}
	}
	if n > 0 {
		q.Peaks = [][]int32{groups}
	}
	if err := b.askSurvivals(ctx, &q); err != nil {
		return err
	}
	b.asked = q
	if b.answer, err = allocations.Ask(ctx, b.rows, q); err != nil {
		return err
	}
	for i := range b.sites {
		if b.sites[i].split {
			b.sites[i].classes = b.answer.Sites[i]
		}
	}
	for i, g := range groups {
		if g >= 0 {
			b.sites[i].peak = b.answer.Peaks[0][g]
		}
	}
	return b.virtualPeaks(ctx)
}

// capture makes the capture of one process.
func (b *builder) capture(number uint32, sites []uint32) *capture.Capture {
	p, info := &b.joined.Processes[number], &b.info
	lines, heaps, _ := b.tracker.Process(number)
	c := &capture.Capture{
		Kind: Kind, Shape: capture.ShapeTrace,
		Process: capture.Process{Name: processName(p), PID: p.PID, Bits: b.bits(p)},
		Trace: &capture.Trace{
			Start: info.Start, Bias: info.Files[0].LogFile.ZoneBias, From: b.covered.From, To: b.covered.To, Window: b.window,
			HeapFrom: b.heapFrom(), Began: began(p), Exited: exited(p),
			Teardown: b.teardown(number), SurvivalsBeyond: int64(b.beyond), Events: info.Events,
			Heap:    capture.Timeline{Peak: lines.HeapPeak, Points: lines.HeapTimeline},
			Virtual: capture.Timeline{Peak: b.virtualPeak(&lines), Points: lines.VirtualTimeline},
		},
	}
	if b.instants == nil {
		b.instants = c.Trace.Instants(len(b.answer.Samples.At))
	}
	c.Snapshots = slices.Clip(b.instants)
	c.Sites = make([]capture.Site, 0, len(sites))
	places := map[uint64]int32{}
	for i := range heaps {
		places[heaps[i].Handle] = int32(i)
		c.Heaps = append(c.Heaps,
			capture.Heap{Handle: heaps[i].Handle, Timeline: capture.Timeline{Peak: heaps[i].Peak, Points: heaps[i].Timeline}})
	}
	var addresses []uint64
	var frames []capture.FrameID
	former := formers{turns: b.turns[number]}
	for _, n := range sites {
		s := &b.sites[n]
		addresses = b.joined.Stacks.Append(addresses[:0], s.stack)
		if s.shared == nil {
			frames = c.Stacks.AddAddresses(frames[:0], addresses)
		} else {
			frames = former.add(frames[:0], &c.Stacks, addresses, s.shared)
		}
		out := capture.Site{
			Stack: c.Stacks.AddStack(frames), Heap: capture.NoHeap, Kind: capture.SiteKind(s.kind),
			Life: &capture.Life{Number: n, Usage: s.classes, Peak: s.peak, Survival: b.answer.SiteSurvival(&b.asked, int(n))},
		}
		if s.kind == allocations.KindHeap {
			out.Heap = places[s.heap]
		}
		out.Usage = make([]capture.Usage, 0, len(c.Snapshots))
		for u := range b.answer.Samples.Each(int(n)) {
			out.Usage = append(out.Usage, capture.Usage{Count: u.Count, Bytes: u.Bytes})
		}
		c.Sites = append(c.Sites, out)
	}
	var hidden int64
	c.Modules, hidden = b.modules(number, &c.Stacks, former.images)
	c.Stacks.Trim()
	c.Warnings = slices.Concat(b.lost, b.joined.WarningsOf(number), b.warnings(c, &lines.Anomalies, hidden))
	for i := range c.Warnings {
		c.Warnings[i].Message = b.once(c.Warnings[i].Message)
	}
	return c
}

// once is a message of warnings as it was met first: where there are many processes, most messages are of all of them.
func (b *builder) once(message string) string {
	const most = 1000
	if known, ok := b.messages[message]; ok {
		return known
	}
	if len(b.messages) < most {
		b.messages[message] = message
	}
	return message
}
