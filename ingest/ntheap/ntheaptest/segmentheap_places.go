package ntheaptest

// segmentPlaces are offsets in _SEGMENT_HEAP and, of list and count, in _HEAP_SEG_CONTEXT. LargePages are two counters.
type segmentPlaces struct {
	reserved, committed, free          uint64
	large, largePages                  uint64
	contexts, contextSize, list, count uint64
}

// oldSegments says whether segment heaps have one kind of segments, with other descriptors.
func (v *WindowsVersion) oldSegments() bool { return v.Build < 16299 }

// internalRanges says whether a kind of ranges is the heap's own; in 16299 those of LFH and VS have the numbers below.
func (v *WindowsVersion) internalRanges() bool { return v.Build >= 17134 }

// unmarkedPadding says whether nothing before a block says how much padding it has.
func (v *WindowsVersion) unmarkedPadding() bool { return v.Build < 17134 }

func (v *WindowsVersion) segmentPlaces() segmentPlaces {
	w := v.width()
	switch {
	case v.oldSegments():
		return segmentPlaces{0, w, v.pick(0x10, 0x18), v.pick(0x24, 0x38), v.pick(0x2c, 0x48), 0, 0,
			v.pick(0x38, 0x60), v.pick(0x40, 0x70)}
	case v.Build < 17134:
		return segmentPlaces{0x18, 0x20, 0x28, 0x50, 0x60, 0x70, 0x68, 0x20, 0x30}
	case v.Build < 17763:
		return segmentPlaces{0x18, 0x20, 0x28, 0x50, 0x60, 0x70, 0x78, 0x20, 0x30}
	}
	p := segmentPlaces{0x80, 0x80 + w, 0x80 + 2*w, v.pick(0x44, 0x48), v.pick(0x4c, 0x58), 0x100, v.pick(0x80, 0xc0),
		v.pick(0x44, 0x48), v.pick(0x4c, 0x58)}
	if v.Bits == 64 && v.Build >= 22000 {
		p.contexts = 0x140
	}
	return p
}

// LargeTree is the offset in a segment heap of the root of the tree of its large blocks.
func (v *WindowsVersion) LargeTree() uint64 { return v.segmentPlaces().large }

// segmentShifts are the sizes of units of the contexts, as powers of two.
func (v *WindowsVersion) segmentShifts() []uint64 {
	switch {
	case v.oldSegments():
		return []uint64{12}
	case v.Bits == 32:
		return []uint64{12, 12}
	}
	return []uint64{12, 16}
}

// FirstUnit is the index of the first unit of a segment behind those of its header, for units of 1<<shift bytes.
func (v *WindowsVersion) FirstUnit(shift uint64) int {
	if v.Bits == 64 && shift == 12 {
		return 2
	}
	return 1
}

// describeRange writes the descriptors of a range. Those inside a free range keep what was there.
func (h *segmentHeapMaker) describeRange(base uint64, r pageRange) {
	v := h.v
	if r.units == 256 {
		panic("ntheaptest: a range of a whole segment")
	}
	for i := range r.units {
		d := base + uint64(r.index+i)*v.pick(0x10, 0x20)
		flags := r.flags
		if i > 0 {
			flags &^= 2
		}
		if v.oldSegments() {
			h.describeOld(d, i, flags, r)
		} else {
			h.describe(d, i, flags, r)
		}
	}
}

// describe writes one descriptor, of unit i of a range.
func (h *segmentHeapMaker) describe(d uint64, i int, flags uint8, r pageRange) {
	v := h.v
	if i == 0 {
		h.u32(d, 0xCCDDCCDD)
		h.u32(d+4, uint32(r.unused))
		if h.u16(d+8, 0); r.extra {
			h.u16(d+8, 1)
		}
		h.u8(d+v.pick(0xf, 0x1f), uint8(r.units))
	} else if v.Build >= 26100 {
		h.u8(d+0x1a, uint8(i))
	} else {
		h.u8(d+v.pick(0xf, 0x1f), uint8(i))
	}
	if !v.internalRanges() && flags>>2 > 0 {
		flags -= 1 << 2
	}
	if v.Bits == 32 {
		flags |= uint8(h.random.IntN(8)) << 5
	} else {
		h.u8(d+0x19, uint8(h.random.IntN(17)))
	}
	h.u8(d+v.pick(0xc, 0x18), flags)
}

// describeOld writes one of 15063 and before, whose flags have other bits: LFH 1, allocated 4, first 8, VS 0x20.
func (h *segmentHeapMaker) describeOld(d uint64, i int, flags uint8, r pageRange) {
	v, old := h.v, uint8(0)
	if flags&1 != 0 {
		old |= 4
	}
	if flags&2 != 0 {
		old |= 8
	}
	old |= [4]uint8{0, 0, 1, 0x20}[flags>>2&3]
	number := i
	if i == 0 {
		number = r.units
		h.u32(d, 0xCCDDCCDD)
		h.u16(d+6, uint16(r.unused))
		if r.extra {
			h.u8(d+4, 1)
		}
	}
	h.u8(d+v.pick(0xc, 0x18), old)
	h.u8(d+v.pick(0xf, 0x1b), uint8(number))
}
