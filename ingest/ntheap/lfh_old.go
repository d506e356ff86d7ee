package ntheap

// The low-fragmentation heap of Windows XP and 2003, as the memory of 2600.5512 has it. P is the size of a pointer.
//
//	_HEAP_USERDATA_HEADER   SubSegment 0, Signature 3P; blocks begin at 4P
//	_HEAP_SUBSEGMENT        UserBlocks P, BlockSize (u16, granules) 2P+8, BlockCount (u16) 2P+12
//	entry of a block        Flags and UnusedBytes where others have them; the first four bytes are disguised

// oldContainer recognises a container by its signature.
func (l *lfhWalk) oldContainer(user uint64) bool {
	mark, ok := l.seq.u32(user + 3*l.seq.pointerSize())
	return ok && mark == containerSignature
}

// oldBlocks hands out the busy blocks of the container from user to end.
func (l *lfhWalk) oldBlocks(user, end uint64) error {
	pointer, granularity := l.near.pointerSize(), l.layout.entry.granularity
	at, ok1 := l.near.pointer(user)
	back, ok2 := l.near.pointer(at + pointer)
	size, ok3 := l.near.u16(at + 2*pointer + 8)
	count, ok4 := l.near.u16(at + 2*pointer + 12)
	stride, first := uint64(size)*granularity, user+4*pointer
	if !ok1 || !ok2 || !ok3 || !ok4 || back != user || size == 0 || end < first || uint64(count)*stride > end-first {
		l.gap("LFH subsegment", user, end-user, "its subsegment does not lead back to it, or is not in the evidence")
		return nil
	}
	for i := range uint64(count) {
		if err := l.step(); err != nil {
			return err
		}
		block := first + i*stride
		b := l.header(block)
		if b == nil {
			l.gap("LFH subsegment", block, stride, "the memory is not in the evidence")
			continue
		}
		e := l.layout.entry.decodeBytes(b)
		if e.flags&entryBusy == 0 {
			add(&l.out.FreeLFH, stride, 0)
			continue
		}
		if err := l.oldBlock(block, stride, e, LFH); err != nil {
			return err
		}
	}
	l.out.Subsegments++
	return nil
}
