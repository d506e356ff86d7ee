package workload

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"heapdrift/ingest/ntheap/ntheaptest"
)

// handles are the heaps of a process. All that one ever takes fits between it and the next.
var handles = [4]uint64{0x1D0_0000_0000, 0x1E0_0000_0000, 0x1F0_0000_0000, 0x200_0000_0000}

// windows is the version that processes run on, whose heaps their addresses suit.
var windows = ntheaptest.Win10x64

// A heap is one segment, and virtual blocks of their own behind it: those of the size classes that a segment does not
// have (an entry counts up to 1 MB). A page of the segment is for its header.
const (
	segmentRoom    = 2 << 30
	mostInSegment  = 0xF_0000
	segmentHeader  = ntheaptest.Page
	virtualGranule = 0x1_0000 // of address space
)

// place gives addresses as a heap with a low-fragmentation front end does: a freed block's address goes to one of the
// next requests of its size class, of whatever stack of its heap. Before each block is room for what a heap with stacks
// keeps there.
func (p *Process) place(r *rand.Rand) {
	type event struct {
		at  float64
		nth int // of one instant the first comes first
		b   *block
	}
	var born, died []event
	for i := range p.Stacks {
		for k := range p.Stacks[i].blocks {
			b := &p.Stacks[i].blocks[k]
			born = append(born, event{b.born, len(born), b})
			if b.died < p.Seconds {
				died = append(died, event{b.died, len(died), b})
			}
		}
	}
	order := func(a, b event) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return a.nth - b.nth
	}
	slices.SortFunc(born, order)
	slices.SortFunc(died, order)
	type class struct {
		heap uint8
		size uint64
	}
	free := map[class][]uint64{}
	tops, virtual := [len(handles)]uint64{}, [len(handles)]uint64{}
	for i := range tops {
		tops[i], virtual[i] = segmentHeader, segmentRoom
	}
	next := 0
	for _, e := range born {
		for ; next < len(died) && died[next].at < e.at; next++ {
			b := died[next].b
			k := class{b.heap, sizeClass(b.bytes)}
			free[k] = append(free[k], b.address)
		}
		k := class{e.b.heap, sizeClass(e.b.bytes)}
		list := free[k]
		if len(list) == 0 {
			if e.b.virtual() {
				e.b.address = handles[k.heap] + virtual[k.heap] + windows.BeforeVirtual()
				virtual[k.heap] += (ntheaptest.VirtualRoom(k.size) + virtualGranule - 1) / virtualGranule * virtualGranule
				continue
			}
			e.b.address = handles[k.heap] + tops[k.heap] + windows.BeforeBlock()
			tops[k.heap] += windows.BeforeBlock() + k.size
			continue
		}
		i := len(list) - 1 - r.IntN(min(len(list), 64))
		e.b.address = list[i]
		list[i] = list[len(list)-1]
		free[k] = list[:len(list)-1]
	}
}

// virtual says whether the block is a reservation of its own.
func (b *block) virtual() bool { return sizeClass(b.bytes) > mostInSegment }

// sizeClass rounds to the classes of a low-fragmentation heap, roughly: 16 bytes up to 1 KB, then eighths of a
// doubling.
func sizeClass(size uint64) uint64 {
	step := uint64(16)
	if size > 1024 {
		step = 1 << (bits.Len64(size-1) - 4)
	}
	return (size + step - 1) / step * step
}
