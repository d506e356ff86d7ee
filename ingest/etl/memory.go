package etl

import "iter"

// Virtual memory, group 2. Fields by wmicore.mof (PageFault_VirtualAlloc) and ntwmi.h:
//
//	98 VirtualAlloc, 99 VirtualFree  Base P, RegionSize P, PID u32, Flags u32
//	128 DCStart, 129 DCEnd           the same, CommitSizeInBytes P
//	112 MemInfo                      Zero P, Free P, Modified P, ModifiedNoWrite P, Bad P, Standby[8] P, … (pages)
//	125 ProcessMemInfo               Count u32, {PID u32, WorkingSet P, Commit P, VirtualSize P, PrivateWorkingSet P, …}

// A VirtualFlags is a set of bits of VirtualAlloc and VirtualFree (winnt.h, MEM_*).
type VirtualFlags uint32

// The bits that change what a process holds.
const (
	VirtualCommit   VirtualFlags = 0x1000
	VirtualReserve  VirtualFlags = 0x2000
	VirtualDecommit VirtualFlags = 0x4000
	VirtualRelease  VirtualFlags = 0x8000
)

// VirtualMemory is address space that process PID allocated, freed, or held when tracing began or ended. Sizes are in
// bytes; Committed is known from rundowns only.
type VirtualMemory struct {
	Base, Size uint64
	PID        uint32
	Flags      VirtualFlags
	Committed  uint64
}

// VirtualMemory decodes KindVirtualAlloc, KindVirtualFree, KindVirtualAllocDCStart and KindVirtualAllocDCEnd.
func (e *Event) VirtualMemory() (v VirtualMemory, ok bool) {
	if !e.has(8, 2) {
		return v, false
	}
	v = VirtualMemory{Base: e.p(0, 0), Size: e.p(0, 1), PID: e.u32(0, 2), Flags: VirtualFlags(e.u32(4, 2))}
	if (e.Kind == KindVirtualAllocDCStart || e.Kind == KindVirtualAllocDCEnd) && e.has(8, 3) {
		v.Committed = e.p(8, 2)
	}
	return v, true
}

// MemInfo is what the machine's page lists held, in pages of 4096 bytes.
type MemInfo struct{ Zero, Free, Modified, ModifiedNoWrite, Bad, Standby uint64 }

// MemInfo decodes KindMemInfo. Standby is the sum over the priorities.
func (e *Event) MemInfo() (m MemInfo, ok bool) {
	const priorities = 8
	if !e.has(0, 5+priorities) {
		return m, false
	}
	m = MemInfo{Zero: e.p(0, 0), Free: e.p(0, 1), Modified: e.p(0, 2), ModifiedNoWrite: e.p(0, 3), Bad: e.p(0, 4)}
	for i := range priorities {
		m.Standby += e.p(0, 5+i)
	}
	return m, true
}

// ProcessMemory is what a process held, in pages of 4096 bytes.
type ProcessMemory struct {
	PID                                                uint32
	WorkingSet, Commit, VirtualSize, PrivateWorkingSet uint64
}

// pseudoPID begins the ids of entries of ProcessMemInfo that are no processes.
const pseudoPID = ^uint32(0) - 2

// ProcessMemInfo decodes KindProcessMemInfo. It yields the processes; entries for the system's own lists are left out.
// Newer versions have longer entries: their size is that of the payload divided by their number.
func (e *Event) ProcessMemInfo() (iter.Seq[ProcessMemory], bool) {
	if !e.has(4, 0) || e.u32(0, 0) == 0 {
		return func(func(ProcessMemory) bool) {}, e.has(4, 0)
	}
	n := int64(e.u32(0, 0))
	size := int64(len(e.Payload)-4) / n
	if size < int64(4+4*int(e.Pointer)) {
		return nil, false
	}
	return func(yield func(ProcessMemory) bool) {
		for i := range int(n) {
			at := 4 + i*int(size)
			m := ProcessMemory{PID: e.u32(at, 0), WorkingSet: e.p(at+4, 0), Commit: e.p(at+4, 1), VirtualSize: e.p(at+4, 2),
				PrivateWorkingSet: e.p(at+4, 3)}
			if m.PID < pseudoPID && !yield(m) {
				return
			}
		}
	}, true
}
