package ntheap

// sampled is how many blocks of a container are looked at before its bitmap is believed.
const sampled = 64

// blocks hands out the busy blocks of a container that ends at end at the latest.
func (l *lfhWalk) blocks(s *subsegment, end uint64) error {
	s.walked = true
	stride, count := uint64(s.blockSize)*l.layout.entry.granularity, uint64(s.count)
	first := s.container + l.firstBlock(s)
	if room := (max(end, first) - first) / stride; count > room {
		l.odd.add(s.container)
		count = room
	}
	bits := l.readBits(s)
	if bits != nil && !l.agree(bits, first, stride, min(count, sampled)) {
		l.odd.add(s.container)
		bits = nil
	}
	missing := uint64(0) // bytes that could not be read, up to the current block
	for i := range count {
		if err := l.step(); err != nil {
			return err
		}
		at := first + i*stride
		b := l.header(at)
		if b == nil {
			missing += stride
			continue
		}
		if missing > 0 {
			l.gap("LFH subsegment", at-missing, missing, "the memory is not in the evidence")
			missing = 0
		}
		state := lfhState(b, &l.layout.entry)
		busy := state > lfhBusy
		if bits != nil {
			if set := bits[i/8]>>(i%8)&1 != 0; set != busy {
				l.odd.add(at)
				busy = set
			}
		}
		if !busy {
			add(&l.out.FreeLFH, stride, 0)
			continue
		}
		if err := l.lfhBlock(at, stride, state); err != nil {
			return err
		}
	}
	if missing > 0 {
		l.gap("LFH subsegment", first+count*stride-missing, missing, "the memory is not in the evidence")
	}
	l.out.Subsegments++
	return nil
}

// agree says whether the bitmap and the first blocks tell mostly the same: a bitmap that means something else is not
// used.
func (l *lfhWalk) agree(bits []byte, first, stride, count uint64) bool {
	same, read := uint64(0), uint64(0)
	for i := range count {
		b := l.header(first + i*stride)
		if b == nil {
			continue
		}
		read++
		if busy := lfhState(b, &l.layout.entry) > lfhBusy; busy == (bits[i/8]>>(i%8)&1 != 0) {
			same++
		}
	}
	return 2*same >= read
}

// lfhBlock hands out one block, whose entry is not encoded and has nothing but its state.
func (l *lfhWalk) lfhBlock(at, stride uint64, state uint8) error {
	s := shape{unused: uint64(state & unusedBits), extended: state&unusedExtended != 0}
	if state <= lfhBusy { // busy by the bitmap alone
		l.odd.add(at)
		s = shape{unused: l.layout.entry.granularity}
	}
	return l.sized(at, stride, s, LFH)
}
