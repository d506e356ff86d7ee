package ntheap

import "encoding/binary"

// The last two bytes of a block with unused bytes, by the PDB's _HEAP_LFH_UNUSED_BYTES_INFO and
// _HEAP_VS_UNUSED_BYTES_INFO. The latter has a bit less for the number, and says with it that the chunk is a subsegment
// of the LFH.
const (
	unusedOne     = 0x8000 // a single byte is unused; the other of the two is the block's
	unusedExtra   = 0x4000 // a record precedes
	unusedIsLFH   = 0x2000 // of chunks
	unusedLFHMask = 0x3FFF
	unusedVSMask  = 0x1FFF
)

// recordRoom bounds the size of a record.
const recordRoom = 256

// record is the address of the stack that the record of a block leads to: from is where the bytes begin that were not
// asked for, to the end of the block. The record, a _SEGMENT_HEAP_EXTRA and an address, begins at the next granule.
//
//	field             offset 32/64
//	InterceptorIndex  2             4 bits, 0 where no stack was kept; UserFlags in the others
//	ExtraSizeInUnits  3
//	Settable          4 / 8         the value of the program
//	stack             8 / 0x10      address of an _RTL_STACK_TRACE_ENTRY
func (s *segmentWalk) record(from, to uint64) uint64 {
	t := s.layout
	if !s.heaps.StackTraces && !s.heaps.blind {
		return 0 // programs can have a record of other things
	}
	at := (from + t.granule - 1) &^ (t.granule - 1)
	if at > to || t.extraSize+s.near.pointerSize() > to-at {
		s.noRecord(from)
		return 0
	}
	b := s.near.bytes(at, int(t.extraSize+s.near.pointerSize()))
	if b == nil {
		s.unread.add(from)
		return 0
	}
	if b[t.interceptor]&0xF == 0 {
		s.noRecord(from)
		return 0
	}
	if t.wide {
		return s.heaps.stacks.known(binary.LittleEndian.Uint64(b[t.extraSize:]))
	}
	return s.heaps.stacks.known(uint64(binary.LittleEndian.Uint32(b[t.extraSize:])))
}

// noRecord counts a record that is not there, where all blocks should have one.
func (s *segmentWalk) noRecord(at uint64) {
	if s.heaps.StackTraces {
		s.records.add(at)
	}
}

// tail hands out a block whose last two bytes say how much of it was not asked for. It has size bytes from at, and the
// heap spends header bytes more on it.
func (s *segmentWalk) tail(at, size, header uint64, mask uint16, place Area) error {
	b := Block{Address: at, Size: size, Overhead: header, Area: place}
	info, ok := s.seq.u16(at + size - 2)
	if !ok {
		s.unread.add(at)
		return s.hand(b)
	}
	unused := uint64(info & mask)
	if info&unusedOne != 0 {
		unused = 1
	}
	if unused > size {
		s.odd.add(at)
		return s.hand(b)
	}
	b.Size, b.Overhead = size-unused, header+unused
	if info&(unusedOne|unusedExtra) == unusedExtra {
		b.Trace = s.record(at+size-unused, at+size)
	}
	return s.hand(b)
}
