package etltest

// Opcodes of group 0x10, the heap.
const (
	HeapCreate                = 32
	HeapAlloc                 = 33
	HeapReAlloc               = 34
	HeapDestroy               = 35
	HeapFree                  = 36
	HeapExpand                = 37
	HeapSnapshot              = 38
	HeapContract              = 42
	HeapLock                  = 43
	HeapUnlock                = 44
	HeapValidate              = 45
	HeapWalk                  = 46
	HeapSubsegmentAlloc       = 47
	HeapSubsegmentFree        = 48
	HeapSubsegmentAllocCached = 49
	HeapSubsegmentFreeCached  = 50
	HeapCommit                = 51
	HeapDecommit              = 52
	HeapSubsegmentInit        = 53
	HeapAffinityEnable        = 54
	HeapAffinityAssigned      = 55
	HeapSubsegmentActivated   = 56
	HeapAffinityChanged       = 57
	HeapReuseThreshold        = 58
)

// HeapEvent is an event of the heap of a process of some width: its pointer-sized fields, then those of 4 bytes, as
// every layout of the group but SnapShot has them.
//
//	Create 2      Heap | Flags                                   3: Heap | Flags | Reserved, Committed, AllocatedSpace
//	Alloc 2       Heap, Size, Address | Source
//	ReAlloc 2     Heap, NewAddress, OldAddress, NewSize, OldSize | Source
//	Destroy 2     Heap
//	Free 2        Heap, Address | Source
//	Expand 2      Heap, CommittedSize, CommitAddress, FreeSpace, CommittedSpace, ReservedSpace | NoOfUCRs
//	Lock… 2       Heap
//	Subsegment 2  Heap, SubSegment, SubSegmentSize, BlockSize
//	Commit 2      Heap, Block, Size | Caller
func HeapEvent(bits int, op byte, pointers []uint64, numbers ...uint32) Event {
	p := payload{bits: bits}
	p.ptr(pointers...)
	p.u32(numbers...)
	return Event{Envelope: SystemHeader, Bits: bits, Group: groupHeap, Op: op, Version: 2, Payload: p.b}
}

// HeapCreateEvent is a heap's creation, version 2 or 3.
func HeapCreateEvent(bits, version int, heap uint64, flags uint32) Event {
	e := HeapEvent(bits, HeapCreate, []uint64{heap}, flags)
	if version >= 3 {
		p := payload{bits, e.Payload}
		p.ptr(0x100000, 0x1000, 0x1000)
		e.Payload, e.Version = p.b, 3
	}
	return e
}

// HeapExpandEvent is a heap's growth or, with op HeapContract, its shrinking; version 2 or 3.
func HeapExpandEvent(bits, version int, op byte, heap, address, size uint64) Event {
	e := HeapEvent(bits, op, []uint64{heap, size, address, 0x800, 0x20000, 0x100000}, 3)
	if version >= 3 {
		p := payload{bits, e.Payload}
		p.ptr(0x1F000)
		e.Payload, e.Version = p.b, 3
	}
	return e
}

// HeapSnapshotEvent is the summary that a heap writes of itself when a session begins and ends; version 2 or 3.
func HeapSnapshotEvent(bits, version int, heap uint64, pid, flags uint32) Event {
	p := payload{bits: bits}
	p.ptr(heap, 0x800, 0x20000, 0x100000)
	p.u32(flags, pid)
	p.ptr(0)
	p.u32(5, 1)
	if version >= 3 {
		p.ptr(0x1F000)
	}
	return Event{Envelope: SystemHeader, Bits: bits, Group: groupHeap, Op: HeapSnapshot, Version: uint16(max(version, 2)),
		Payload: p.b}
}
