package ntheap

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// A pageHeap is a heap of page heap (gflags +hpa): every block lies at the end of pages of its own. Its root is a page
// behind the handle; an ordinary heap takes what page heap does not.
//
//	structure                source: public ntdll PDBs
//	_DPH_HEAP_ROOT           the counters, a tree of the busy blocks and a list of the reservations
//	_DPH_HEAP_BLOCK          a node of the tree, and of the list
//	_DPH_BLOCK_INFORMATION   a mark before the data of each block
type pageHeap struct {
	root   uint64
	layout pageHeapLayout
	stamps *ntLayout // where the marks have their fields
}

type pageHeapLayout struct {
	name                                            string
	flags, ranges, rangeBytes, tree, busy           uint64
	busyCommitted, freeCommitted, available, pools  uint64
	next, normal                                    uint64
	blockNext, blockUser, blockAt, blockSize        uint64
	blockAccess, blockRequested, blockTrace, length uint64
}

// rootOffset is how far the root of a page heap lies behind its handle.
const rootOffset = pageSize

func newPageHeapLayout(l *layout) (pageHeapLayout, string) {
	n := lookup{types: l.types}
	const root, block = "_DPH_HEAP_ROOT", "_DPH_HEAP_BLOCK"
	return pageHeapLayout{
		name:  l.name,
		flags: n.at(root, "HeapFlags"), ranges: n.at(root, "pVirtualStorageListHead"),
		rangeBytes: n.at(root, "nVirtualStorageBytes"),
		tree:       n.at(root, "BusyNodesTable"), busy: n.at(root, "nBusyAllocations"),
		busyCommitted: n.at(root, "nBusyAllocationBytesCommitted"),
		freeCommitted: n.at(root, "nFreeAllocationBytesCommitted"),
		available:     n.at(root, "nAvailableAllocationBytesCommitted"), pools: n.at(root, "nNodePoolBytes"),
		next: n.at(root, "NextHeap"), normal: n.at(root, "NormalHeap"),
		blockNext: n.at(block, "pNextAlloc"), blockUser: n.at(block, "pUserAllocation"),
		blockAt: n.at(block, "pVirtualBlock"), blockSize: n.at(block, "nVirtualBlockSize"),
		blockAccess: n.at(block, "nVirtualAccessSize"), blockRequested: n.at(block, "nUserRequestedSize"),
		blockTrace: n.at(block, "StackTrace"), length: n.size(block),
	}, n.missing
}

// addPageHeap adds the page heap of a handle, if it is one: its root has a signature, and an ordinary heap.
func (o *opening) addPageHeap(handle uint64) bool {
	root := handle + rootOffset
	if mark, ok := o.w.u32(root); !ok || mark != pageHeapSignature {
		return false
	}
	for _, l := range o.hs.layouts {
		t, missing := newPageHeapLayout(l)
		if missing != "" || t.length > pageSize {
			continue
		}
		normal, ok := o.w.pointer(root + t.normal)
		if !ok || normal == 0 || normal == handle {
			continue
		}
		if mark, ok := o.w.u32(normal + 2*o.w.pointerSize()); !ok || mark != segmentSignature {
			continue
		}
		stamps, _ := newNTLayout(l, o.w.wide)
		p := &pageHeap{root: root, layout: t, stamps: stamps}
		h := &Heap{Handle: handle, Kind: KindPage, Layout: t.name, heaps: o.hs, kind: p}
		h.facts = capture.HeapFacts{Handle: capture.Address(handle), Kind: KindPage, Bits: uint8(o.p.Bits),
			LayoutSource: t.name}
		p.readRoot(o.w, &h.facts)
		o.hs.List = append(o.hs.List, h)
		o.hs.PageHeap = true
		o.add(normal)
		return true
	}
	return false
}

func (p *pageHeap) readRoot(w *window, f *capture.HeapFacts) {
	t := &p.layout
	f.Flags, _ = w.u32(p.root + t.flags)
	count := func(field uint64) int64 {
		bytes, ok := w.pointer(p.root + field)
		if !ok || bytes > mostBytes {
			return 0
		}
		return int64(bytes)
	}
	f.Reserved = count(t.rangeBytes)
	f.Committed = count(t.busyCommitted) + count(t.freeCommitted) + count(t.available) + count(t.pools)
}

// findPageHeaps adds the page heaps that the known ones are linked to, and those at the beginning of reservations; and
// has the walks of ordinary heaps look for page heap's marks.
func (o *opening) findPageHeaps() error {
	for i := 0; i < len(o.hs.List) && len(o.hs.List) < mostHeaps; i++ {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		p, ok := o.hs.List[i].kind.(*pageHeap)
		if !ok {
			continue
		}
		var others []uint64                                                     // adding one reads elsewhere
		_ = list(o.w, p.root+p.layout.next, o.ctx.Err, func(link uint64) bool { // the heaps before a break are what there is
			others = append(others, link-p.layout.next-rootOffset)
			return len(others) < mostHeaps
		})
		for _, handle := range others {
			if !o.seen[handle] && o.addPageHeap(handle) {
				o.seen[handle] = true
			}
		}
	}
	for _, base := range o.p.Candidates {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		if !o.seen[base] && o.addPageHeap(base) {
			o.seen[base] = true
		}
	}
	for _, h := range o.hs.List {
		if heap, ok := h.kind.(*ntHeap); ok {
			heap.stamped = true
		}
	}
	return nil
}

func (p *pageHeap) walk(w *walk) error {
	ranges, err := p.readRanges(w)
	if err != nil {
		return err
	}
	nodes, sound, err := p.nodes(w, nil)
	if err != nil {
		return err
	}
	if !sound {
		w.warn(capture.Inconsistent, 1, p.root+p.layout.tree,
			"the tree of blocks of page heap %#x is damaged; its blocks were searched for by their marks", w.heap.Handle)
		return p.scan(w, ranges)
	}
	busy, _ := w.near.u32(p.root + p.layout.busy)
	if int64(busy) != nodes {
		w.warn(capture.Inconsistent, 1, p.root, "page heap %#x counts %d blocks, its tree has %d", w.heap.Handle, busy, nodes)
	}
	marks := newWindow(w.near.mem, w.near.wide, randomWindow)
	_, _, err = p.nodes(w, func(node []byte) error { return p.block(w, marks, node) })
	return err
}

// mostRanges bounds the reservations of a page heap: each has many blocks.
const mostRanges = 1 << 20

// readRanges finds the reservations, a single list of _DPH_HEAP_BLOCK.
func (p *pageHeap) readRanges(w *walk) ([]Extent, error) {
	t := &p.layout
	var ranges []Extent
	var c cycle
	at, ok := w.near.pointer(p.root + t.ranges)
	for ok && at != 0 && !c.met(at) && len(ranges) < mostRanges {
		if err := w.step(); err != nil {
			return nil, err
		}
		from, ok1 := w.near.pointer(at + t.blockAt)
		size, ok2 := w.near.pointer(at + t.blockSize)
		if !ok1 || !ok2 || from == 0 || size == 0 || size > mostBytes || from+size < from {
			w.gap("page heap range", at, 0, "its description contradicts itself, or is not in the evidence")
			break
		}
		ranges = append(ranges, Extent{from, size, ExtentPageHeap})
		at, ok = w.near.pointer(at + t.blockNext)
	}
	sorting.Stable(ranges, func(a, b Extent) int { return cmp.Compare(a.Address, b.Address) })
	end := uint64(0)
	ranges = slices.DeleteFunc(ranges, func(r Extent) bool { // one that lies in another would be searched again
		if r.Address < end {
			return true
		}
		end = r.Address + r.Size
		return false
	})
	w.out.Extents = append(w.out.Extents, ranges...)
	return ranges, nil
}
