package ntheap

// A segmentLayout is where the structures of segment heaps have their fields.
type segmentLayout struct {
	name string
	wide bool
	// old is set for 15063 and before: one kind of segments, whose list and counters are in _SEGMENT_HEAP, and other
	// descriptors.
	old bool
	// withoutInternal is set for 16299: no number of a kind of ranges is for those of the heap's own.
	withoutInternal bool
	// granule is the unit of chunks, and what blocks are aligned to: two pointers.
	granule uint64

	size, flags, contexts, large, stats   uint64 // _SEGMENT_HEAP
	largeReserved, largeCommitted         uint64 // of the same, in pages
	statReserved, statCommitted, statFree uint64 // _HEAP_RUNTIME_MEMORY_STATS

	contextSize, mask, unitShift, pagesShift, firstIndex, list uint64 // _HEAP_SEG_CONTEXT

	link, signature, descriptors, header      uint64 // _HEAP_PAGE_SEGMENT
	descriptor, unused, extra, range8, units8 uint64 // _HEAP_PAGE_RANGE_DESCRIPTOR; the last two are single bytes

	vsUnits, vsSignature, vsFirst, chunk, chunkBits uint64 // _HEAP_VS_SUBSEGMENT, _HEAP_VS_CHUNK_HEADER
	lfhCount, lfhOffsets, lfhBits                   uint64 // _HEAP_LFH_SUBSEGMENT
	lfhApart                                        bool   // the bits of busy blocks and of unused bytes are in halves of their words
	largeAddress, largePages                        uint64 // _HEAP_LARGE_ALLOC_DATA; its tree node comes first

	interceptor, extraSize uint64 // _SEGMENT_HEAP_EXTRA
}

// newSegmentLayout takes a layout, or says what it lacks.
func newSegmentLayout(l *layout, wide bool) (*segmentLayout, string) {
	n := lookup{types: l.types}
	const heap, stats, context, segment, unit = "_SEGMENT_HEAP", "_HEAP_RUNTIME_MEMORY_STATS", "_HEAP_SEG_CONTEXT",
		"_HEAP_PAGE_SEGMENT", "_HEAP_PAGE_RANGE_DESCRIPTOR"
	const vs, chunk, lfh, large, extra = "_HEAP_VS_SUBSEGMENT", "_HEAP_VS_CHUNK_HEADER", "_HEAP_LFH_SUBSEGMENT",
		"_HEAP_LARGE_ALLOC_DATA", "_SEGMENT_HEAP_EXTRA"
	t := &segmentLayout{
		name: l.name, wide: wide, granule: 8,
		size: n.size(heap), largeReserved: n.at(heap, "LargeReservedPages"),
		largeCommitted: n.at(heap, "LargeCommittedPages"),
		flags:          n.at(heap, "GlobalFlags"), large: n.at(heap, "LargeAllocMetadata"),
		link: n.at(segment, "ListEntry"), signature: n.at(segment, "Signature"), descriptors: n.at(segment, "DescArray"),
		header:     n.size(segment),
		descriptor: n.size(unit), unused: n.at(unit, "UnusedBytes"), extra: n.at(unit, "ExtraPresent"),
		range8:  n.at(unit, "RangeFlags"),
		vsUnits: n.at(vs, "Size"), vsSignature: n.at(vs, "Signature"), vsFirst: n.size(vs), chunk: n.size(chunk),
		chunkBits: n.at(chunk, "EncodedSegmentPageOffset"),
		lfhCount:  n.at(lfh, "BlockCount"), lfhOffsets: n.at(lfh, "BlockOffsets"), lfhBits: n.at(lfh, "BlockBitmap"),
		largeAddress: n.at(large, "VirtualAddress"), largePages: n.at(large, "AllocatedPages"),
		interceptor: n.at(extra, "InterceptorIndex"), extraSize: n.size(extra),
	}
	if wide {
		t.granule = 16
	}
	t.lfhApart = n.size(lfh) == apartSize
	if _, contexts := l.types.Offset(heap, "SegContexts"); contexts {
		t.contexts, t.stats = n.at(heap, "SegContexts"), n.at(heap, "MemStats")
		t.statReserved, t.statCommitted, t.statFree = n.at(stats, "TotalReservedPages"), n.at(stats, "TotalCommittedPages"),
			n.at(stats, "FreeCommittedPages")
		t.contextSize, t.mask, t.unitShift, t.pagesShift = n.size(context), n.at(context, "SegmentMask"),
			n.at(context, "UnitShift"), n.at(context, "PagesPerUnitShift")
		t.firstIndex, t.list, t.units8 = n.at(context, "FirstDescriptorIndex"), n.at(context, "SegmentListHead"),
			n.at(unit, "UnitSize")
		t.withoutInternal = t.contextSize == shortContext
	} else {
		t.old = true
		t.statReserved, t.statCommitted, t.statFree = n.at(heap, "TotalReservedPages"), n.at(heap, "TotalCommittedPages"),
			n.at(heap, "FreeCommittedPages")
		t.list, t.units8 = n.at(heap, "SegmentListHead"), n.at(unit, "Size")
	}
	t.vsFirst = (t.vsFirst + t.granule - 1) &^ (t.granule - 1)
	// Descriptors, chunks and records are read at once, so they must have the fields that are wanted.
	if n.missing == "" && (t.descriptor > pageSize || t.unused+t.unusedSize() > t.descriptor || t.extra >= t.descriptor ||
		t.range8 >= t.descriptor || t.units8 >= t.descriptor ||
		t.chunk > pageSize || t.chunkBits+4 > t.chunk || t.extraSize > recordRoom || t.interceptor+2 > t.extraSize) {
		return nil, "a structure that has its own fields"
	}
	return t, n.missing
}

// apartSize is the size of _HEAP_LFH_SUBSEGMENT in 24H2, by which its bitmap is told.
const apartSize = 0x48

// shortContext is the size of _HEAP_SEG_CONTEXT in 16299, by which its kinds of ranges are told.
const shortContext = 0x68

// unusedSize is the size of UnusedBytes in a descriptor.
func (t *segmentLayout) unusedSize() uint64 {
	if t.old {
		return 2
	}
	return 4
}
