package etltest_test

import (
	"fmt"
	"testing"

	"heapdrift/ingest/etl/etltest"
)

func Example() {
	s := &etltest.Scenario{
		Start: 133_500_000_000_000_000, End: 60e9, CPUs: 1,
		Processes: []etltest.Process{{PID: 5128, Bits: 64, Name: "app.exe", Threads: []etltest.Thread{{TID: 5132}}}},
		Stacks:    []etltest.Stack{{User: []uint64{0x7FF600001000, 0x7FF600002000}}},
		Heaps:     []etltest.Heap{{Handle: 0x1D000000000}},
		Blocks: []etltest.Block{
			{Address: 0x1D000000880, Size: 40, Allocated: 10e9, Freed: 20e9, By: etltest.Caller{Thread: 5132, Stack: 1},
				FreedBy: etltest.Caller{Thread: 5132}},
			{Address: 0x1D000000900, Size: 60, Allocated: 15e9, By: etltest.Caller{Thread: 5132, Stack: 1}},
		},
	}
	file := s.File(etltest.Format{Compressed: true})
	total, _ := etltest.Window(s.Lifetimes(), 5e9, 25e9)
	fmt.Println(len(etltest.Buffers(file)), "buffers, AIFO", total.AIFO, "AIFI", total.AIFI)
	// Output: 2 buffers, AIFO {1 60} AIFI {1 40}
}

// The lifetime of a block ends with the first of the events that can end it, and a window includes both of its ends.
func TestLifetimes(t *testing.T) {
	s := &etltest.Scenario{
		Processes: []etltest.Process{{Ended: 90}},
		Heaps:     []etltest.Heap{{}, {Destroyed: 50}},
		Blocks: []etltest.Block{
			{Size: 1, Allocated: 10, Freed: 30},
			{Size: 2, Allocated: 10, Heap: 1},
			{Size: 4, Allocated: 20},
			{Size: 8, Allocated: 30, MovedFrom: 1, Resizes: []etltest.Resize{{Time: 40, Size: 16}}, Freed: 70},
		},
		Regions: []etltest.Region{{Reserved: 5, Released: 60,
			Commits: []etltest.Commit{{Size: 1, Committed: 5}, {Size: 2, Committed: 6, Decommitted: 40}}}},
	}
	for i, want := range []etltest.Lifetime{
		{Size: 1, From: 10, To: 30, Ending: etltest.Moved},
		{Size: 2, From: 10, To: 50, Ending: etltest.Destroyed, Heap: 1},
		{Size: 4, From: 20, To: 90, Ending: etltest.Exited},
		{Size: 16, From: 30, To: 70, Ending: etltest.Freed},
	} {
		if got := s.Lifetimes()[i]; got != want {
			t.Errorf("block %d: %+v, want %+v", i, got, want)
		}
	}
	for i, want := range []etltest.Lifetime{
		{Heap: -1, Size: 1, From: 5, To: 60, Ending: etltest.Destroyed},
		{Heap: -1, Size: 2, From: 6, To: 40, Ending: etltest.Freed},
	} {
		if got := s.Commits()[i]; got != want {
			t.Errorf("commit %d: %+v, want %+v", i, got, want)
		}
	}
	total, _ := etltest.Window(s.Lifetimes(), 20, 50)
	want := etltest.WindowUsage{AIFO: etltest.Sum{Count: 2, Bytes: 20}, AOFI: etltest.Sum{Count: 2, Bytes: 3}}
	if total != want {
		t.Errorf("window shows %+v, want %+v", total, want)
	}
	if got := etltest.Outstanding(s.Lifetimes(), 30); got != (etltest.Sum{Count: 3, Bytes: 22}) {
		t.Errorf("%+v outstanding", got)
	}
}

// What Invent makes up keeps its own rules: no address is taken twice at a time, no block outlives its heap.
func TestInvent(t *testing.T) {
	s := etltest.Invent(9, etltest.ScenarioSize{Steps: 1000})
	type place struct {
		heap    int
		address uint64
	}
	ends := map[place]int64{}
	for i, l := range s.Lifetimes() {
		at := place{l.Heap, l.Address}
		if end, taken := ends[at]; taken && (end == 0 || end > l.From) {
			t.Fatalf("block %d is where another is until %d", i, end)
		}
		if l.To != 0 && l.To <= l.From {
			t.Fatalf("block %d lives from %d to %d", i, l.From, l.To)
		}
		ends[at] = l.To
	}
	endings := map[etltest.Ending]int{}
	for _, l := range s.Lifetimes() {
		endings[l.Ending]++
	}
	if len(endings) != 5 || len(s.Commits()) < 100 {
		t.Fatalf("endings %v, %d commits", endings, len(s.Commits()))
	}
}
