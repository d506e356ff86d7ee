package pagestest

import (
	"slices"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// Times of traces are in nanoseconds.
const (
	Millisecond = int64(time.Millisecond)
	Second      = int64(time.Second)
)

// A Life is a block or a commit of a made-up process. From and To are in ns since the trace's start; a To of 0 is
// never.
type Life struct {
	From, To int64
	Size     uint64 // bytes
	End      allocations.End
}

// An AllocationSite is one call stack of a made-up process, innermost frame first, with its allocations.
type AllocationSite struct {
	Kind  allocations.Kind
	Heap  int // index, −1 for none
	Stack []string
	Lives []Life
}

// A TracedProcess is a process made up for a trace.
type TracedProcess struct {
	Name     string
	End      int64 // of the trace, in ns since its start
	Exited   int64 // in ns since the trace's start; 0 for not
	Heaps    int   // how many
	Sites    []AllocationSite
	Warnings []capture.Warning
}

// RegularLives makes a Life every step ns from one instant up to another; each lasts length ns, 0 until the end of the
// trace.
func RegularLives(from, to, step, length int64, size uint64) (list []Life) {
	for at := from; at < to; at += step {
		l := Life{From: at, Size: size}
		if length > 0 {
			l.To, l.End = at+length, allocations.EndFree
		}
		list = append(list, l)
	}
	return list
}

// rows are what a reader makes of the process.
func (p *TracedProcess) rows() heldRows {
	var rows heldRows
	for n, place := range p.Sites {
		for k, l := range place.Lives {
			r := allocations.Row{AllocTime: l.From, FreeTime: l.To, End: l.End, Size: l.Size, Site: uint32(n), Kind: place.Kind,
				Stack: uint32(n + 1), Address: uint64(k) << 24}
			if l.End == allocations.EndNone {
				r.FreeTime = allocations.Never
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// line is the outstanding memory over time, in n stretches, of the places that count.
func (p *TracedProcess) line(n int, counts func(*AllocationSite) bool) capture.Timeline {
	type change struct{ at, bytes int64 }
	var changes []change
	for i := range p.Sites {
		if !counts(&p.Sites[i]) {
			continue
		}
		for _, l := range p.Sites[i].Lives {
			changes = append(changes, change{max(l.From, 0), int64(l.Size)})
			if l.End != allocations.EndNone {
				changes = append(changes, change{l.To, -int64(l.Size)})
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
		from, to := p.End/int64(n)*int64(k), p.End/int64(n)*int64(k+1)
		point := allocations.Point{Time: from, LastBytes: held, MaxBytes: held, MaxAt: from}
		for ; at < len(changes) && changes[at].at < to; at++ {
			if held += changes[at].bytes; held > point.MaxBytes {
				point.MaxBytes, point.MaxAt = held, changes[at].at
			}
		}
		point.LastBytes = held
		if point.MaxBytes > out.Peak.Bytes {
			out.Peak = allocations.Peak{Usage: allocations.Usage{Count: 1, Bytes: point.MaxBytes}, At: point.MaxAt}
		}
		out.Points = append(out.Points, point)
	}
	return out
}

func heapHandle(i int) uint64 { return 0x1d147000000 + uint64(i)<<16 }

// Capture is what a reader makes of the process's trace.
func (p *TracedProcess) Capture(t testing.TB) *capture.Capture {
	t.Helper()
	of := func(kind allocations.Kind, heap int) func(*AllocationSite) bool {
		return func(at *AllocationSite) bool { return at.Kind == kind && (heap < 0 || at.Heap == heap) }
	}
	trace := &capture.Trace{
		Start: time.Date(2025, 3, 6, 9, 0, 0, 0, time.UTC), From: 0, To: p.End, Window: capture.Window{From: 0, To: p.End},
		Began: 150 * Millisecond, Exited: allocations.Never, Events: 2_412_380,
		Heap: p.line(2000, of(allocations.KindHeap, -1)), Virtual: p.line(2000, of(allocations.KindVirtual, -1)),
	}
	if p.Exited > 0 {
		trace.Exited = p.Exited
	}
	c := &capture.Capture{
		Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: p.Name, PID: 6120, Bits: 64},
		Trace: trace, Warnings: p.Warnings,
		Modules: []capture.Module{
			{Path: `C:\memtest\memtest.exe`, Base: 0x7ff65480000, Size: 0x2a6000, Symbols: capture.SymbolsPrivate,
				PDB: "memtest.pdb"},
			{Path: `C:\memtest\plugin.dll`, Base: 0x7ff71000000, Size: 0x9000, Symbols: capture.SymbolsNone, PDB: "plugin.pdb",
				DebugID: "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C21"},
			{Path: `C:\Windows\System32\ntdll.dll`, Base: 0x7ffa0000000, Size: 0x1f0000, Symbols: capture.SymbolsPublic},
		},
	}
	for i := range p.Heaps {
		c.Heaps = append(c.Heaps, capture.Heap{Handle: heapHandle(i), Timeline: p.line(500, of(allocations.KindHeap, i))})
	}
	peaks := make([]int32, len(p.Sites))
	for i := range peaks {
		peaks[i] = int32(i)
	}
	answer := Must[*allocations.Answer](t)(allocations.Ask(t.Context(), p.rows(),
		allocations.Question{From: 0, To: p.End, Sites: len(p.Sites), Samples: 64, Peaks: [][]int32{peaks}}))
	c.Snapshots = trace.Instants(64)
	for n, at := range p.Sites {
		site := capture.Site{Stack: addStack(c, at.Stack), Heap: capture.NoHeap, Kind: capture.SiteKind(at.Kind),
			Life: &capture.Life{Number: uint32(n), Usage: answer.Sites[n], Peak: answer.Peaks[0][n]}}
		if at.Kind == allocations.KindHeap {
			site.Heap = int32(at.Heap)
		}
		for _, u := range answer.Samples.Site(n) {
			site.Usage = append(site.Usage, capture.Usage{Count: u.Count, Bytes: u.Bytes})
		}
		c.Sites = append(c.Sites, site)
	}
	return c
}
