package ntheap

import "encoding/binary"

// deepestTree bounds the depth of a tree of blocks: an AVL tree of 2^48 nodes is less than 70 deep.
const deepestTree = 96

// nodes visits the nodes of the tree of busy blocks in order and counts them. The tree is an RTL_AVL_TABLE, whose root
// is the right child of the table itself. Every node must lead back to its parent and none is the table, so none is met
// twice; sound is false where that does not hold.
func (p *pageHeap) nodes(w *walk, visit func(node []byte) error) (count int64, sound bool, err error) {
	type place struct{ at, parent uint64 }
	pointer := w.near.pointerSize()
	table := p.root + p.layout.tree
	first, ok := w.near.pointer(table + 2*pointer)
	if !ok {
		return 0, false, nil
	}
	var path [deepestTree]place
	depth, here := 0, place{first, table}
	sound = true
	for here.at != 0 || depth > 0 {
		if err := w.step(); err != nil {
			return count, sound, err
		}
		if here.at != 0 { // go down on the left
			parent, ok1 := w.near.pointer(here.at)
			left, ok2 := w.near.pointer(here.at + pointer)
			right, ok3 := w.near.pointer(here.at + 2*pointer)
			if !ok1 || !ok2 || !ok3 || parent != here.parent || here.at == table || depth == deepestTree ||
				left != 0 && left == right {
				return count, false, nil
			}
			path[depth] = here
			depth++
			here = place{left, here.at}
			continue
		}
		depth--
		at := path[depth].at
		right, _ := w.near.pointer(at + 2*pointer)
		node := w.near.bytes(at, int(p.layout.length))
		if node == nil {
			return count, false, nil
		}
		count++
		if visit != nil {
			if err := visit(node); err != nil {
				return count, sound, err
			}
		}
		here = place{right, at}
	}
	return count, sound, nil
}

// block hands out the block of a node, and compares it with the mark before its data.
func (p *pageHeap) block(w *walk, marks *window, node []byte) error {
	t := &p.layout
	field := func(offset uint64) uint64 {
		if marks.wide {
			return binary.LittleEndian.Uint64(node[offset:])
		}
		return uint64(binary.LittleEndian.Uint32(node[offset:]))
	}
	user, at, size := field(t.blockUser), field(t.blockAt), field(t.blockSize)
	requested, access, trace := field(t.blockRequested), field(t.blockAccess), field(t.blockTrace)
	if user < at || size > mostBytes || user-at > size || requested > size-(user-at) || access > size {
		w.odd.add(user)
		return nil
	}
	s, ok := p.stamps.readStampAt(marks, user-p.stamps.stampSize)
	switch {
	case !ok:
		w.gap("page heap block", user, 0, "its first page is not in the evidence; its size is what the heap has noted")
	case s.start != stampFullStart || s.end != stampFullEnd || s.requested != requested:
		w.odd.add(user)
	case trace == 0:
		trace = s.trace
	}
	w.out.Facts.Walked += int64(access)
	return w.busy(Block{Address: user, Size: requested, Overhead: max(access, requested) - requested,
		Trace: w.heaps.stacks.known(trace), Area: PageHeap})
}

// scan searches reservations for the marks of busy blocks, a page after the other.
func (p *pageHeap) scan(w *walk, ranges []Extent) error {
	missing := 0
	for _, r := range ranges {
		for page := r.Address &^ (pageSize - 1); page < r.Address+r.Size; page += pageSize {
			if err := w.step(); err != nil {
				return err
			}
			if w.seq.bytes(page, pageSize) == nil {
				if missing++; missing > 64*mostMissing {
					w.gap("page heap range", page, r.Address+r.Size-page, "too many pages are missing; the search was given up")
					return nil
				}
				continue
			}
			if err := p.scanPage(w, page); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pageHeap) scanPage(w *walk, page uint64) error {
	for at := page; at < page+pageSize; at += 8 {
		b := w.seq.bytes(at, 4)
		if b == nil || binary.LittleEndian.Uint32(b) != stampFullStart {
			continue
		}
		s, ok := p.stamps.readStampAt(w.near, at)
		if !ok || s.end != stampFullEnd || s.requested > s.actual || s.actual > mostBytes {
			continue
		}
		pages := (p.stamps.stampSize + s.actual + pageSize - 1) &^ (pageSize - 1)
		w.out.Facts.Walked += int64(pages)
		block := Block{Address: at + p.stamps.stampSize, Size: s.requested, Overhead: pages - s.requested,
			Trace: w.heaps.stacks.known(s.trace), Area: PageHeap}
		if err := w.busy(block); err != nil {
			return err
		}
	}
	return nil
}
