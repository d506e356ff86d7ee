package ntheap

import "encoding/binary"

// The last two bytes of a block with unused bytes, by the PDB's _HEAP_LFH_UNUSED_BYTES_INFO and _HEAP_VS_UNUSED_BYTES_INFO. The latter
// has a bit less for the number, and says with it that the chunk is a subsegment of the LFH.
const (
	unusedOne     = 0x8000 // a single byte is unused; the other of the two is the block's
	unusedExtra   = 0x4000 // a record precedes
	unusedIsLFH   = 0x2000 // of chunks
	unusedLFHMask = 0x3FFF
	unusedVSMask  = 0x1FFF
)

// recordRoom bounds how far behind a block its record is searched for.
const recordRoom = 256

// record is the address of the stack that the record behind a block leads to: from is where the bytes begin that were not asked for,
// to the end of the block. Of the record DbgHelpUtils knows how it begins, and that an address follows; by the PDB it is a
// _SEGMENT_HEAP_EXTRA with 1 as InterceptorIndex and 1 as ExtraSizeInUnits, and no value of the program's.
//
//	field             offset 32/64
//	InterceptorIndex  2             4 bits, 1; UserFlags in the others, 0
//	ExtraSizeInUnits  3             1
//	Settable          4 / 8         0
//	stack             8 / 0x10      address of an _RTL_STACK_TRACE_ENTRY
func (s *segmentWalk) record(from, to uint64) uint64 {
	t := s.layout
	if !s.heaps.StackTraces && !s.heaps.blind {
		return 0 // programs can have a record of other things
	}
	pointer := s.near.pointerSize()
	need := t.extraSize - t.interceptor + pointer // from InterceptorIndex to behind the address
	room := min(to-min(from, to), recordRoom)
	if room < need {
		s.noRecord(from)
		return 0
	}
	b := s.near.bytes(from, int(room))
	if b == nil {
		s.unread.add(from)
		return 0
	}
	for ; uint64(len(b)) >= need; b = b[1:] {
		if b[0] != 1 || b[1] != 1 || !zeros(b[2:t.extraSize-t.interceptor]) {
			continue
		}
		address := uint64(binary.LittleEndian.Uint32(b[t.extraSize-t.interceptor:]))
		if s.layout.wide {
			address = binary.LittleEndian.Uint64(b[t.extraSize-t.interceptor:])
		}
		return s.heaps.stacks.known(address)
	}
	s.noRecord(from)
	return 0
}

// noRecord counts a record that is not there, where all blocks should have one.
func (s *segmentWalk) noRecord(at uint64) {
	if s.heaps.StackTraces {
		s.records.add(at)
	}
}

func zeros(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// tail hands out a block whose last two bytes say how much of it was not asked for. It has size bytes from at, and the heap
// spends header bytes more on it.
func (s *segmentWalk) tail(at, size, header uint64, mask uint16, place Place) error {
	b := Block{Address: at, Size: size, Overhead: header, Place: place}
	info, ok := s.seq.u16(at + size - 2)
	if !ok {
		s.unread.add(at)
		return s.busy(b)
	}
	unused := uint64(info & mask)
	if info&unusedOne != 0 {
		unused = 1
	}
	if unused > size {
		s.odd.add(at)
		return s.busy(b)
	}
	b.Size, b.Overhead = size-unused, header+unused
	if info&(unusedOne|unusedExtra) == unusedExtra {
		b.Trace = s.record(at+size-unused, at+size)
	}
	return s.busy(b)
}
