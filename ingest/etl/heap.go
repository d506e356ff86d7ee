package etl

// Heap events, group 0x10. Fields by wmicore.mof of WDK 10.0.16299 (HeapTrace classes); P is pointer-sized.
//
//	32 Create    Heap P, Flags u32; v3: ReservedSpace P, CommittedSpace P, AllocatedSpace P
//	33 Alloc     Heap P, Size P, Address P, Source u32
//	34 ReAlloc   Heap P, NewAddress P, OldAddress P, NewSize P, OldSize P, Source u32
//	35 Destroy   Heap P
//	36 Free      Heap P, Address P, Source u32
//	37 Expand    Heap P, CommittedSize P, CommitAddress P, FreeSpace P, CommittedSpace P, ReservedSpace P, NoOfUCRs u32; v3: AllocatedSpace P
//	38 SnapShot  Heap P, FreeSpace P, CommittedSpace P, ReservedSpace P, Flags u32, PID u32, LargeUCRSpace P, FreeListLength u32, UCRLength u32; v3: AllocatedSpace P
//	42 Contract  as Expand, of memory given back
//
// The process is that of the event's header.

// A HeapSource says which part of the heap served a request (ntwmi.h, MEMORY_FROM_*).
type HeapSource uint32

// The sources.
const (
	FromLookaside   HeapSource = 1
	FromLFH         HeapSource = 2 // low-fragmentation heap
	FromMainPath    HeapSource = 3
	FromSlowPath    HeapSource = 4
	FromInvalid     HeapSource = 5
	FromSegmentHeap HeapSource = 6
)

// HeapCreate is a heap that was created. Reserved, Committed and Allocated are bytes, and 0 before version 3 of the
// event.
type HeapCreate struct {
	Heap                           uint64
	Flags                          uint32
	Reserved, Committed, Allocated uint64
}

// HeapCreate decodes KindHeapCreate. ok is false where the payload is too short.
func (e *Event) HeapCreate() (c HeapCreate, ok bool) {
	if !e.has(4, 1) {
		return c, false
	}
	c = HeapCreate{Heap: e.p(0, 0), Flags: e.u32(0, 1)}
	if e.Version >= 3 && e.has(4, 4) {
		c.Reserved, c.Committed, c.Allocated = e.p(4, 1), e.p(4, 2), e.p(4, 3)
	}
	return c, true
}

// HeapAlloc is a block that was allocated. Size is what the caller asked for, in bytes.
type HeapAlloc struct {
	Heap, Size, Address uint64
	Source              HeapSource
}

// HeapAlloc decodes KindHeapAlloc. The result is false where the payload is too short.
func (e *Event) HeapAlloc() (HeapAlloc, bool) {
	if !e.has(4, 3) {
		return HeapAlloc{}, false
	}
	return HeapAlloc{e.p(0, 0), e.p(0, 1), e.p(0, 2), HeapSource(e.u32(0, 3))}, true
}

// HeapReAlloc is a block that was resized; New and Old are its addresses, which differ if it moved. A block that moved
// has an Alloc and a Free of its own besides. Sizes are in bytes.
type HeapReAlloc struct {
	Heap, New, Old, NewSize, OldSize uint64
	Source                           HeapSource
}

// HeapReAlloc decodes KindHeapReAlloc. The result is false where the payload is too short.
func (e *Event) HeapReAlloc() (HeapReAlloc, bool) {
	if !e.has(4, 5) {
		return HeapReAlloc{}, false
	}
	return HeapReAlloc{e.p(0, 0), e.p(0, 1), e.p(0, 2), e.p(0, 3), e.p(0, 4), HeapSource(e.u32(0, 5))}, true
}

// HeapFree is a block that was freed.
type HeapFree struct {
	Heap, Address uint64
	Source        HeapSource
}

// HeapFree decodes KindHeapFree. The result is false where the payload is too short.
func (e *Event) HeapFree() (HeapFree, bool) {
	if !e.has(4, 2) {
		return HeapFree{}, false
	}
	return HeapFree{e.p(0, 0), e.p(0, 1), HeapSource(e.u32(0, 2))}, true
}

// HeapDestroy returns the handle of the heap in KindHeapDestroy, and in every other heap event: it is the first field.
// ok is false where the payload is too short.
func (e *Event) HeapDestroy() (heap uint64, ok bool) {
	if !e.has(0, 1) {
		return 0, false
	}
	return e.p(0, 0), true
}

// HeapSnapShot is the state of a heap, logged for each when tracing begins. Sizes are in bytes, Allocated is 0 before
// version 3.
type HeapSnapShot struct {
	Heap, Free, Committed, Reserved uint64
	Flags, PID                      uint32
	LargeUncommitted, Allocated     uint64 // bytes of large uncommitted ranges
	FreeListLength, UCRLength       uint32 // free blocks, and uncommitted ranges
}

// HeapSnapShot decodes KindHeapSnapShot. ok is false where the payload is too short.
func (e *Event) HeapSnapShot() (s HeapSnapShot, ok bool) {
	if !e.has(16, 5) {
		return s, false
	}
	s = HeapSnapShot{
		Heap: e.p(0, 0), Free: e.p(0, 1), Committed: e.p(0, 2), Reserved: e.p(0, 3), Flags: e.u32(0, 4), PID: e.u32(4, 4),
		LargeUncommitted: e.p(8, 4), FreeListLength: e.u32(8, 5), UCRLength: e.u32(12, 5),
	}
	if e.Version >= 3 && e.has(16, 6) {
		s.Allocated = e.p(16, 5)
	}
	return s, true
}
