package etl

// Virtual memory, group 2. Fields by wmicore.mof (PageFault_VirtualAlloc) and ntwmi.h:
//
//	98 VirtualAlloc, 99 VirtualFree  Base P, RegionSize P, PID u32, Flags u32
//	128 DCStart, 129 DCEnd           the same, CommitSizeInBytes P

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

// VirtualMemory decodes KindVirtualAlloc, KindVirtualFree, KindVirtualAllocDCStart and KindVirtualAllocDCEnd. ok is
// false where the payload is too short.
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
