package ntheap

import "encoding/binary"

// The bits of RangeFlags, as MemProcFS and DbgHelpUtils read them since build 18362. Bits 2 and 3 are a number, the
// PDB's enum _HEAP_SEG_RANGE_TYPE; with 32 bits the upper three count committed pages.
const (
	unitAllocated = 1
	unitFirst     = 2 // of its range; UnitSize is how many units that has
	unitKind      = 3 // after two bits
)

// The kinds of ranges that are allocated.
const (
	rangeBlock    = 0
	rangeInternal = 1
	rangeLFH      = 2
	rangeVS       = 3
)

// The bits of RangeFlags of 15063 and before, as they are published for 14295 (Yason, Windows 10 Segment Heap
// Internals, 2016).
const (
	oldUnitLFH       = 0x01
	oldUnitAllocated = 0x04
	oldUnitFirst     = 0x08
	oldUnitVS        = 0x20
)

// rangeFlags are the RangeFlags of a descriptor with the bits and kinds of 17134 and later. In memory that ntdll of
// 16299 wrote, kind 1 is of ranges that begin as _HEAP_LFH_SUBSEGMENT, and kind 2 of those that begin as
// _HEAP_VS_SUBSEGMENT.
func (t *segmentLayout) rangeFlags(written uint8) uint8 {
	switch {
	case t.old:
		return modernFlags(written)
	case t.withoutInternal && written>>2&unitKind != rangeBlock:
		return written + 1<<2
	}
	return written
}

// modernFlags says with the later bits what the former say.
func modernFlags(old uint8) (flags uint8) {
	if old&oldUnitAllocated != 0 {
		flags |= unitAllocated
	}
	if old&oldUnitFirst != 0 {
		flags |= unitFirst
	}
	switch {
	case old&oldUnitLFH != 0:
		flags |= rangeLFH << 2
	case old&oldUnitVS != 0:
		flags |= rangeVS << 2
	}
	return flags
}

// extraPresent is the bit of ExtraPresent in descriptors and in large allocations.
const extraPresent = 1

// A unitDescriptor is a _HEAP_PAGE_RANGE_DESCRIPTOR.
type unitDescriptor struct {
	read   bool // its memory is there
	flags  uint8
	units  uint8
	extra  bool
	unused uint32
}

func (d *unitDescriptor) kind() uint8 { return d.flags >> 2 & unitKind }

// readDescriptors reads those of a segment.
func (h *segmentHeap) readDescriptors(w *window, s *pageSegment, to *[descriptorCount]unitDescriptor) {
	t := h.layout
	for i := range to {
		to[i] = unitDescriptor{}
		b := w.bytes(s.at+t.descriptors+uint64(i)*t.descriptor, int(t.descriptor))
		if b == nil {
			continue
		}
		to[i] = unitDescriptor{
			read: true, flags: t.rangeFlags(b[t.range8]), units: b[t.units8], extra: b[t.extra]&extraPresent != 0,
			unused: uint32(binary.LittleEndian.Uint16(b[t.unused:])),
		}
		if !t.old {
			to[i].unused = binary.LittleEndian.Uint32(b[t.unused:])
		}
	}
}

// ranges hands the ranges of a segment to visit: the index of their first unit, and how many they have. Units that are
// in none come one by one: those whose descriptor cannot be read, or says that another is the first of its range.
func (c *segmentContext) ranges(all *[descriptorCount]unitDescriptor,
	visit func(i, units int, whole bool) error) error {
	for i := c.first; i < descriptorCount; {
		d := &all[i]
		units := int(d.units)
		whole := d.read && d.flags&unitFirst != 0 && units > 0 && units <= descriptorCount-i
		if !whole {
			units = 1
		}
		if err := visit(i, units, whole); err != nil {
			return err
		}
		i += units
	}
	return nil
}

// segment walks the ranges of a segment.
func (s *segmentWalk) segment(p *pageSegment) error {
	s.readDescriptors(s.near, p, &s.descriptors)
	s.page, s.walked = p.at, 0
	s.out.Extents = append(s.out.Extents, Extent{p.at, p.size(), ExtentSegment})
	s.checkSignature(p)
	header := uint64(p.context.first) << p.context.unitShift
	s.look(p.at + header)
	lost := uint64(0) // bytes before the current range that nothing is known of
	tell := func(end uint64) {
		if lost > 0 {
			s.gap("range", end-lost, lost, "the descriptors of its pages are not in the evidence, or contradict each other")
			lost = 0
		}
	}
	err := p.context.ranges(&s.descriptors, func(i, units int, whole bool) error {
		if err := s.step(); err != nil {
			return err
		}
		d := &s.descriptors[i]
		at, size := p.at+uint64(i)<<p.context.unitShift, uint64(units)<<p.context.unitShift
		if !whole && (!d.read || d.flags&unitAllocated != 0 || d.flags&unitFirst != 0) {
			if d.read {
				s.bad.add(at)
			}
			lost += size
			return nil
		}
		tell(at)
		if d.flags&unitAllocated == 0 {
			if whole {
				s.freed(at, size)
			}
			s.look(at + size)
			return nil
		}
		s.checkInner(i, units, at)
		return s.pageRange(d, at, size)
	})
	if err != nil {
		return err
	}
	tell(p.at + p.size())
	s.out.Segments = append(s.out.Segments, Segment{Address: p.at, Size: p.size(), Walked: s.walked})
	return nil
}

// checkSignature compares the signature of a segment with those of the others.
func (s *segmentWalk) checkSignature(p *pageSegment) {
	if signature, ok := s.near.pointer(p.at + s.layout.signature); ok && s.keys.signed &&
		s.layout.base(signature, p) != s.keys.base {
		s.odds.add(p.at)
	}
}

// checkInner looks for descriptors inside a range that begin another.
func (s *segmentWalk) checkInner(i, units int, at uint64) {
	for inner := i + 1; inner < i+units; inner++ {
		if d := &s.descriptors[inner]; d.read && d.flags&unitFirst != 0 && d.flags&unitAllocated != 0 {
			s.odds.add(at)
			return
		}
	}
}

// pageRange takes an allocated range.
func (s *segmentWalk) pageRange(d *unitDescriptor, at, size uint64) error {
	switch d.kind() {
	case rangeLFH:
		add(&s.out.Internal, size, 0)
		err := s.lfhSubsegment(at, size)
		s.look(at + size)
		return err
	case rangeVS:
		err := s.vsSubsegment(at, size)
		s.look(at + size)
		return err
	case rangeInternal:
		add(&s.out.Internal, size, 0)
		s.look(at + size)
		return nil
	}
	s.look(at + size)
	unused := uint64(d.unused)
	if unused > size {
		s.odd.add(at)
		unused = 0
	}
	b := Block{Address: at, Size: size - unused, Overhead: unused, Area: Backend}
	if d.extra {
		b.Trace = s.record(at+size-unused, at+size)
	}
	return s.hand(b)
}

// look counts the pages up to an address that can be read: those of free memory may be uncommitted.
func (s *segmentWalk) look(to uint64) {
	if to = (to + pageSize - 1) &^ (pageSize - 1); to > s.page {
		s.walked += s.present(s.page, to-s.page)
		s.page = to
	}
}

// present is how many bytes of whole pages the evidence has. The last pages of a block need not be committed. Where
// each page must be looked at, a long stretch of missing ones ends the count: the size of a large block is a claim of
// up to 128 TB.
func (s *segmentWalk) present(at, size uint64) (n uint64) {
	if present := s.heaps.process.Present; present != nil {
		return present(at, size)
	}
	missing := 0
	for end := at + size; at < end && missing < mostMissing; at += pageSize {
		if missing++; s.seq.readable(at) {
			n, missing = n+pageSize, 0
		}
	}
	return n
}
