package lifetimes_test

import (
	"fmt"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/lifetimes"
)

// Two blocks from one stack, of which one is freed, seen in two windows.
func Example() {
	rows := &labRows{}
	tracker := lifetimes.New(rows)
	for _, e := range []lifetimes.Event{
		{Op: lifetimes.HeapAlloc, Time: 1e9, Process: 1, Heap: 0x1F0000, Address: 0x1F0880, Size: 40, Stack: 7},
		{Op: lifetimes.HeapAlloc, Time: 2e9, Process: 1, Heap: 0x1F0000, Address: 0x1F08C0, Size: 40, Stack: 7},
		{Op: lifetimes.HeapFree, Time: 3e9, Process: 1, Heap: 0x1F0000, Address: 0x1F0880},
	} {
		if err := tracker.Add(&e); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := tracker.Finish(); err != nil {
		fmt.Println(err)
		return
	}
	site := tracker.Site(0)
	fmt.Printf("stack %d: %+v, peak %d bytes\n", site.Stack, site.Usage.AIFO, site.Peak.Bytes)

	w := allocations.NewWindow(2e9, 4e9, tracker.SiteCount())
	if err := w.AddRows(rows.rows); err != nil {
		fmt.Println(err)
		return
	}
	c := w.Total(nil)
	fmt.Printf("from 2 s to 4 s: allocated %+v, freed %+v, growth %+v\n", c.Allocated(), c.Freed(), c.Growth())
	// Output:
	// stack 7: {Count:1 Bytes:40}, peak 80 bytes
	// from 2 s to 4 s: allocated {Count:1 Bytes:40}, freed {Count:1 Bytes:40}, growth {Count:0 Bytes:0}
}
