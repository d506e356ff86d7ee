package ntheap

// A segmentLayout is where the structures of segment heaps have their fields.
type segmentLayout struct {
	name string
	wide bool
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
	largeAddress, largePages                        uint64 // _HEAP_LARGE_ALLOC_DATA; its tree node comes first

	interceptor, extraSize uint64 // _SEGMENT_HEAP_EXTRA
}

// newSegmentLayout takes a layout, or says what it lacks.
func newSegmentLayout(l *layout, wide bool) (*segmentLayout, string) {
	n := lookup{types: l.types}
	const heap, stats, context, segment, unit = "_SEGMENT_HEAP", "_HEAP_RUNTIME_MEMORY_STATS", "_HEAP_SEG_CONTEXT", "_HEAP_PAGE_SEGMENT", "_HEAP_PAGE_RANGE_DESCRIPTOR"
	const vs, chunk, lfh, large, extra = "_HEAP_VS_SUBSEGMENT", "_HEAP_VS_CHUNK_HEADER", "_HEAP_LFH_SUBSEGMENT", "_HEAP_LARGE_ALLOC_DATA", "_SEGMENT_HEAP_EXTRA"
	t := &segmentLayout{
		name: l.name, wide: wide, granule: 8,
		size: n.size(heap), largeReserved: n.at(heap, "LargeReservedPages"), largeCommitted: n.at(heap, "LargeCommittedPages"),
		flags: n.at(heap, "GlobalFlags"), contexts: n.at(heap, "SegContexts"), large: n.at(heap, "LargeAllocMetadata"), stats: n.at(heap, "MemStats"),
		statReserved: n.at(stats, "TotalReservedPages"), statCommitted: n.at(stats, "TotalCommittedPages"), statFree: n.at(stats, "FreeCommittedPages"),
		contextSize: n.size(context), mask: n.at(context, "SegmentMask"), unitShift: n.at(context, "UnitShift"), pagesShift: n.at(context, "PagesPerUnitShift"),
		firstIndex: n.at(context, "FirstDescriptorIndex"), list: n.at(context, "SegmentListHead"),
		link: n.at(segment, "ListEntry"), signature: n.at(segment, "Signature"), descriptors: n.at(segment, "DescArray"), header: n.size(segment),
		descriptor: n.size(unit), unused: n.at(unit, "UnusedBytes"), extra: n.at(unit, "ExtraPresent"), range8: n.at(unit, "RangeFlags"), units8: n.at(unit, "UnitSize"),
		vsUnits: n.at(vs, "Size"), vsSignature: n.at(vs, "Signature"), vsFirst: n.size(vs), chunk: n.size(chunk), chunkBits: n.at(chunk, "EncodedSegmentPageOffset"),
		lfhCount: n.at(lfh, "BlockCount"), lfhOffsets: n.at(lfh, "BlockOffsets"), lfhBits: n.at(lfh, "BlockBitmap"),
		largeAddress: n.at(large, "VirtualAddress"), largePages: n.at(large, "AllocatedPages"),
		interceptor: n.at(extra, "InterceptorIndex"), extraSize: n.size(extra),
	}
	if wide {
		t.granule = 16
	}
	t.vsFirst = (t.vsFirst + t.granule - 1) &^ (t.granule - 1)
	// Descriptors, chunks and records are read at once, so they must have the fields that are wanted.
	if n.missing == "" && (t.descriptor > pageSize || t.unused+4 > t.descriptor || t.extra >= t.descriptor || t.range8 >= t.descriptor || t.units8 >= t.descriptor ||
		t.chunk > pageSize || t.chunkBits+4 > t.chunk || t.extraSize > recordRoom || t.interceptor+2 > t.extraSize) {
		return nil, "a structure that has its own fields"
	}
	return t, n.missing
}
