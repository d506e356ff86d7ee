package lifetimes

import (
	"math"
	"reflect"
	"testing"
	"time"
)

// inverse undoes the factor by which addresses were hashed formerly, which was the same in every run: the hashes of its
// multiples were consecutive numbers.
const inverse = 0xF1DE83E19937733D

// chosen are streams whose keys were chosen to collide.
var chosen = map[string]func(i int) []Event{
	"addresses": func(i int) []Event {
		return []Event{{Op: HeapAlloc, Heap: 1 << 16, Address: uint64(i+1) * inverse, Size: 64}}
	},
	"high addresses": func(i int) []Event {
		return []Event{{Op: HeapAlloc, Heap: 1 << 16, Address: uint64(i+1) << 44, Size: 64}}
	},
	"heaps": func(i int) []Event {
		return []Event{{Op: HeapAlloc, Heap: uint64(i+1) * inverse << 12, Address: 1 << 16, Size: 64}}
	},
	"stacks": func(i int) []Event {
		return []Event{{Op: HeapAlloc, Heap: 1 << 16, Address: uint64(i+1) << 4, Size: 64, Stack: uint32(i+1) << 12}}
	},
	"processes": func(i int) []Event {
		return []Event{{Op: HeapAlloc, Process: uint32(i), Heap: 1 << 16, Address: 1 << 16, Size: 64}}
	},
	"lives of one id": func(i int) []Event {
		return []Event{
			{Op: ProcessStart, Process: uint32(i)},
			{Op: HeapAlloc, Process: uint32(i), Heap: 1 << 16, Address: 1 << 16, Size: 64},
			{Op: ProcessEnd, Process: uint32(i)},
		}
	},
	"heaps that go": func(i int) []Event {
		heap := uint64(i+1) << 16
		return []Event{{Op: HeapCreate, Heap: heap}, {Op: HeapAlloc, Heap: heap, Address: heap + 16, Size: 64},
			{Op: HeapDestroy, Heap: heap}}
	},
}

func stream(step func(i int) []Event, n int) (events []Event) {
	for i := range n {
		events = append(events, step(i)...)
	}
	for i := range events {
		events[i].Time = int64(i)
	}
	return events
}

// BenchmarkChosen prints by which power of its length a stream's time grows: 1 is linear, and more than 1.3 is not.
func BenchmarkChosen(b *testing.B) {
	for name, step := range chosen {
		b.Run(name, func(b *testing.B) {
			const n = 100_000
			short, long := stream(step, n), stream(step, 2*n)
			one, two := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				one, two = min(one, follow(b, short)), min(two, follow(b, long))
			}
			b.ReportMetric(math.Log2(two.Seconds()/one.Seconds()), "exponent")
		})
	}
}

func follow(tb testing.TB, events []Event) time.Duration {
	tb.Helper()
	began, tr := time.Now(), New(nil)
	if err := tr.AddAll(events); err != nil {
		tb.Fatal(err)
	}
	if err := tr.Finish(); err != nil {
		tb.Fatal(err)
	}
	return time.Since(began)
}

// Chosen keys collide no more than others, whatever the random numbers of this run are.
func TestChosenKeysDoNotCollide(t *testing.T) {
	const n = 1 << 16
	for name, key := range map[string]func(i uint64) uint32{
		"addresses":      func(i uint64) uint32 { return hash(i * inverse) },
		"high addresses": func(i uint64) uint32 { return hash(i << 48) },
		"both halves":    func(i uint64) uint32 { return hash(i%4096*(1<<52+1<<20)*inverse + i/4096) },
		"processes":      func(i uint64) uint32 { return heapHash(uint32(i), 1<<16) },
		"made up for":    func(i uint64) uint32 { return heapHash(uint32(i), i<<56) },
		"owners":         func(i uint64) uint32 { return siteHash(uint32(i), 7) },
		"stacks":         func(i uint64) uint32 { return siteHash(7, uint32(i)<<16) },
	} {
		taken, steps := make([]bool, 4*n), 0
		for i := range uint64(n) {
			at := int(key(i)) % len(taken)
			for taken[at] {
				at = (at + 1) % len(taken)
				steps++
			}
			taken[at] = true
		}
		if steps > 2*n {
			t.Errorf("%s: %d steps for %d keys", name, steps, n)
		}
	}
}

// The rows of a heap that ends come in the order of their allocations, not in that of the hash table, which differs in
// every run.
func TestRowsOfAHeapThatEnds(t *testing.T) {
	sink := &rowCollector{}
	tr := New(sink)
	var want []uint64
	for i := range uint64(1000) {
		address := (i*7919%1000 + 1) << 4
		want = append(want, address)
		if err := tr.Add(&Event{Op: HeapAlloc, Time: int64(i), Heap: 1 << 16, Address: address, Size: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Finish(); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for i := range sink.rows {
		got = append(got, sink.rows[i].Address)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d rows are not in the order in which their blocks were allocated", len(got))
	}
}

// A process without memory events costs no more than a number, whether it starts or ends.
func TestProcessesWithoutMemory(t *testing.T) {
	tr := New(nil)
	const n = 100_000
	for i := range uint32(n) {
		for _, op := range []EventKind{ProcessStart, ProcessEnd} {
			if err := tr.Add(&Event{Op: op, Time: int64(i), Process: i}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := len(tr.Processes()); got != 0 {
		t.Errorf("%d processes for %d without an event of memory", got, n)
	}
	for _, e := range []Event{{Op: HeapAlloc, Process: 5, Heap: 1, Address: 16, Size: 1}, {Op: ProcessStart, Process: n},
		{Op: HeapFree, Process: n, Heap: 1, Address: 16}} {
		e.Time = n
		if err := tr.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if p := tr.Processes(); len(p) != 1 || !p[0].Started || tr.Anomalies.AfterExit != 1 ||
		tr.Anomalies.LostAllocations != 1 {
		t.Errorf("%+v %+v", p, tr.Anomalies)
	}
}
