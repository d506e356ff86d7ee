package ntheap

import "encoding/binary"

// vsMark is what _HEAP_VS_SUBSEGMENT.Signature and Size give together, in 15 bits.
const vsMark = 0x2BED

// The bits of AllocatedChunkBits behind the byte EncodedSegmentPageOffset.
const (
	chunkUnused = 1 << 8 // the last two bytes say how much
	chunkSkip   = 1 << 9
)

// A chunk is a _HEAP_VS_CHUNK_HEADER. Its sizes are exclusive-ored with its address and the key of the process's heaps.
type chunk struct {
	size, previous uint64 // bytes, with the header
	busy           bool
	bits           uint32
}

// readChunk decodes a header; ok is false for one that cannot be of a chunk between at and end.
func (t *segmentLayout) readChunk(w *window, at, end, key uint64) (c chunk, ok bool) {
	if end-at < t.chunk || end < at {
		return c, false
	}
	b := w.bytes(at, int(t.chunk))
	if b == nil {
		return c, false
	}
	allocated := uint64(0)
	if t.wide { // MemoryCost 0:16, UnsafeSize 16:16, UnsafePrevSize 32:16, Allocated 48:8
		v := binary.LittleEndian.Uint64(b) ^ at ^ key
		c.size, c.previous, allocated = v>>16&0xFFFF, v>>32&0xFFFF, v>>48&0xFF
	} else { // MemoryCost 0:1, UnsafeSize 1:15, UnsafePrevSize 16:15, Allocated 31:1
		v := binary.LittleEndian.Uint32(b) ^ uint32(at) ^ uint32(key)
		c.size, c.previous, allocated = uint64(v>>1&0x7FFF), uint64(v>>16&0x7FFF), uint64(v>>31)
	}
	c.size, c.previous, c.busy = c.size*t.granule, c.previous*t.granule, allocated != 0
	c.bits = binary.LittleEndian.Uint32(b[t.chunkBits:])
	return c, allocated <= 1 && c.size >= t.chunk && c.size <= end-at
}

// vsChunks is where the chunks of a subsegment begin and end; ok is false for one that is none.
func (t *segmentLayout) vsChunks(w *window, at, size uint64) (from, end uint64, ok bool) {
	units, ok1 := w.u16(at + t.vsUnits)
	mark, ok2 := w.u16(at + t.vsSignature)
	if !ok1 || !ok2 || (units^mark)&0x7FFF != vsMark {
		return 0, 0, false
	}
	// Size is in granules, and rounded up to pages it leads to the end.
	end = at + min((uint64(units)*t.granule+pageSize-1)&^(pageSize-1), size)
	return at + t.vsFirst, end, end > at+t.vsFirst
}

// vsSubsegment walks the chunks of a range that has blocks of variable size.
func (s *segmentWalk) vsSubsegment(at, size uint64) error {
	from, end, ok := s.layout.vsChunks(s.seq, at, size)
	if !ok {
		if s.seq.readable(at) {
			s.bad.add(at)
		}
		s.gap("VS subsegment", at, size, "its header fails its check, or is not in the evidence")
		return nil
	}
	if !s.keys.heapKnown {
		s.gap("VS subsegment", at, size, "the key of its chunks could not be inferred")
		return nil
	}
	units, _ := s.seq.u16(at + s.layout.vsUnits)
	return s.chunks(from, end, at+uint64(units)*s.layout.granule)
}

// chunks walks chunks one behind the other. Each says how long the one before is; where that fails, what lies up to the
// next that can be believed is a gap. From last on, where Size leads, nothing need be a chunk.
func (s *segmentWalk) chunks(from, end, last uint64) error {
	previous, known := uint64(0), true
	for at := from; at < end && end-at >= s.layout.granule; {
		if err := s.step(); err != nil {
			return err
		}
		c, ok := s.layout.readChunk(s.seq, at, end, s.keys.heap)
		if !ok && at >= last {
			return nil
		}
		if !ok || known && c.previous != previous {
			next, err := s.nextChunk(at, from, end)
			if err != nil {
				return err
			}
			if next == at { // it is the one before that lies
				previous = c.previous
				s.bad.add(at)
				continue
			}
			if s.seq.readable(at) {
				s.bad.add(at)
			}
			s.gap("range", at, next-at, "chunks of blocks fail their checks, or are not in the evidence")
			at, known = next, false
			continue
		}
		s.look(at)
		if err := s.chunkOf(at, c); err != nil {
			return err
		}
		at, previous, known = at+c.size, c.size, true
	}
	return nil
}

// nextChunk is the first chunk from at that the two behind it agree with, or end.
func (s *segmentWalk) nextChunk(at, from, end uint64) (uint64, error) {
	for ; at < end && end-at >= s.layout.chunk; at += s.layout.granule {
		if err := s.step(); err != nil {
			return 0, err
		}
		if !s.seq.readable(at) {
			at |= pageSize - s.layout.granule // the last granule of its page
			continue
		}
		c, ok := s.layout.readChunk(s.seq, at, end, s.keys.heap)
		if ok && c.previous > 0 && c.previous <= at-from && s.agrees(at, end, c.size) ||
			ok && at == from && c.previous == 0 && s.agrees(at, end, c.size) {
			return at, nil
		}
	}
	return end, nil
}

// agrees says whether the chunks behind one of size bytes at an address follow each other.
func (s *segmentWalk) agrees(at, end, size uint64) bool {
	for range 2 {
		next := at + size
		if next == end {
			return true
		}
		c, ok := s.layout.readChunk(s.near, next, end, s.keys.heap)
		if !ok || c.previous != size {
			return false
		}
		at, size = next, c.size
	}
	return true
}

// chunkOf takes a chunk.
func (s *segmentWalk) chunkOf(at uint64, c chunk) error {
	t := s.layout
	user, size := at+t.chunk, c.size-t.chunk
	info, known := uint16(0), true
	if c.busy && c.bits&chunkUnused != 0 && size >= 2 {
		info, known = s.seq.u16(user + size - 2)
	}
	switch {
	case !c.busy:
		s.freed(at, c.size)
		return nil
	case isLFH(info) || !known && s.mayBeLFH(user, size) == certain:
		add(&s.out.Internal, size, t.chunk)
		return s.lfhSubsegment(user, size)
	case !known && s.mayBeLFH(user, size) == undecided:
		s.gap("block", user, size, "its end is not in the evidence: it may be a block, or a subsegment of the LFH")
		return nil
	case c.bits&chunkSkip != 0:
		s.skipped.add(user)
		add(&s.out.Internal, size, t.chunk)
		return nil
	case c.bits&chunkUnused == 0 || size < 2:
		return s.hand(Block{Address: user, Size: size, Overhead: t.chunk, Area: VS})
	}
	return s.tail(user, size, t.chunk, unusedVSMask, VS)
}

// isLFH says whether the last two bytes of a busy chunk are those of a subsegment of the LFH.
func isLFH(info uint16) bool { return info&(unusedOne|unusedIsLFH) == unusedIsLFH }

// The answers to whether a chunk is a subsegment of the LFH.
const (
	ruledOut = iota
	undecided
	certain
)

// mayBeLFH says whether a chunk whose end is missing begins as a subsegment of the LFH does.
func (s *segmentWalk) mayBeLFH(user, size uint64) int {
	t := s.layout
	if t.lfhBits >= size {
		return ruledOut
	}
	h, ok := t.readLFH(s.seq, user, size)
	key := s.keys.lfhKeyOf(s.handle)
	switch {
	case !ok && s.seq.readable(user+t.lfhCount) && s.seq.readable(user+t.lfhOffsets):
		return ruledOut
	case !ok || !key.known:
		return undecided
	}
	if _, _, fits := h.places(t, size, key.key); fits {
		return certain
	}
	return ruledOut
}
