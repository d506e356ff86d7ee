package ntheap

import (
	"context"
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// An Area says which part of a heap a block lies in.
type Area uint8

// The areas. Bookkeeping are blocks that the heap has made for itself and does not mark so: the index of its free
// blocks, descriptors of uncommitted ranges, and its front end where that is a virtual block. !heap counts them as
// busy, and so does Facts, but no program asked for them, and Walk does not hand them out.
const (
	// The areas.
	Backend Area = iota
	Bookkeeping
	LFH
	Virtual
	PageHeap
	VS
	Large
	areaCount
)

// String is the name of the area in notes: "backend", "LFH".
func (p Area) String() string {
	names := [areaCount]string{"backend", "heap's own", "LFH", "virtual block", "page heap", "VS", "large"}
	if p < areaCount {
		return names[p]
	}
	return fmt.Sprintf("kind %d", uint8(p))
}

// A Block is a busy block. Sizes are bytes.
type Block struct {
	Address  uint64 // address that the program has
	Size     uint64 // bytes that the program asked for
	Overhead uint64 // bytes that the heap spends on it beyond that
	Trace    uint64 // address of its entry in the stack trace database; 0 where none was kept
	Area     Area
}

// An Extent is a part of the address space that belongs to a heap, committed or not.
type Extent struct {
	Address, Size uint64
	Kind          string // one of the Extent constants
}

// The kinds of extents. A front end is a structure of the heap's in a reservation of its own.
const (
	ExtentSegment  = "segment"
	ExtentVirtual  = "virtual block"
	ExtentFrontEnd = "front end"
	ExtentPageHeap = "page heap range"
)

// WalkResult is what a walk has found beside the blocks that it handed out.
type WalkResult struct {
	Facts    capture.HeapFacts        // the heap's figures, with those that the walk added
	Areas    [areaCount]capture.Usage // busy blocks by Area; together they are Facts.Busy
	Internal capture.Usage            // blocks that the heap made for itself; Bytes without their headers
	FreeLFH  capture.Usage            // free blocks in the low-fragmentation heap; their containers are in Internal
	// Subsegments is how many containers of the low-fragmentation heap are in use.
	Subsegments int64
	Segments    []Segment
	Gaps        []capture.Gap
	Extents     []Extent
	Warnings    []capture.Warning
}

// A Segment is a reservation from which a heap takes its blocks. Sizes are bytes.
type Segment struct {
	Address, Size uint64             // reserved
	Walked        uint64             // committed bytes that were looked into
	Holes         []UncommittedRange // the uncommitted ranges in it, by address
}

// An UncommittedRange is a range of a segment that is reserved only; Size is in bytes.
type UncommittedRange struct{ Address, Size uint64 }

// mostBytes is more than anything in an address space can have: sizes beyond it are wrong, and sums of others do not
// overflow.
const mostBytes = 1 << 40

// fewGaps is how many gaps of one heap are told one by one; the others become one.
const fewGaps = 64

// stepsBetweenChecks is how many steps a walk takes between looks at its context.
const stepsBetweenChecks = 4096

// A walk is one walk of one heap.
type walk struct {
	ctx   context.Context // it lives as long as one call of Walk
	heaps *SideHeaps
	heap  *Heap
	visit func(Block) error
	seq   *window // for what lies in order
	near  *window // for everything else
	steps int
	out   *WalkResult

	lost     int64 // bytes in gaps
	moreGaps capture.Gap
	more     int64 // gaps that are not told one by one
	odd      tally // blocks whose own numbers contradict each other
	bad      tally // entries that failed their checks
	unread   tally // blocks whose size or trace is in memory that cannot be read
}

// A tally counts what was met, and remembers where first.
type tally struct {
	n     int64
	first uint64
}

func (t *tally) add(at uint64) {
	if t.n == 0 {
		t.first = at
	}
	t.n++
}

// step counts a step of a loop, and now and then asks whether to go on.
func (w *walk) step() error {
	if w.steps++; w.steps%stepsBetweenChecks == 0 {
		return w.ctx.Err()
	}
	return nil
}

// busy counts a block and hands it out.
func (w *walk) busy(b Block) error {
	add(&w.out.Areas[b.Area], b.Size, b.Overhead)
	return w.visit(b)
}

func add(u *capture.Usage, bytes, overhead uint64) {
	u.Count++
	u.Bytes += int64(bytes)
	u.Overhead += int64(overhead)
}

// free counts a free block of so many bytes.
func (w *walk) free(size uint64) {
	f := &w.out.Facts
	add(&f.Free, size, 0)
	f.LargestFree = max(f.LargestFree, int64(size))
}

// gap says that a part of the heap could not be looked into.
func (w *walk) gap(what string, at, bytes uint64, format string, args ...any) {
	w.lost += int64(bytes)
	if len(w.out.Gaps) < fewGaps {
		w.out.Gaps = append(w.out.Gaps, capture.Gap{
			What: what, Heap: capture.Address(w.heap.Handle), Address: capture.Address(at), Bytes: int64(bytes),
			Why: fmt.Sprintf(format, args...),
		})
		return
	}
	if w.more++; w.more == 1 {
		w.moreGaps = capture.Gap{What: "range", Heap: capture.Address(w.heap.Handle), Address: capture.Address(at)}
	}
	w.moreGaps.Bytes += int64(bytes)
}

func (w *walk) warn(code capture.Code, count int64, at uint64, format string, args ...any) {
	place := ""
	if at != 0 {
		place = fmt.Sprintf("address %#x", at)
	}
	w.out.Warnings = append(w.out.Warnings,
		capture.Warning{Code: code, Message: fmt.Sprintf(format, args...), Place: place, Count: count})
}

// finish sums up.
func (w *walk) finish() {
	f, handle := &w.out.Facts, w.heap.Handle
	for place, u := range w.out.Areas {
		f.Busy = f.Busy.Add(u)
		switch Area(place) {
		case LFH:
			f.LFH = u
		case Virtual, Large:
			f.Blocks = f.Blocks.Add(u)
		}
	}
	f.Internal = w.out.Internal.Bytes
	f.BadEntries = w.bad.n
	if w.more > 0 {
		w.moreGaps.Why = fmt.Sprintf("%d more ranges of this heap could not be read; this is the first of them", w.more)
		w.out.Gaps = append(w.out.Gaps, w.moreGaps)
	}
	if w.lost > 0 {
		w.warn(capture.PartialHeap, w.lost, uint64(w.out.Gaps[0].Address),
			"%s of heap %#x could not be read; blocks there are not counted", quantity.Bytes(w.lost), handle)
	}
	if w.bad.n > 0 {
		w.warn(capture.Malformed, w.bad.n, w.bad.first,
			"%d entries of heap %#x failed their checks: the heap was being changed, or is damaged", w.bad.n, handle)
	}
	if w.unread.n > 0 {
		w.warn(capture.PartialHeap, w.unread.n, w.unread.first,
			"%d blocks of heap %#x reach into memory that is not in the evidence; their sizes may be too large, and their stacks missing", w.unread.n, handle)
	}
	if w.odd.n > 0 {
		w.warn(capture.Inconsistent, w.odd.n, w.odd.first,
			"%d blocks of heap %#x contradict themselves; their sizes are taken from the space they fill", w.odd.n, handle)
	}
}
