package ntheap

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// A largeBlock is an allocation that is a reservation of its own, _HEAP_LARGE_ALLOC_DATA.
//
//	TreeNode        0              _RTL_BALANCED_NODE: Left, Right, and the parent, whose lowest two bits are its colour
//	VirtualAddress  0xC / 0x18     the lowest 16 bits are the unused bytes
//	AllocatedPages  0x10 / 0x20    from bit 12 on; bit 0 ExtraPresent
type largeBlock struct {
	at, size, unused uint64
	extra            bool
}

// mostLarge bounds how many large allocations of a heap are kept in memory, 32 bytes each.
const mostLarge = 1 << 20

// A tree is an _RTL_RB_TREE: Root, and behind it Min, whose lowest bit says that pointers are exclusive-ored with the
// address of what holds them. Public sources differ in whether those of nodes are as well, so both are tried.
type tree struct {
	at, root uint64
	children bool // the pointers of nodes are encoded
}

// large walks the tree of large allocations and hands them out by address.
func (s *segmentWalk) large(segments []pageSegment) ([]largeBlock, error) {
	at := s.handle + s.layout.large
	root, ok1 := s.near.pointer(at)
	least, ok2 := s.near.pointer(at + s.near.pointerSize())
	if !ok1 || !ok2 {
		s.gap("heap", at, 0, "the tree of large allocations cannot be read")
		return nil, nil
	}
	if root == 0 {
		return nil, nil
	}
	trees := []tree{{at, root, false}}
	if least&1 != 0 {
		trees = []tree{{at, root ^ at, true}, {at, root ^ at, false}}
	}
	var found []largeBlock
	var broken tally
	for i, t := range trees {
		var blocks []largeBlock
		var b tally
		err := s.nodes(t, &b, func(node uint64) { blocks = s.readLarge(node, blocks, &b) })
		if err != nil {
			return nil, err
		}
		if i == 0 || b.n < broken.n || b.n == broken.n && len(blocks) > len(found) {
			found, broken = blocks, b
		}
		if broken.n == 0 {
			break
		}
	}
	if broken.n > 0 {
		s.gap("heap", broken.first, 0,
			"the tree of large allocations is damaged at %d nodes; some allocations may be missing", broken.n)
		s.warn(capture.PartialHeap, broken.n, broken.first,
			"large allocations of heap %#x may be missing: their tree is damaged", s.handle)
	}
	found = s.apart(found, segments)
	for _, l := range found {
		if err := s.step(); err != nil {
			return nil, err
		}
		if err := s.largeBlock(l); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s *segmentWalk) largeBlock(l largeBlock) error {
	s.out.Extents = append(s.out.Extents, Extent{l.at, l.size, ExtentVirtual})
	b := Block{Address: l.at, Size: l.size - l.unused, Overhead: l.unused, Area: Large}
	if l.extra {
		b.Trace = s.record(l.at+b.Size, l.at+l.size)
	}
	return s.hand(b)
}

// nodes visits the nodes of a tree. Every node must lead back to its parent, so none is met twice; the places where one
// does not are counted, and what hangs there is left out.
func (s *segmentWalk) nodes(t tree, broken *tally, visit func(node uint64)) error {
	type place struct{ at, parent uint64 }
	pointer := s.near.pointerSize()
	var path [deepestTree]place
	path[0] = place{t.root, 0}
	for depth := 1; depth > 0; {
		if err := s.step(); err != nil {
			return err
		}
		depth--
		here := path[depth]
		left, ok1 := s.near.pointer(here.at)
		right, ok2 := s.near.pointer(here.at + pointer)
		parent, ok3 := s.near.pointer(here.at + 2*pointer)
		if t.children {
			left, right, parent = t.decode(left, here.at), t.decode(right, here.at), t.decode(parent, here.at)
		}
		if !ok1 || !ok2 || !ok3 || parent&^3 != here.parent || here.at == 0 {
			broken.add(here.at)
			continue
		}
		visit(here.at)
		if left != 0 && left == right || depth+2 > len(path) {
			broken.add(here.at)
			continue
		}
		for _, child := range [2]uint64{left, right} {
			if child != 0 {
				path[depth] = place{child, here.at}
				depth++
			}
		}
	}
	return nil
}

// decode gives a pointer of the node at an address; none stays none, but for its colour.
func (t *tree) decode(v, at uint64) uint64 {
	if v&^3 == 0 {
		return v
	}
	return v ^ at
}

// readLarge appends the allocation of a node.
func (s *segmentWalk) readLarge(node uint64, to []largeBlock, broken *tally) []largeBlock {
	t := s.layout
	address, ok1 := s.near.pointer(node + t.largeAddress)
	pages, ok2 := s.near.pointer(node + t.largePages)
	l := largeBlock{at: address &^ 0xFFFF, size: pages >> 12 * pageSize, unused: address & 0xFFFF,
		extra: pages&extraPresent != 0}
	most := uint64(1) << 47
	if !t.wide {
		most = 1 << 32
	}
	if !ok1 || !ok2 || l.at == 0 || l.size == 0 || l.size > s.room || l.at > most-l.size ||
		l.unused > l.size || len(to) == mostLarge {
		broken.add(node)
		return to
	}
	return append(to, l)
}

// apart sorts large allocations, and leaves out those that lie in another or in a segment.
func (s *segmentWalk) apart(found []largeBlock, segments []pageSegment) []largeBlock {
	sorting.Unstable(found,
		func(a, b largeBlock) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.size, b.size)) })
	end := uint64(0)
	return slices.DeleteFunc(found, func(l largeBlock) bool {
		i, _ := slices.BinarySearchFunc(segments, l.at,
			func(p pageSegment, at uint64) int { return cmp.Compare(p.at+p.size(), at+1) })
		if l.at < end || i < len(segments) && segments[i].at < l.at+l.size {
			s.odds.add(l.at)
			return true
		}
		end = l.at + l.size
		return false
	})
}
