package lifetimes

import (
	"reflect"
	"testing"

	"heapdrift/ingest/capture/allocations"
)

// The timeline of a process's virtual memory shows what the program holds, and has no point for what its heaps commit
// and decommit.
func TestTimelineOfVirtualMemory(t *testing.T) {
	const ms = 1 << timelineShift
	tr, _ := run(t,
		commitAt(1*ms, 0x10000, 0x3000, 5),
		Event{Op: HeapRange, Time: 10 * ms, Heap: 0x1000, Address: 0x100000, Size: 0x100000},
		Event{Op: VirtualAlloc, Time: 20 * ms, Address: 0x100000, Size: 0x1000, Flags: MemCommit, Stack: 6},
		Event{Op: VirtualFree, Time: 30 * ms, Address: 0x100000, Size: 0x1000, Flags: MemDecommit},
		Event{Op: VirtualFree, Time: 40 * ms, Address: 0x11000, Size: 0x1000, Flags: MemDecommit},
		Event{Op: VirtualRundownEnd, Time: 50 * ms, Address: 0x500000, Size: 0x8000, Committed: 0x4000},
		alloc(60*ms, 0x10010, 8, 7)) // what is committed there turns out to be a heap's
	var want []allocations.Point
	for _, p := range []struct{ at, bytes int64 }{{1, 0x7000}, {40, 0x7000}, {41, 0x6000}, {50, 0x6000}, {60, 0x6000},
		{61, 0x4000}} {
		want = append(want, allocations.Point{Time: p.at * ms, LastBytes: p.bytes, MaxBytes: p.bytes, MaxAt: p.at * ms})
	}
	want[1].LastBytes, want[4].LastBytes = 0x6000, 0x4000
	if got := tr.Processes()[0].VirtualTimeline; !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}
