package etl

import "testing"

// A payload that lacks one byte of the fixed fields is refused, and one that has them all is decoded: in each version,
// with pointers of 4 and of 8 bytes.
func TestLeastPayloads(t *testing.T) {
	image := func(e *Event) bool { _, ok := e.Image(); return ok }
	process := func(e *Event) bool { _, ok := e.Process(); return ok }
	create := func(e *Event) bool { _, ok := e.HeapCreate(); return ok }
	virtual := func(e *Event) bool { _, ok := e.VirtualMemory(); return ok }
	ranges := func(e *Event) bool { _, _, ok := e.HeapRangeRundown(); return ok }
	heapRange := func(e *Event) bool { _, ok := e.HeapRange(); return ok }
	key := func(e *Event) bool { _, ok := e.StackKey(); return ok }
	for _, test := range []struct {
		kind            Kind
		version         uint16
		decode          func(*Event) bool
		bytes, pointers int
	}{
		{KindHeapCreate, 2, create, 4, 1},
		{KindHeapAlloc, 2, func(e *Event) bool { _, ok := e.HeapAlloc(); return ok }, 4, 3},
		{KindHeapReAlloc, 2, func(e *Event) bool { _, ok := e.HeapReAlloc(); return ok }, 4, 5},
		{KindHeapFree, 2, func(e *Event) bool { _, ok := e.HeapFree(); return ok }, 4, 2},
		{KindHeapDestroy, 2, func(e *Event) bool { _, ok := e.HeapDestroy(); return ok }, 0, 1},
		{KindHeapSnapShot, 2, func(e *Event) bool { _, ok := e.HeapSnapShot(); return ok }, 16, 5},
		{KindHeapRangeDestroy, 2, heapRange, 0, 1},
		{KindHeapRangeCreate, 2, heapRange, 4, 2},
		{KindHeapRangeReserve, 2, heapRange, 0, 3},
		{KindHeapRangeRelease, 2, heapRange, 0, 3},
		{KindHeapRangeRundown, 2, ranges, 12, 1},
		{KindHeapRangeRundown, 3, ranges, 16, 1},
		{KindImageLoad, 0, image, 4, 1},
		{KindImageLoad, 1, image, 4, 2},
		{KindImageLoad, 2, image, 32, 3},
		{KindImageUnload, 3, image, 32, 3},
		{KindImageID, 2, func(e *Event) bool { _, ok := e.ImageID(); return ok }, 8, 2},
		{KindImageRSDS, 2, func(e *Event) bool { _, ok := e.ImageRSDS(); return ok }, 24, 1},
		{KindVirtualAlloc, 2, virtual, 8, 2},
		{KindProcessStart, 0, process, 0, 2},
		{KindProcessStart, 1, process, 16, 1},
		{KindProcessStart, 2, process, 16, 1},
		{KindProcessEnd, 3, process, 16, 2},
		{KindProcessEnd, 4, process, 20, 2},
		{KindStackWalk, 2, func(e *Event) bool { _, ok := e.StackTarget(); return ok }, 16, 0},
		{KindStackWalk, 2, func(e *Event) bool { return e.frames() != nil }, 16, 0},
		{KindStackKeyCreate, 2, func(e *Event) bool { return e.frames() != nil }, 0, 1},
		{KindStackKeyCreate, 2, key, 0, 1},
		{KindStackKeyKernel, 2, key, 16, 1},
		{KindStackKeyUser, 2, key, 16, 1},
	} {
		for _, pointer := range []uint8{4, 8} {
			least := test.bytes + test.pointers*int(pointer)
			for n := range least + 1 {
				e := &Event{Kind: test.kind, Version: test.version, PointerBytes: pointer, Payload: make([]byte, n, n+1)}
				if got := test.decode(e); got != (n == least) {
					t.Errorf("kind %d v%d with pointers of %d bytes: %d of %d bytes: decoded %t", test.kind, test.version, pointer,
						n, least, got)
				}
			}
		}
	}
}

// Fields that a later version appends are read where they are there, and only in that version.
func TestAppendedFields(t *testing.T) {
	payload := make([]byte, 64)
	for i := range payload {
		payload[i] = byte(i + 1)
	}
	field := func(from int) uint64 { return le.Uint64(payload[from:]) }
	for _, test := range []struct {
		kind    Kind
		version uint16
		length  int
		get     func(*Event) uint64
		want    uint64
	}{
		{KindVirtualAllocDCStart, 2, 32, committed, field(24)},
		{KindVirtualAllocDCEnd, 2, 32, committed, field(24)},
		{KindVirtualAllocDCStart, 2, 31, committed, 0},
		{KindVirtualAlloc, 2, 32, committed, 0},
		{KindHeapCreate, 3, 36, reserved, field(12)},
		{KindHeapCreate, 3, 35, reserved, 0},
		{KindHeapCreate, 2, 36, reserved, 0},
		{KindHeapSnapShot, 3, 64, allocated, field(56)},
		{KindHeapSnapShot, 3, 63, allocated, 0},
		{KindHeapSnapShot, 2, 64, allocated, 0},
	} {
		e := &Event{Kind: test.kind, Version: test.version, PointerBytes: 8, Payload: payload[:test.length]}
		if got := test.get(e); got != test.want {
			t.Errorf("kind %d v%d of %d bytes: %#x, want %#x", test.kind, test.version, test.length, got, test.want)
		}
	}
}

func committed(e *Event) uint64 {
	v, _ := e.VirtualMemory()
	return v.Committed
}

func reserved(e *Event) uint64 {
	c, _ := e.HeapCreate()
	return c.Reserved
}

func allocated(e *Event) uint64 {
	s, _ := e.HeapSnapShot()
	return s.Allocated
}
