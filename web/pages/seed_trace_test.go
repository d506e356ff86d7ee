package pages_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
)

const ms, second = int64(time.Millisecond), int64(time.Second)

// A life is a block or a commit of a made-up process, from and to when it lived; to 0 is never.
type life struct {
	from, to int64
	size     uint64
	end      allocations.End
}

// A place is where a made-up process allocates: its stack, innermost first, the memory and what becomes of it.
type place struct {
	kind  allocations.Kind
	heap  int // index, −1 for none
	stack []string
	lives []life
}

// A tracedProcess is a process made up for a trace.
type tracedProcess struct {
	name     string
	end      int64 // of the trace
	exited   int64 // 0 for alive
	heaps    int
	places   []place
	warnings []capture.Warning
}

// every makes lives at regular times, each of a length; 0 is until the end.
func every(from, to, step, length int64, size uint64) (list []life) {
	for at := from; at < to; at += step {
		l := life{from: at, size: size}
		if length > 0 {
			l.to, l.end = at+length, allocations.EndFree
		}
		list = append(list, l)
	}
	return list
}

var (
	heapAllocate = []string{"ntdll!RtlpAllocateHeapInternal+0xa1c", "ntdll!RtlAllocateHeap+0x2f4",
		"ucrtbase!_malloc_base+0x36", "memtest!operator new+0x1f"}
	virtualAlloc = []string{"ntdll!NtAllocateVirtualMemory+0x14", "KERNELBASE!VirtualAlloc+0x5a"}
	heapGrowth   = []string{"ntdll!NtAllocateVirtualMemory+0x14", "ntdll!RtlpFindAndCommitPages+0x1b7",
		"ntdll!RtlpExtendHeap+0x41", "ntdll!RtlAllocateHeap+0x2f4"}
	testMain = append([]string{`memtest!main+0x1d2@c:\src\memtest\main.cpp:88`,
		"memtest!__scrt_common_main_seh+0xfa"}, thread...)
	background = append([]string{`memtest!Worker::Run+0x4a@c:\src\memtest\worker.cpp:31`}, thread...)
)

// memtest does what Microsoft's exercise on native memory has as its example: 10 MB of virtual memory more in the
// middle, four spikes of 10 MB, small blocks that pile up, and frees all of it as it exits.
func memtest() tracedProcess {
	p := tracedProcess{name: "memtest.exe", end: 60 * second, exited: 57500 * ms, heaps: 3}
	const mb = 1 << 20
	atExit := func(list []life) []life {
		for i := range list {
			if list[i].to == 0 {
				list[i].to, list[i].end = p.exited, allocations.EndExit
			}
		}
		return list
	}
	p.places = []place{
		{allocations.KindVirtual, -1,
			join(virtualAlloc, []string{`memtest!Buffers::Reserve+0x88@c:\src\memtest\buffers.cpp:19`}, testMain),
			atExit([]life{{from: 2 * second, size: 10 * mb}, {from: 25 * second, size: 10 * mb}})},
		{allocations.KindVirtual, -1,
			join(virtualAlloc, []string{`memtest!ManipulateTemporaryBuffer+0x6c@c:\src\memtest\buffers.cpp:54`}, testMain),
			every(30*second, 50*second, 5*second, 800*ms, 10*mb)},
		{allocations.KindHeap, 0,
			join(heapAllocate, []string{`memtest!InnerLoopOperation+0x3e@c:\src\memtest\loop.cpp:12`,
				`memtest!OuterLoop+0x91@c:\src\memtest\loop.cpp:40`}, testMain),
			atExit(every(10*second, 55*second, 31250*int64(time.Microsecond), 0, 40))},
		{allocations.KindHeap, 0, join(heapAllocate, []string{`memtest!Cache::Insert+0x77@c:\src\memtest\cache.cpp:61`},
			background), atExit(every(1*second, 12*second, 20*ms, 0, 6144))},
		{allocations.KindHeap, 0,
			join(heapAllocate, []string{`memtest!Shop::Orders::Receipt::AppendLine+0xc4@c:\src\memtest\receipt.cpp:118`},
				background), atExit(every(5*second, 56*second, 12*ms, 0, 384))},
		{allocations.KindHeap, 1, join(heapAllocate, []string{`memtest!Parser::Tokenize+0x1aa@c:\src\memtest\parser.cpp:203`},
			background), every(3*second, 56*second, 9*ms, 45*ms, 2048)},
		{allocations.KindHeap, 1, join(heapAllocate, []string{`memtest!Parser::Document+0x20@c:\src\memtest\parser.cpp:77`},
			background), every(4*second, 52*second, 10*second, 4*second, 1200<<10)},
		{allocations.KindHeap, 2, join([]string{"ntdll!RtlAllocateHeap+0x2f4"}, []string{"plugin+0x2a40", "plugin+0x1177"},
			thread), atExit(every(6*second, 50*second, 500*ms, 0, 4096))},
		{allocations.KindHeapVirtual, 0, join(heapGrowth, []string{`memtest!Cache::Insert+0x77@c:\src\memtest\cache.cpp:61`},
			background), atExit(every(1*second, 12*second, 600*ms, 0, 192<<10))},
		{allocations.KindHeap, 0, nil, atExit(every(0, 3*second, 300*ms, 0, 96))},
	}
	return p
}

// rows are what a reader makes of the process.
func (p *tracedProcess) rows() heldRows {
	var rows heldRows
	for n, place := range p.places {
		for k, l := range place.lives {
			r := allocations.Row{AllocTime: l.from, FreeTime: l.to, End: l.end, Size: l.size, Site: uint32(n), Kind: place.kind,
				Stack: uint32(n + 1), Address: uint64(k) << 24}
			if l.end == allocations.EndNone {
				r.FreeTime = allocations.Never
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// heldRows are rows in memory.
type heldRows []allocations.Row

func (r heldRows) Len() int64 { return int64(len(r)) }

func (r heldRows) Scan(_ context.Context, _, _ int64, sinks ...allocations.Sink) error {
	return sinks[0].Rows(r)
}

// line is the outstanding memory over time, in n stretches, of the places that count.
func (p *tracedProcess) line(n int, counts func(*place) bool) capture.Timeline {
	type change struct{ at, bytes int64 }
	var changes []change
	for i := range p.places {
		if !counts(&p.places[i]) {
			continue
		}
		for _, l := range p.places[i].lives {
			changes = append(changes, change{max(l.from, 0), int64(l.size)})
			if l.end != allocations.EndNone {
				changes = append(changes, change{l.to, -int64(l.size)})
			}
		}
	}
	if len(changes) == 0 {
		return capture.Timeline{}
	}
	slices.SortFunc(changes, func(a, b change) int { return int(a.at - b.at) })
	var out capture.Timeline
	held, at := int64(0), 0
	for k := range n {
		from, to := p.end/int64(n)*int64(k), p.end/int64(n)*int64(k+1)
		point := allocations.Point{Time: from, Last: held, Max: held, MaxAt: from}
		for ; at < len(changes) && changes[at].at < to; at++ {
			if held += changes[at].bytes; held > point.Max {
				point.Max, point.MaxAt = held, changes[at].at
			}
		}
		point.Last = held
		if point.Max > out.Peak.Bytes {
			out.Peak = allocations.Peak{Usage: allocations.Usage{Count: 1, Bytes: point.Max}, At: point.MaxAt}
		}
		out.Points = append(out.Points, point)
	}
	return out
}

func heapHandle(i int) uint64 { return 0x1d147000000 + uint64(i)<<16 }

// capture is what a reader makes of the process's trace.
func (p *tracedProcess) capture(t testing.TB) *capture.Capture {
	t.Helper()
	of := func(kind allocations.Kind, heap int) func(*place) bool {
		return func(at *place) bool { return at.kind == kind && (heap < 0 || at.heap == heap) }
	}
	trace := &capture.Trace{
		Start: time.Date(2025, 3, 6, 9, 0, 0, 0, time.UTC), From: 0, To: p.end, Window: capture.Window{From: 0, To: p.end},
		Began: 150 * ms, Exited: allocations.Never, Events: 2_412_380,
		Heap: p.line(2000, of(allocations.KindHeap, -1)), Virtual: p.line(2000, of(allocations.KindVirtual, -1)),
	}
	if p.exited > 0 {
		trace.Exited = p.exited
	}
	c := &capture.Capture{
		Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: p.name, PID: 6120, Bits: 64},
		Trace: trace, Warnings: p.warnings,
		Modules: []capture.Module{
			{Path: `C:\memtest\memtest.exe`, Base: 0x7ff65480000, Size: 0x2a6000, Symbols: capture.SymbolsPrivate,
				PDB: "memtest.pdb"},
			{Path: `C:\memtest\plugin.dll`, Base: 0x7ff71000000, Size: 0x9000, Symbols: capture.SymbolsNone, PDB: "plugin.pdb",
				DebugID: "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C21"},
			{Path: `C:\Windows\System32\ntdll.dll`, Base: 0x7ffa0000000, Size: 0x1f0000, Symbols: capture.SymbolsPublic},
		},
	}
	for i := range p.heaps {
		c.Heaps = append(c.Heaps, capture.Heap{Handle: heapHandle(i), Line: p.line(500, of(allocations.KindHeap, i))})
	}
	peaks := make([]int32, len(p.places))
	for i := range peaks {
		peaks[i] = int32(i)
	}
	answer := must[*allocations.Answer](t)(allocations.Ask(t.Context(), p.rows(),
		allocations.Question{From: 0, To: p.end, Sites: len(p.places), Samples: 64, Peaks: [][]int32{peaks}}))
	c.Snapshots = trace.Instants(64)
	for n, at := range p.places {
		site := capture.Site{Stack: addStack(c, at.stack), Heap: capture.NoHeap, Kind: capture.SiteKind(at.kind),
			Life: &capture.Life{Number: uint32(n), Classes: answer.Classes[n], Peak: answer.Peaks[0][n]}}
		if at.kind == allocations.KindHeap {
			site.Heap = int32(at.heap)
		}
		for _, u := range answer.Samples.Site(n) {
			site.Usage = append(site.Usage, capture.Usage{Count: u.Count, Bytes: u.Bytes})
		}
		c.Sites = append(c.Sites, site)
	}
	return c
}

// traceWindows answers for windows of traces whose rows are in memory.
type traceWindows struct {
	runs  map[int64]tracedRun
	asked atomic.Int64 // how often
	held  atomic.Int64 // how many have prepared, and are not done
	// meanwhile is called once, before the next answer; nil for nothing.
	meanwhile func()
}

// A tracedRun is the report of a trace with its rows.
type tracedRun struct {
	report *analysis.Report
	rows   allocations.Scanner
}

// Prepare never waits.
func (w *traceWindows) Prepare(context.Context, int64) (func(), error) {
	w.held.Add(1)
	return sync.OnceFunc(func() { w.held.Add(-1) }), nil
}

// Table gives the rows that the test has stored.
func (w *traceWindows) Table(_ context.Context, run int64, _ string) (*query.Table, func(), error) {
	r, ok := w.runs[run]
	if !ok {
		return nil, func() {}, nil
	}
	return &query.Table{Scanner: r.rows}, func() {}, nil
}

// Window answers like the real one in a View which sees the report that the test has stored.
func (w *traceWindows) Window(ctx context.Context, _ store.View, run int64,
	at capture.Window) (*analysis.WindowNumbers, error) {
	w.asked.Add(1)
	r, ok := w.runs[run]
	if meanwhile := w.meanwhile; meanwhile != nil {
		w.meanwhile = nil
		meanwhile()
	}
	if !ok {
		return nil, &analysis.Error{Code: "table-missing", Message: "the allocation table of the trace is not there any more"}
	}
	return r.report.TraceSites().InWindow(ctx, r.rows, at, true)
}

// addTrace stores a run with the report of a process's trace and returns the run's id.
func addTrace(t testing.TB, s *site, to leaks.Target, p tracedProcess) int64 {
	t.Helper()
	e := addEvidence(t, s.store, to, fmt.Sprintf("%s.etl", p.name))
	c := p.capture(t)
	if err := s.store.CreateCaptures(t.Context(), claim(t, s.store, store.JobRead, e.RunID),
		[]store.StoredCapture{{Capture: c, Artifact: "artifact", Bytes: 5, Table: store.Table{Key: "table"}}}); err != nil {
		t.Fatal(err)
	}
	inputs := []analysis.Input{{Files: []analysis.File{{Name: e.Name, SHA256: e.SHA256, Bytes: e.Bytes}},
		Captures: []*capture.Capture{c}}}
	r := must[*analysis.Report](t)(analysis.Analyze(t.Context(), inputs, analysis.Options{}))
	saveReport(t, s.store, e.RunID, r)
	s.windows.runs[e.RunID] = tracedRun{r, p.rows()}
	return e.RunID
}

// Report is used by the API alone; the pages only link to it.
func (w *traceWindows) Report(context.Context, *analysis.Report, store.Input,
	capture.Window) (*analysis.Report, error) {
	return nil, &analysis.Error{Code: "table-missing", Message: "a made-up trace has no captures to report on"}
}

// crowd is a process with many heaps and many lost events, whose end is not in the trace.
func crowd(heaps int) tracedProcess {
	p := tracedProcess{name: "crowd.exe", end: 600 * second, heaps: heaps, warnings: []capture.Warning{
		{Code: capture.EventsLost, Count: 12_408,
			Message: "12,408 events were lost: the session's buffers were full. Blocks whose free is among them look like leaks; record again with more or larger buffers"},
		{Code: capture.BuffersLost, Count: 3, Message: "3 buffers were lost between 41.2 s and 44.9 s"},
		{Code: capture.UnknownFree, Count: 811, Message: "811 frees of blocks that were allocated before the trace began"},
		{Code: capture.StackMissing, Count: 96, Message: "96 allocations have no stack"},
	}}
	for i := range heaps {
		stack := join(heapAllocate,
			[]string{fmt.Sprintf(`crowd!Pool%d::Take+0x2a@c:\src\crowd\pool.cpp:%d`, i, 10+i)}, background)
		n := int64(i)
		p.places = append(p.places,
			place{allocations.KindHeap, i, stack, every(n*second, 590*second, (3+n)*second, 0, uint64(2000*(heaps-i)))},
			place{allocations.KindHeap, i,
				join(heapAllocate, []string{fmt.Sprintf(`crowd!Pool%d::Scratch+0x11@c:\src\crowd\pool.cpp:%d`, i, 80+i)},
					background), every(n*second, 580*second, 17*second, 40*ms, 300_000)})
	}
	return p
}
