package etltest

// Opcodes of group 0x02, memory.
const (
	HardFault           = 32
	VirtualAlloc        = 98
	VirtualFree         = 99
	HeapRangeRundown    = 100
	HeapRangeCreate     = 101
	HeapRangeReserve    = 102
	HeapRangeRelease    = 103
	HeapRangeDestroy    = 104
	MemInfo             = 112
	ProcessMemInfo      = 125
	VirtualAllocDCStart = 128
	VirtualAllocDCEnd   = 129
)

// Flags of VirtualAlloc and VirtualFree.
const (
	MemCommit   = 0x1000
	MemReserve  = 0x2000
	MemDecommit = 0x4000
	MemRelease  = 0x8000
)

// VirtualEvent is an allocation or a release of a process's addresses: BaseAddress P, RegionSize P, ProcessId u32,
// Flags u32.
func VirtualEvent(bits int, op byte, base, size uint64, pid, flags uint32) Event {
	p := payload{bits: bits}
	p.ptr(base, size)
	p.u32(pid, flags)
	return Event{Envelope: PerfInfoHeader, Group: groupMemory, Op: op, Version: 2, Payload: p.b}
}

// VirtualRundownEvent is a region that was allocated when the session began or ended: as VirtualEvent, and
// CommitSizeInBytes P.
func VirtualRundownEvent(bits int, op byte, base, size uint64, pid, flags uint32, committed uint64) Event {
	e := VirtualEvent(bits, op, base, size, pid, flags)
	p := payload{bits, e.Payload}
	p.ptr(committed)
	e.Payload = p.b
	return e
}

// HeapRangeEvent is a change of the addresses that a heap owns. Create: Heap P, FirstRangeSize P, Flags u32. Reserve,
// Release: Heap P, Address P, Size P. Destroy: Heap P.
func HeapRangeEvent(bits int, op byte, pointers []uint64, numbers ...uint32) Event {
	e := HeapEvent(bits, op, pointers, numbers...)
	e.Group = groupMemory
	return e
}

// HeapRangeRundownEvent lists the ranges of a heap, version 2 or 3: Heap P, Flags u32, ProcessId u32, RangeCount u32,
// from 3 on Reserved u32, then {Address P, Size P}.
func HeapRangeRundownEvent(bits, version int, heap uint64, flags, pid uint32, ranges [][2]uint64) Event {
	p := payload{bits: bits}
	p.ptr(heap)
	p.u32(flags, pid, uint32(len(ranges)))
	if version >= 3 {
		p.u32(0)
	}
	for _, r := range ranges {
		p.ptr(r[0], r[1])
	}
	return Event{Envelope: SystemHeader, Bits: bits, Group: groupMemory, Op: HeapRangeRundown,
		Version: uint16(version), Payload: p.b}
}

// MemInfoEvent says what the machine's pages are used for: Zero, Free, Modified, ModifiedNoWrite, Bad P, then eight
// priorities, eight repurposed, ModifiedPageFile, and from Windows 8 on four commits.
func MemInfoEvent(bits int, free uint64, commits bool) Event {
	p := payload{bits: bits}
	p.ptr(100, free, 30, 0, 0)
	for i := range uint64(16) {
		p.ptr(1000 * i)
	}
	p.ptr(20)
	if commits {
		p.ptr(500, 600, 0, 70000)
	}
	return Event{Envelope: PerfInfoHeader, Group: groupMemory, Op: MemInfo, Version: 1, Payload: p.b}
}

// Counters are what ProcessMemInfo says of a process, in pages.
type Counters struct {
	PID                                         uint32
	WorkingSet, Commit, VirtualSize, PrivateSet uint64 // Commit is the commit charge
}

// ProcessMemInfoEvent is Count u32, then per process ProcessId u32, WorkingSet, Commit, VirtualSize, PrivateWorkingSet
// P, and from version 2 on StorePages, Stored, CommitDebt, SharedCommit P.
func ProcessMemInfoEvent(bits, version int, all []Counters) Event {
	p := payload{bits: bits}
	p.u32(uint32(len(all)))
	for _, c := range all {
		p.u32(c.PID)
		p.ptr(c.WorkingSet, c.Commit, c.VirtualSize, c.PrivateSet)
		if version >= 2 {
			p.ptr(0, 0, 0, 16)
		}
	}
	return Event{Envelope: PerfInfoHeader, Group: groupMemory, Op: ProcessMemInfo, Version: uint16(version), Payload: p.b}
}

// HardFaultEvent is a page read from disk, an event that leaks have no use for: InitialTime u64, ReadOffset u64,
// VirtualAddress P, FileObject P, ThreadId u32, ByteCount u32.
func HardFaultEvent(bits int, address uint64, tid uint32) Event {
	p := payload{bits: bits}
	p.u64(0)
	p.u64(0x1000)
	p.ptr(address, 0xFFFFA00012345678)
	p.u32(tid, 0x1000)
	return Event{Envelope: PerfInfoHeader, Group: groupMemory, Op: HardFault, Version: 2, Payload: p.b}
}
