package lifetimes

import (
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/evidence"

	"errors"
	"reflect"
	"testing"
)

// run follows events to the end.
func run(t *testing.T, events ...Event) (*Tracker, *rowCollector) {
	t.Helper()
	sink := &rowCollector{}
	tr := New(sink)
	for i := range events {
		if err := tr.Add(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Finish(); err != nil {
		t.Fatal(err)
	}
	return tr, sink
}

func alloc(at int64, address, size uint64, stack uint32) Event {
	return Event{Op: HeapAlloc, Time: at, Heap: 0x1000, Address: address, Size: size, Stack: stack}
}

func free(at int64, address uint64) Event {
	return Event{Op: HeapFree, Time: at, Heap: 0x1000, Address: address}
}

func realloc(at int64, old, address, size uint64, stack uint32) Event {
	return Event{Op: HeapRealloc, Time: at, Heap: 0x1000, OldAddress: old, OldSize: 8, Address: address,
		Size: size, Stack: stack}
}

func commitAt(at int64, base, size uint64, stack uint32) Event {
	return Event{Op: VirtualAlloc, Time: at, Address: base, Size: size, Flags: MemReserve | MemCommit, Stack: stack}
}

func TestRules(t *testing.T) {
	heap := func(r allocations.Row) allocations.Row { r.Heap = 0x1000; return r }
	virtual := func(r allocations.Row) allocations.Row { r.Kind = allocations.KindVirtual; return r }
	cases := []struct {
		name   string
		events []Event
		rows   []allocations.Row // without Site
	}{
		{"a resize in place keeps stack and time", []Event{alloc(1, 16, 8, 5), realloc(2, 16, 16, 80, 6), free(3, 16)},
			[]allocations.Row{
				heap(allocations.Row{AllocTime: 1, FreeTime: 3, Address: 16, Size: 80, Stack: 5, End: allocations.EndFree})}},
		{"a move as Windows logs it",
			[]Event{alloc(1, 16, 8, 5), alloc(2, 32, 80, 6), free(2, 16), realloc(2, 16, 32, 80, 7)}, []allocations.Row{
				heap(allocations.Row{AllocTime: 1, FreeTime: 2, Address: 16, Size: 8, Stack: 5, End: allocations.EndFree}),
				heap(allocations.Row{AllocTime: 2, FreeTime: allocations.Never, Address: 32, Size: 80, Stack: 7})}},
		{"a move that is alone", []Event{alloc(1, 16, 8, 5), realloc(2, 16, 32, 80, 7)}, []allocations.Row{
			heap(allocations.Row{AllocTime: 1, FreeTime: 2, Address: 16, Size: 8, Stack: 5, FreeStack: 7,
				End: allocations.EndRealloc}),
			heap(allocations.Row{AllocTime: 2, FreeTime: allocations.Never, Address: 32, Size: 80, Stack: 7})}},
		{"a move whose old address is in use again", []Event{
			alloc(1, 16, 8, 5), alloc(2, 32, 80, 6), free(3, 16), alloc(4, 16, 9, 8), realloc(5, 16, 32, 80, 7)},
			[]allocations.Row{
				heap(allocations.Row{AllocTime: 1, FreeTime: 3, Address: 16, Size: 8, Stack: 5, End: allocations.EndFree}),
				heap(allocations.Row{AllocTime: 2, FreeTime: allocations.Never, Address: 32, Size: 80, Stack: 7}),
				heap(allocations.Row{AllocTime: 4, FreeTime: allocations.Never, Address: 16, Size: 9, Stack: 8})}},
		{"a resize of a block older than the trace", []Event{realloc(2, 16, 16, 80, 6), free(3, 16)}, []allocations.Row{
			heap(allocations.Row{AllocTime: allocations.BeforeTrace, FreeTime: 3, Address: 16, Size: 80, Stack: 6,
				End: allocations.EndFree})}},
		{"a decommit in the middle", []Event{commitAt(1, 0x10000, 0x3000, 5),
			{Op: VirtualFree, Time: 2, Address: 0x11000, Size: 0x1000, Flags: MemDecommit, Stack: 9},
			{Op: VirtualFree, Time: 3, Address: 0x10000, Flags: MemRelease}}, []allocations.Row{
			virtual(allocations.Row{AllocTime: 1, FreeTime: 2, Address: 0x11000, Size: 0x1000, Stack: 5, FreeStack: 9,
				End: allocations.EndFree, Part: true}),
			virtual(allocations.Row{AllocTime: 1, FreeTime: 3, Address: 0x10000, Size: 0x1000, Stack: 5,
				End: allocations.EndFree, Part: true}),
			virtual(allocations.Row{AllocTime: 1, FreeTime: 3, Address: 0x12000, Size: 0x1000, Stack: 5,
				End: allocations.EndFree})}},
		{"a region that a rundown knows, released in the trace", []Event{
			{Op: VirtualRundownStart, Time: 1, Address: 0x10000, Size: 0x4000, Committed: 0x1000},
			{Op: VirtualFree, Time: 3, Address: 0x10000, Size: 0x4000, Flags: MemRelease}}, []allocations.Row{
			virtual(allocations.Row{AllocTime: allocations.BeforeTrace, FreeTime: 3, Address: 0x10000, Size: 0x1000,
				End: allocations.EndFree})}},
		{"a large block lies in memory of its own",
			[]Event{commitAt(1, 0x10000, 0x200000, 5), alloc(2, 0x10040, 0x1ff000, 5)}, []allocations.Row{
				heap(allocations.Row{AllocTime: 2, FreeTime: allocations.Never, Address: 0x10040, Size: 0x1ff000, Stack: 5}),
				{AllocTime: 1, FreeTime: allocations.Never, Address: 0x10000, Size: 0x200000, Stack: 5,
					Kind: allocations.KindHeapVirtual}}},
		{"what a heap commits in its range is its own", []Event{
			{Op: HeapRange, Time: 1, Heap: 0x1000, Address: 0x10000, Size: 0x100000},
			{Op: VirtualAlloc, Time: 2, Address: 0x20000, Size: 0x1000, Flags: MemCommit, Stack: 3}}, []allocations.Row{
			{AllocTime: 2, FreeTime: allocations.Never, Address: 0x20000, Size: 0x1000, Stack: 3,
				Kind: allocations.KindHeapVirtual}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, sink := run(t, c.events...)
			for i := range sink.rows {
				sink.rows[i].Site = 0
			}
			got, want := inOrder(sink.rows), inOrder(c.rows)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%+v, want\n%+v", got, want)
			}
		})
	}
}

// A sink that fails stops the Tracker, and Add says why.
func TestSinkFails(t *testing.T) {
	full := errors.New("disk full")
	tr := New(sinkFunc(func([]allocations.Row) error { return full }))
	var err error
	for i := range int64(5000) {
		e := free(i, 16)
		if err = tr.Add(&e); err != nil {
			break
		}
	}
	var e *evidence.Error
	if !errors.As(err, &e) || e.Code != CodeSink || !errors.Is(err, full) || evidence.IsRefusal(err) {
		t.Errorf("got %v", err)
	}
	if err := tr.Finish(); !errors.Is(err, full) {
		t.Errorf("Finish: %v", err)
	}
	if err := tr.Add(&Event{}); err == nil {
		t.Error("an event after Finish")
	}
}

type sinkFunc func([]allocations.Row) error

func (f sinkFunc) AddRows(rows []allocations.Row) error { return f(rows) }

// A block that a rundown or a resize shows to be older than the trace raises the whole timeline.
func TestTimelineOfWhatIsOlder(t *testing.T) {
	tr, _ := run(t, alloc(1, 16, 100, 1), free(2, 16), realloc(5e6, 32, 32, 28, 1))
	h := tr.Heaps()[0]
	if want := (allocations.Peak{Usage: allocations.Usage{Count: 2, Bytes: 108}, At: 1}); h.Peak != want {
		t.Errorf("peak %+v, want %+v", h.Peak, want)
	}
	want := []allocations.Point{{Time: 0, LastBytes: 8, MaxBytes: 108, MaxAt: 1}, {Time: 1 << 20, LastBytes: 8, MaxBytes: 8, MaxAt: 1 << 20},
		{Time: 4 << 20, LastBytes: 28, MaxBytes: 28, MaxAt: 5e6}}
	if !reflect.DeepEqual(h.Timeline, want) {
		t.Errorf("timeline %+v, want %+v", h.Timeline, want)
	}
}

func TestTimelineIsBounded(t *testing.T) {
	tr := New(nil)
	var top int64
	for i := range int64(100_000) {
		size := uint64(i * 7919 % 1000)
		if i == 5 { // early, so that it goes through every doubling
			size = 5000
		}
		top = max(top, int64(size))
		for _, e := range []Event{alloc(i<<24, 16, size, 1), free(i<<24+1, 16)} {
			if err := tr.Add(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	line := tr.Heaps()[0].Timeline
	if len(line) > timelinePoints || len(line) < timelinePoints/4 {
		t.Errorf("%d points", len(line))
	}
	var got int64
	for i, p := range line {
		got = max(got, p.MaxBytes)
		if i > 0 && p.Time <= line[i-1].Time {
			t.Fatalf("points %+v, %+v", line[i-1], p)
		}
	}
	if got != top {
		t.Errorf("maximum %d, want %d", got, top)
	}
}

// Sums of times do not overflow at the ends of the range of time.
func TestFarTimes(t *testing.T) {
	tr, _ := run(t, alloc(allocations.BeforeTrace+1, 16, 1, 1), alloc(0, 32, 1, 1), alloc(allocations.Never-1, 48, 1, 1),
		alloc(allocations.Never-1, 64, 1, 1), alloc(5, 80, 1, 1))
	if got := tr.Heaps()[0].Peak.Count; got != 5 || tr.Anomalies.Disordered != 1 {
		t.Errorf("%d blocks, %+v", got, tr.Anomalies)
	}
}

// Segment heaps log frees of memory whose allocation they never log: such a free does not mean that an event is
// missing.
func TestFreesOfSegmentHeaps(t *testing.T) {
	for _, c := range []struct {
		name     string
		reserved uint64 // by the event that creates the heap
		address  uint64
		want     int64
	}{
		{"NT heap, whole page", 0x10000, 0x2000, 1},
		{"segment heap, whole page", 0x9000, 0x2000, 0},
		{"segment heap, block", 0x9000, 0x2010, 0},
		{"heap of an event without sizes, whole page", 0, 0x2000, 0},
		{"heap of an event without sizes, block", 0, 0x2010, 1},
	} {
		tr, _ := run(t, Event{Op: HeapCreate, Heap: 0x1000, Size: c.reserved}, free(1, c.address))
		if got := tr.Anomalies.LostAllocations; got != c.want || tr.Anomalies.UnknownFrees != 1 {
			t.Errorf("%s: %+v", c.name, tr.Anomalies)
		}
	}
}

// A heap's own counters are kept as they came first and last, with their times; a heap that says nothing has none, and
// what comes after the end of its process is left out.
func TestCountersOfHeaps(t *testing.T) {
	said := func(at int64, heap, reserved uint64) Event {
		return Event{Op: HeapSnapshot, Time: at, Heap: heap, Counters: Counters{Reserved: reserved}}
	}
	tr, _ := run(t, said(1, 0x1000, 10), said(2, 0x1000, 20), said(3, 0x2000, 5), said(4, 0x1000, 30), alloc(5, 16, 8, 5),
		Event{Op: HeapAlloc, Time: 6, Heap: 0x3000, Address: 64, Size: 8})
	type counters struct {
		first, latest     uint64
		firstAt, latestAt int64
	}
	got := map[uint64]counters{}
	for _, h := range tr.Heaps() {
		got[h.Handle] = counters{h.First.Reserved, h.Latest.Reserved, h.FirstAt, h.LatestAt}
	}
	want := map[uint64]counters{0x1000: {10, 30, 1, 4}, 0x2000: {5, 5, 3, 3},
		0x3000: {0, 0, allocations.Never, allocations.Never}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
