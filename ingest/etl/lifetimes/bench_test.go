package lifetimes

import (
	"heapdrift/ingest/capture/allocations"

	"fmt"
	"math/rand/v2"
	"testing"
)

// A brief is an Event in little room, so that reading the events costs the benchmark nothing.
type brief struct {
	address uint64
	size    uint32
	stack   uint16
	heap    uint8
	op      EventKind
}

func (s *brief) expand(i int, e *Event) {
	e.Op, e.Time, e.Process, e.Thread = s.op, int64(i)*100, 1, uint32(s.stack&7)
	e.Stack, e.Heap, e.Address, e.Size = uint32(s.stack), uint64(s.heap)<<16, s.address, uint64(s.size)
}

// steady makes a stream that fills up to live blocks and then frees a block for every one it allocates, half of them
// young, with stacks and heaps as a program has them.
func steady(live, n int) []brief {
	r := rand.New(rand.NewPCG(1, 1))
	events := make([]brief, 0, n)
	alive := make([]brief, 0, live)
	next := uint64(0x20000000000)
	for len(events) < n {
		a := brief{op: HeapAlloc, address: next, size: uint32(16 + r.IntN(500)), stack: uint16(1 + r.IntN(2000)),
			heap: uint8(1 + r.IntN(3))}
		next += uint64(a.size&^15) + 32
		events = append(events, a)
		if len(alive) < live {
			alive = append(alive, a)
			continue
		}
		k := r.IntN(len(alive))
		if r.IntN(2) == 0 {
			k = len(alive) - 1 - r.IntN(min(64, len(alive)))
		}
		events = append(events, brief{op: HeapFree, address: alive[k].address, heap: alive[k].heap})
		alive[k] = a
	}
	return events
}

func BenchmarkHeap(b *testing.B) {
	for _, live := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			events := steady(live, 2*live+2_000_000)
			b.ReportAllocs()
			for b.Loop() {
				tr := New(nil)
				var e Event
				for i := range events {
					events[i].expand(i, &e)
					if err := tr.Add(&e); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(len(events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func BenchmarkVirtual(b *testing.B) {
	const live = 50_000
	r := rand.New(rand.NewPCG(1, 1))
	events := make([]Event, 0, 400_000)
	for i := range cap(events) {
		e := Event{Op: VirtualAlloc, Flags: MemReserve | MemCommit, Time: int64(i), Stack: uint32(r.IntN(100)), Size: 0x8000}
		e.Address = 0x10000 * uint64(1+r.IntN(2*live))
		if i%2 == 1 {
			e.Op, e.Flags = VirtualFree, MemRelease
		}
		events = append(events, e)
	}
	for b.Loop() {
		tr := New(nil)
		for i := range events {
			if err := tr.Add(&events[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// A window over rows as they come from a table.
func BenchmarkWindow(b *testing.B) {
	sink := &rowCollector{}
	tr := New(sink)
	events := steady(100_000, 2_000_000)
	var e Event
	for i := range events {
		events[i].expand(i, &e)
		if err := tr.Add(&e); err != nil {
			b.Fatal(err)
		}
	}
	if err := tr.Finish(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w := allocations.NewWindow(1e7, 5e7, len(tr.Sites()))
		if err := w.AddRows(sink.rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(sink.rows))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
