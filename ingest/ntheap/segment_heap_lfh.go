package ntheap

import "encoding/binary"

// An lfhHeader is what a _HEAP_LFH_SUBSEGMENT says of its blocks. BlockOffsets is exclusive-ored with the upper bits of
// its address and a key of the process: the lower half is the size of a block, the upper where the first begins.
type lfhHeader struct {
	count   uint64
	encoded uint32 // BlockOffsets without the address
}

func (t *segmentLayout) readLFH(w *window, at, size uint64) (h lfhHeader, ok bool) {
	count, ok1 := w.u16(at + t.lfhCount)
	field, ok2 := w.u32(at + t.lfhOffsets)
	h = lfhHeader{uint64(count), field ^ uint32(at>>12)}
	return h, ok1 && ok2 && count > 0 && t.leastFirst(h.count) < size
}

// leastFirst is where the first of so many blocks can begin: behind a bitmap of two bits a block, in words.
func (t *segmentLayout) leastFirst(count uint64) uint64 {
	word := t.granule / 2
	bytes := (count*2 + 7) / 8
	if t.lfhApart {
		bytes = (count + 31) / 32 * 8
	}
	return (t.lfhBits + (bytes+word-1)&^(word-1) + t.granule - 1) &^ (t.granule - 1)
}

// places decodes where blocks lie; ok is false where size bytes have no room for them.
func (h lfhHeader) places(t *segmentLayout, size uint64, key uint32) (first, stride uint64, ok bool) {
	plain := h.encoded ^ key
	first, stride = uint64(plain>>16), uint64(plain&0xFFFF)
	return first, stride, stride > 0 && stride%t.granule == 0 && first >= t.leastFirst(h.count) && first <= size &&
		h.count*stride <= size-first
}

// lfhSubsegment walks the blocks of a subsegment that has blocks of one size.
func (s *segmentWalk) lfhSubsegment(at, size uint64) error {
	t := s.layout
	h, ok := t.readLFH(s.seq, at, size)
	if !ok {
		if s.seq.readable(at) {
			s.bad.add(at)
		}
		s.gap("LFH subsegment", at, size, "its header contradicts itself, or is not in the evidence")
		return nil
	}
	key := s.keys.lfhKeyOf(s.handle)
	if !key.known {
		s.gap("LFH subsegment", at, size, "the key of its blocks could not be inferred")
		return nil
	}
	first, stride, ok := h.places(t, size, key.key)
	if !ok {
		s.bad.add(at)
		s.gap("LFH subsegment", at, size, "where its blocks lie contradicts its size")
		return nil
	}
	s.out.Subsegments++
	var bits uint64
	known := false
	missing := uint64(0) // bytes of blocks before the current one of which nothing is known
	for i := range h.count {
		if err := s.step(); err != nil {
			return err
		}
		block := at + first + i*stride
		if i%32 == 0 {
			bits, known = s.layout.busyBits(s.near, at, i)
		}
		state := s.layout.blockState(bits, i)
		switch {
		case !known:
			missing += stride
			continue
		case missing > 0:
			s.gap("LFH subsegment", block-missing, missing, "the bitmap of its blocks is not in the evidence")
			missing = 0
		}
		if err := s.lfhBlock(block, stride, state); err != nil {
			return err
		}
	}
	if missing > 0 {
		s.gap("LFH subsegment", at+first+h.count*stride-missing, missing, "the bitmap of its blocks is not in the evidence")
	}
	return nil
}

// busyBits reads two bits of each of 32 blocks from one on, by halves: 32-bit Windows has words of four bytes.
func (t *segmentLayout) busyBits(w *window, at, block uint64) (uint64, bool) {
	b := w.bytes(at+t.lfhBits+block/4, 4)
	if b == nil {
		return 0, false
	}
	bits := uint64(binary.LittleEndian.Uint32(b))
	if b = w.bytes(at+t.lfhBits+block/4+4, 4); b != nil {
		bits |= uint64(binary.LittleEndian.Uint32(b)) << 32
	}
	return bits, true
}

// blockState is the two bits of a block, of those of its 32. They are beside each other, or 32 apart from 24H2 on.
func (t *segmentLayout) blockState(bits, block uint64) uint64 {
	if i := block % 32; t.lfhApart {
		return bits>>i&1 | bits>>(32+i)&1<<1
	}
	return bits >> (block % 32 * 2) & 3
}

// The two bits of a block.
const (
	lfhBlockBusy   = 1
	lfhBlockUnused = 2 // its last two bytes say how much of it was not asked for
)

func (s *segmentWalk) lfhBlock(at, stride, state uint64) error {
	s.look(at + stride)
	if state&lfhBlockBusy == 0 {
		add(&s.out.FreeLFH, stride, 0)
		return nil
	}
	if state&lfhBlockUnused == 0 {
		return s.hand(Block{Address: at, Size: stride, Area: LFH})
	}
	return s.tail(at, stride, 0, unusedLFHMask, LFH)
}
