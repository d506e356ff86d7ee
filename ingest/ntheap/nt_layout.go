package ntheap

// ntLayout is what the walk of an NT heap needs of a layout: offsets in bytes, by the names of the structures.
//
// Windows XP and 2003 have other structures than Vista and later: an array of segments and single lists of uncommitted
// ranges (old is set then), no encoding and no counters.
type ntLayout struct {
	name string
	old  bool

	heapSignature, heapFlags, heapVirtualBlocks   uint64
	heapFrontEnd, heapFrontEndType                uint64
	heapSegments                                  uint64 // list, or array of 64 where old
	heapEncodeMask, heapEncoding, heapCounters    uint64
	segmentHeap, segmentBase, segmentPages        uint64
	segmentFirst, segmentLast                     uint64
	segmentUncommitted                            uint64 // number of pages
	segmentRanges                                 uint64 // list, or first of a single list where old
	segmentEntry                                  uint64 // SegmentListEntry
	rangeEntry, rangeNext, rangeAddress           uint64
	rangeSize                                     uint64
	virtualCommit, virtualReserve, virtualBusy    uint64
	countReserved, countCommitted, countVirtual   uint64
	countSegments, countRanges, countContention   uint64
	countDecommitted                              uint64 // inside free blocks; 0 where the layout does not know
	lookasideSize                                 uint64
	entry                                         entryFormat
	lfh                                           *lfhLayout
	stampStart, stampEnd, stampSize, stampRequest uint64 // of page heap's mark before a block
	stampActual, stampTrace                       uint64
}

// lfhLayout is the low-fragmentation heap of Windows Vista and later.
type lfhLayout struct {
	zones, heapSize                         uint64 // of _LFH_HEAP
	uncommitted                             uint64 // of the same; 0 where it is no reservation of its own
	zoneFree, zoneNextIndex, zoneSubsegment uint64
	indexed                                 bool // zones count their subsegments, and do not point behind the last
	subsegmentSize                          uint64
	userBlocks, blockSize, blockCount       uint64
	headerSubsegment, headerSignature       uint64
	headerOffsets, headerFirst, headerBits  uint64
	encoded, plain                          bool   // the header has EncodedOffsets, or FirstAllocationOffset
	headerEnd                               uint64 // where blocks begin that no field places
}

func newNTLayout(l *layout, wide bool) (*ntLayout, string) {
	n := lookup{types: l.types}
	_, modern := l.types.Offset("_HEAP", "SegmentList")
	t := &ntLayout{
		name: l.name, old: !modern,
		heapSignature: n.at("_HEAP", "Signature"), heapFlags: n.at("_HEAP", "Flags"),
		heapVirtualBlocks: n.at("_HEAP", "VirtualAllocdBlocks"),
		heapFrontEnd:      n.at("_HEAP", "FrontEndHeap"), heapFrontEndType: n.at("_HEAP", "FrontEndHeapType"),
		segmentHeap: n.at("_HEAP_SEGMENT", "Heap"), segmentBase: n.at("_HEAP_SEGMENT", "BaseAddress"),
		segmentPages: n.at("_HEAP_SEGMENT", "NumberOfPages"),
		segmentFirst: n.at("_HEAP_SEGMENT", "FirstEntry"), segmentLast: n.at("_HEAP_SEGMENT", "LastValidEntry"),
		segmentUncommitted: n.at("_HEAP_SEGMENT", "NumberOfUnCommittedPages"),
	}
	if modern {
		t.heapSegments, t.heapEncodeMask, t.heapEncoding = n.at("_HEAP", "SegmentList"), n.at("_HEAP", "EncodeFlagMask"),
			n.at("_HEAP", "Encoding")
		t.heapCounters, t.segmentEntry, t.segmentRanges = n.at("_HEAP", "Counters"),
			n.at("_HEAP_SEGMENT", "SegmentListEntry"), n.at("_HEAP_SEGMENT", "UCRSegmentList")
		t.rangeEntry = n.at("_HEAP_UCR_DESCRIPTOR", "SegmentEntry")
		t.rangeAddress, t.rangeSize = n.at("_HEAP_UCR_DESCRIPTOR", "Address"), n.at("_HEAP_UCR_DESCRIPTOR", "Size")
		t.countReserved, t.countCommitted = n.at("_HEAP_COUNTERS", "TotalMemoryReserved"),
			n.at("_HEAP_COUNTERS", "TotalMemoryCommitted")
		t.countVirtual, t.countContention = n.at("_HEAP_COUNTERS", "TotalSizeInVirtualBlocks"),
			n.at("_HEAP_COUNTERS", "LockCollisions")
		t.countSegments, t.countRanges = n.at("_HEAP_COUNTERS", "TotalSegments"), n.at("_HEAP_COUNTERS", "TotalUCRs")
		t.countDecommitted, _ = l.types.Offset("_HEAP_COUNTERS", "InBlockDeccomitSize")
		t.lfh = newLFHLayout(l.types)
	} else {
		t.heapSegments, t.segmentRanges = n.at("_HEAP", "Segments"), n.at("_HEAP_SEGMENT", "UnCommittedRanges")
		t.rangeNext = n.at("_HEAP_UNCOMMMTTED_RANGE", "Next")
		t.rangeAddress, t.rangeSize = n.at("_HEAP_UNCOMMMTTED_RANGE", "Address"), n.at("_HEAP_UNCOMMMTTED_RANGE", "Size")
		t.lookasideSize = n.size("_HEAP_LOOKASIDE")
	}
	t.virtualCommit, t.virtualReserve, t.virtualBusy = virtualBlockFields(l.types, wide)
	t.entry = newEntryFormat(&n, wide)
	t.readStamp(l.types)
	return t, n.missing
}

// virtualBlockFields are the offsets of _HEAP_VIRTUAL_ALLOC_ENTRY, which some PDBs of Windows 7 lack: a LIST_ENTRY, a
// _HEAP_ENTRY_EXTRA, two sizes and a _HEAP_ENTRY.
func virtualBlockFields(types Types, wide bool) (commit, reserve, busy uint64) {
	n := lookup{types: types}
	commit, reserve, busy = n.at("_HEAP_VIRTUAL_ALLOC_ENTRY", "CommitSize"),
		n.at("_HEAP_VIRTUAL_ALLOC_ENTRY", "ReserveSize"), n.at("_HEAP_VIRTUAL_ALLOC_ENTRY", "BusyBlock")
	switch {
	case n.missing == "":
		return commit, reserve, busy
	case wide:
		return 0x20, 0x28, 0x30
	}
	return 0x10, 0x14, 0x18
}

// readStamp takes where page heap marks its blocks; all 0 where the layout does not know.
func (t *ntLayout) readStamp(types Types) {
	n := lookup{types: types}
	const block = "_DPH_BLOCK_INFORMATION"
	start, end, size := n.at(block, "StartStamp"), n.at(block, "EndStamp"), n.size(block)
	request, actual, trace := n.at(block, "RequestedSize"), n.at(block, "ActualSize"), n.at(block, "StackTrace")
	if n.missing == "" {
		t.stampStart, t.stampEnd, t.stampSize, t.stampRequest, t.stampActual, t.stampTrace = start, end,
			size, request, actual, trace
	}
}

// newLFHLayout is nil where the layout does not know the low-fragmentation heap.
func newLFHLayout(types Types) *lfhLayout {
	n := lookup{types: types}
	f := &lfhLayout{
		zones:          n.at("_LFH_HEAP", "SubSegmentZones"),
		subsegmentSize: n.size("_HEAP_SUBSEGMENT"), userBlocks: n.at("_HEAP_SUBSEGMENT", "UserBlocks"),
		blockSize: n.at("_HEAP_SUBSEGMENT", "BlockSize"), blockCount: n.at("_HEAP_SUBSEGMENT", "BlockCount"),
		headerSubsegment: n.at("_HEAP_USERDATA_HEADER", "SubSegment"),
		headerSignature:  n.at("_HEAP_USERDATA_HEADER", "Signature"),
	}
	f.heapSize, _ = types.Size("_LFH_HEAP")
	f.uncommitted, _ = types.Offset("_LFH_HEAP", "FirstUncommittedAddress")
	f.zoneNextIndex, f.indexed = types.Offset("_LFH_BLOCK_ZONE", "NextIndex")
	if !f.indexed {
		f.zoneFree = n.at("_LFH_BLOCK_ZONE", "FreePointer")
	}
	// Subsegments follow the zone on 16 bytes; PDBs tell it by the zone's size alone.
	var ok bool
	if f.zoneSubsegment, ok = types.Offset("_LFH_BLOCK_ZONE", "Subsegments"); !ok {
		f.zoneSubsegment = (n.size("_LFH_BLOCK_ZONE") + 15) &^ 15
	}
	f.headerOffsets, f.encoded = types.Offset("_HEAP_USERDATA_HEADER", "EncodedOffsets")
	f.headerFirst, f.plain = types.Offset("_HEAP_USERDATA_HEADER", "FirstAllocationOffset")
	switch {
	case f.encoded:
		f.headerBits = n.at("_HEAP_USERDATA_HEADER", "BitmapData")
	case !f.plain:
		f.headerEnd = n.size("_HEAP_USERDATA_HEADER")
	}
	if n.missing != "" {
		return nil
	}
	return f
}
