package minidump

import (
	"cmp"
	"slices"

	"heapdrift/ingest/sorting"
)

// maxLost is how many missing ranges are told one by one.
const maxLost = 1 << 16

// Layouts of the lists of memory.
//
//	MINIDUMP_MEMORY_LIST             NumberOfMemoryRanges u32, then
//	MINIDUMP_MEMORY_DESCRIPTOR       StartOfMemoryRange u64 0x00, DataSize u32 0x08, Rva u32 0x0C
//	MINIDUMP_MEMORY64_LIST           NumberOfMemoryRanges u64 0x00, BaseRva u64 0x08, then
//	MINIDUMP_MEMORY_DESCRIPTOR64     StartOfMemoryRange u64 0x00, DataSize u64 0x08
//
// Of the latter the bytes of all ranges follow each other from BaseRva, which is the only offset beyond 4 GB in a dump.
const (
	descriptorSize   = 16
	memory64ListSize = 16
)

// readMemoryLists makes the index of all memory that the dump has.
func (d *Dump) readMemoryLists() []*Problem {
	var damage []*Problem
	for _, t := range []StreamType{StreamMemory64List, StreamMemoryList} { // the fuller one is the first, and wins
		p := problems{stream: t}
		for _, s := range d.streams {
			switch {
			case s.Type != t:
			case t == StreamMemory64List:
				d.memory64List(s, &p)
			default:
				d.memoryList(s, &p)
			}
		}
		damage = append(damage, p.list...)
	}
	if overlap := d.memory.arrange(); overlap > 0 {
		// Small dumps list stacks and what registers point to apart, and both may have the same bytes: that is no damage.
		_, some := d.stream(StreamMemoryList)
		if _, full := d.stream(StreamMemory64List); full && !some {
			damage = append(damage, &Problem{Code: CodeOverlap, Stream: StreamMemory64List, Entry: -1, Count: overlap,
				Message: "ranges of memory overlap; the lower one was taken"})
		}
	}
	return damage
}

func (d *Dump) memoryList(s Stream, p *problems) {
	l := d.plainList(s, descriptorSize, maxRanges, p)
	for i, e := range d.entries(l, p) {
		r := Range{Address: le.Uint64(e), Size: uint64(le.Uint32(e[8:])), offset: int64(le.Uint32(e[12:]))}
		d.memory.add(r, i, l.at+i*descriptorSize, p)
	}
}

func (d *Dump) memory64List(s Stream, p *problems) {
	b, ok := d.head(s, memory64ListSize, memory64ListSize, p)
	if !ok {
		return
	}
	// An offset beyond any file stands for what is too large for one.
	const beyond = 1<<63 - 1
	at := int64(min(le.Uint64(b[8:]), beyond))
	l := d.bounded(s, memory64ListSize, descriptorSize, le.Uint64(b), maxRanges, p)
	for i, e := range d.entries(l, p) {
		r := Range{Address: le.Uint64(e), Size: le.Uint64(e[8:]), offset: at}
		d.memory.add(r, i, l.at+i*descriptorSize, p)
		at = saturated(at, int64(min(r.Size, beyond)))
	}
}

// add takes a range, as far as the file has it and there are addresses for it.
func (m *Memory) add(r Range, entry, offset int64, p *problems) {
	if len(m.ranges) >= maxRanges {
		p.add(CodeTooMany, entry, offset, 1, "the dump has more than %d ranges of memory; the rest is left out", maxRanges)
		return
	}
	if r.Size == 0 {
		return
	}
	if last := r.Address + (r.Size - 1); last < r.Address {
		p.add(CodeBadEntry, entry, offset, 1, "a range of %#x bytes at %#x goes beyond the last address", r.Size, r.Address)
		r.Size = -r.Address // up to the last
	}
	held := uint64(m.src.room(r.offset, int64(min(r.Size, 1<<63-1))))
	if held < r.Size {
		short := int64(min(r.Size-held, 1<<63-1))
		m.missing = saturated(m.missing, short)
		p.add(CodeTruncated, entry, offset, 1,
			"the file ends before the bytes of a range of memory; upload it again, or make the dump on a disk with enough space")
		if len(m.lost) < maxLost {
			m.lost = append(m.lost, Range{Address: r.Address + held, Size: r.Size - held})
		}
	}
	if r.Size = held; held > 0 {
		m.ranges = append(m.ranges, r)
	}
}

// arrange sorts the ranges and makes those that overlap not do so; it returns by how many bytes they did. Of ranges
// with one address the first listed counts, and of others the lower one.
func (m *Memory) arrange() (overlap int64) {
	byAddress := func(a, b Range) int { return cmp.Compare(a.Address, b.Address) }
	sorting.Stable(m.lost, byAddress)
	m.lost = joined(m.lost)
	if !slices.IsSortedFunc(m.ranges, byAddress) {
		sorting.Stable(m.ranges, byAddress)
	}
	kept := m.ranges[:0]
	for _, r := range m.ranges {
		if len(kept) > 0 {
			before := kept[len(kept)-1]
			if last := before.Address + (before.Size - 1); r.Address <= last {
				over := min(last-r.Address, r.Size-1) + 1 // in this order it cannot wrap
				overlap = saturated(overlap, int64(min(over, 1<<63-1)))
				r.Address, r.Size, r.offset = r.Address+over, r.Size-over, r.offset+int64(over)
			}
		}
		if r.Size > 0 {
			kept = append(kept, r)
		}
	}
	m.ranges = slices.Clip(kept)
	return overlap
}

// joined are ranges of which neighbours are one.
func joined(ranges []Range) []Range {
	kept := ranges[:0]
	for _, r := range ranges {
		if n := len(kept); n > 0 && kept[n-1].Address+kept[n-1].Size == r.Address {
			kept[n-1].Size += r.Size
		} else {
			kept = append(kept, r)
		}
	}
	return kept
}
