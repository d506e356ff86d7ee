package etl

import "iter"

// Address ranges of heaps, group 2. Fields by wmicore.mof (HeapRangeTrace classes); the process is that of the event's
// header, for a rundown the payload's.
//
//	100 Rundown  Heap P, Flags u32, PID u32, RangeCount u32, v3: Reserved u32, {Address P, Size P}…
//	101 Create   Heap P, FirstRangeSize P, Flags u32
//	102 Reserve  Heap P, Address P, Size P
//	103 Release  Heap P, Address P, Size P
//	104 Destroy  Heap P

// HeapRange is memory that a heap reserved, released, or was created with (Address is 0 then). Size is in bytes.
type HeapRange struct{ Heap, Address, Size uint64 }

// HeapRange decodes KindHeapRangeCreate, KindHeapRangeReserve, KindHeapRangeRelease and KindHeapRangeDestroy. ok is
// false where the payload is too short.
func (e *Event) HeapRange() (r HeapRange, ok bool) {
	switch {
	case e.Kind == KindHeapRangeDestroy && e.has(0, 1):
		return HeapRange{Heap: e.p(0, 0)}, true
	case e.Kind == KindHeapRangeCreate && e.has(4, 2):
		return HeapRange{Heap: e.p(0, 0), Size: e.p(0, 1)}, true
	case (e.Kind == KindHeapRangeReserve || e.Kind == KindHeapRangeRelease) && e.has(0, 3):
		return HeapRange{e.p(0, 0), e.p(0, 1), e.p(0, 2)}, true
	}
	return HeapRange{}, false
}

// HeapRangeRundown decodes KindHeapRangeRundown: the ranges that a heap of process pid had reserved when tracing began
// or ended. It yields those that are there, whatever number the event claims. ok is false where not even the number is
// there.
func (e *Event) HeapRangeRundown() (pid uint32, ranges iter.Seq[HeapRange], ok bool) {
	fixed := 12
	if e.Version >= 3 {
		fixed = 16
	}
	if !e.has(fixed, 1) {
		return 0, nil, false
	}
	n := min(int64(e.u32(8, 1)), int64(len(e.from(fixed, 1))/(2*int(e.PointerBytes))))
	return e.u32(4, 1), func(yield func(HeapRange) bool) {
		heap := e.p(0, 0)
		for i := range int(n) {
			if !yield(HeapRange{heap, e.p(fixed, 1+2*i), e.p(fixed, 2+2*i)}) {
				return
			}
		}
	}, true
}
