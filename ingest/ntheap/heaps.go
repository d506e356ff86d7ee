package ntheap

import (
	"context"

	"heapdrift/ingest/capture"
)

// SideHeaps are the heaps of one side of a process: a 32-bit process on 64-bit Windows has two.
type SideHeaps struct {
	List        []*Heap       // in the order of the PEB, then what was found elsewhere
	Flags       uint32        // NtGlobalFlag
	StackTraces bool          // blocks have the addresses of their stacks
	PageHeap    bool          // page heap is on (gflags +hpa)
	Gaps        []capture.Gap // heaps that could not be opened
	Notes       []string      // sentences for people

	process Process
	blind   bool // the PEB could not be read, so what it says of stacks is not known
	layouts []*layout
	stacks  *traces
	lfhKey  uint32
	// indexEnd is where the array of numbered stacks ends; 0 where the database was not found.
	indexEnd uint64
	keyed    bool
}

// LFHKey is the low half of RtlpLFHKey, with which ntdll encodes where blocks of the low-fragmentation heap lie. It is
// derived from the heaps themselves. ok is false where no heap is encoded, or the heaps do not agree.
func (hs *SideHeaps) LFHKey() (key uint32, ok bool) { return hs.lfhKey, hs.keyed }

// A Heap is one heap of a process.
type Heap struct {
	Handle uint64
	Kind   string // one of the Kind constants
	Layout string // version of Windows, or PDB, from which its structures are known

	heaps *SideHeaps
	kind  kind
	facts capture.HeapFacts
}

// The kinds of heaps.
const (
	KindNT      = "NT heap"
	KindSegment = "segment heap"
	KindPage    = "page heap"
)

// A kind knows the structures of one kind of heap.
type kind interface {
	// walk looks into everything, and fills w.out. It returns an error only if visit or the context has one: damage is
	// told in w.out.
	walk(w *walk) error
}

// Facts are the figures that the heap itself keeps; Walk adds to them what it finds.
func (h *Heap) Facts() capture.HeapFacts { return h.facts }

// Walk hands every busy block to visit, mostly in the order of addresses, and returns what else it found. It stops with
// the first error of visit or the context; the result then holds what was found so far. Several heaps may be walked at
// once.
func (h *Heap) Walk(ctx context.Context, visit func(Block) error) (*WalkResult, error) {
	wide := h.heaps.process.Bits == 64
	w := &walk{
		ctx: ctx, heaps: h.heaps, heap: h, visit: visit,
		seq:  newWindow(h.heaps.process.Memory, wide, sequentialWindow),
		near: newWindow(h.heaps.process.Memory, wide, randomWindow),
		out:  &WalkResult{Facts: h.facts},
	}
	err := ctx.Err()
	if err == nil {
		err = h.kind.walk(w)
	}
	w.finish()
	return w.out, err
}
