package main

// wanted are the fields that the walker uses, in the order in which the table has them. A field that a build lacks is left
// out; a structure of which it has none is left out too.
var wanted = []struct {
	structure string
	fields    []string
}{
	{"_PEB", []string{"ProcessHeap", "NtGlobalFlag", "NumberOfHeaps", "MaximumNumberOfHeaps", "ProcessHeaps", "OSMajorVersion", "OSMinorVersion", "OSBuildNumber"}},
	{"_HEAP", []string{"Signature", "SegmentSignature", "Flags", "ForceFlags", "EncodeFlagMask", "Encoding", "VirtualAllocdBlocks", "SegmentList", "Segments",
		"FrontEndHeap", "FrontEndHeapType", "Interceptor", "Counters"}},
	{"_HEAP_SEGMENT", []string{"SegmentSignature", "Signature", "SegmentListEntry", "Heap", "BaseAddress", "NumberOfPages", "FirstEntry", "LastValidEntry",
		"NumberOfUnCommittedPages", "NumberOfUnCommittedRanges", "UCRSegmentList", "UnCommittedRanges"}},
	{"_HEAP_UCR_DESCRIPTOR", []string{"SegmentEntry", "Address", "Size"}},
	{"_HEAP_UNCOMMMTTED_RANGE", []string{"Next", "Address", "Size"}},
	{"_HEAP_ENTRY", []string{"Size", "Flags", "SmallTagIndex", "PreviousSize", "UnusedBytes"}},
	{"_HEAP_ENTRY_EXTRA", []string{"AllocatorBackTraceIndex"}},
	{"_HEAP_VIRTUAL_ALLOC_ENTRY", []string{"CommitSize", "ReserveSize", "BusyBlock"}},
	{"_HEAP_COUNTERS", []string{"TotalMemoryReserved", "TotalMemoryCommitted", "TotalMemoryLargeUCR", "TotalSizeInVirtualBlocks", "TotalSegments", "TotalUCRs", "LockCollisions", "InBlockDeccomitSize"}},
	{"_HEAP_LOOKASIDE", []string{"ListHead"}},
	{"_LFH_HEAP", []string{"SubSegmentZones", "Heap", "FirstUncommittedAddress"}},
	{"_LFH_BLOCK_ZONE", []string{"FreePointer", "Limit", "NextIndex", "Subsegments"}},
	{"_HEAP_SUBSEGMENT", []string{"UserBlocks", "BlockSize", "BlockCount"}},
	{"_HEAP_USERDATA_HEADER", []string{"SubSegment", "Signature", "FirstAllocationOffset", "EncodedOffsets", "BitmapData"}},
	{"_RTL_STACK_TRACE_ENTRY", []string{"Index", "Depth", "BackTrace"}},
	{"_STACK_TRACE_DATABASE", []string{"CommitBase", "EntryIndexArray"}},
	{"_DPH_HEAP_ROOT", []string{"Signature", "HeapFlags", "pVirtualStorageListHead", "nVirtualStorageRanges", "nVirtualStorageBytes", "BusyNodesTable", "nBusyAllocations",
		"nBusyAllocationBytesCommitted", "nFreeAllocationBytesCommitted", "nAvailableAllocationBytesCommitted", "nBusyAllocationBytesAccessible", "nNodePoolBytes", "NextHeap", "NormalHeap"}},
	{"_DPH_HEAP_BLOCK", []string{"pNextAlloc", "TableLinks", "pUserAllocation", "pVirtualBlock", "nVirtualBlockSize", "nVirtualAccessSize", "nUserRequestedSize", "nUserActualSize", "StackTrace"}},
	{"_DPH_BLOCK_INFORMATION", []string{"StartStamp", "Heap", "RequestedSize", "ActualSize", "TraceIndex", "StackTrace", "EndStamp"}},
	{"_SEGMENT_HEAP", []string{"Signature", "GlobalFlags", "LargeAllocMetadata", "LargeReservedPages", "LargeCommittedPages",
		"TotalReservedPages", "TotalCommittedPages", "FreeCommittedPages", "SegmentListHead", "SegmentCount", "MemStats", "SegContexts", "VsContext", "LfhContext"}},
	{"_HEAP_RUNTIME_MEMORY_STATS", []string{"TotalReservedPages", "TotalCommittedPages", "FreeCommittedPages", "LfhFreeCommittedPages"}},
	{"_HEAP_SEG_CONTEXT", []string{"SegmentMask", "UnitShift", "PagesPerUnitShift", "FirstDescriptorIndex", "SegmentListHead", "SegmentCount"}},
	{"_HEAP_PAGE_SEGMENT", []string{"ListEntry", "Signature", "DescArray"}},
	{"_HEAP_PAGE_RANGE_DESCRIPTOR", []string{"TreeSignature", "UnusedBytes", "ExtraPresent", "RangeFlags", "CommittedPageCount", "Key", "UnitOffset", "UnitSize", "Size"}},
	{"_HEAP_VS_CONTEXT", []string{"SubsegmentList", "TotalCommittedUnits", "FreeCommittedUnits"}},
	{"_HEAP_VS_SUBSEGMENT", []string{"ListEntry", "Size", "Signature"}},
	{"_HEAP_VS_CHUNK_HEADER", []string{"Sizes", "EncodedSegmentPageOffset"}},
	{"_HEAP_VS_CHUNK_HEADER_SIZE", []string{"UnsafeSize", "UnsafePrevSize", "Allocated"}},
	{"_HEAP_LFH_CONTEXT", []string{"Buckets"}},
	{"_HEAP_LFH_SUBSEGMENT", []string{"ListEntry", "Owner", "FreeCount", "BlockCount", "BlockOffsets", "CommitUnitShift", "CommitUnitCount", "CommitStateOffset", "BlockBitmap"}},
	{"_HEAP_LARGE_ALLOC_DATA", []string{"TreeNode", "VirtualAddress", "UnusedBytes", "ExtraPresent", "AllocatedPages"}},
	{"_SEGMENT_HEAP_EXTRA", []string{"AllocationTag", "InterceptorIndex", "ExtraSizeInUnits", "Settable"}},
	{"_RTLP_HP_HEAP_GLOBALS", []string{"HeapKey", "LfhKey"}},
}
