package ntheap_test

import (
	"fmt"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// openOne opens a process that has one heap.
func openOne(t testing.TB, p ntheap.Process) (*ntheap.SideHeaps, *ntheap.Heap) {
	t.Helper()
	heaps, err := ntheap.Open(t.Context(), p)
	if err != nil || len(heaps.List) != 1 || len(heaps.Gaps) > 0 {
		t.Fatalf("open: %v, %d heaps, gaps %v", err, len(heaps.List), heaps.Gaps)
	}
	return heaps, heaps.List[0]
}

// TestLargeHeap walks a heap whose bytes are made when they are read, and compares every block.
func TestLargeHeap(t *testing.T) {
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		for _, stacks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stacks=%t", v.Name, stacks), func(t *testing.T) {
				large := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: v, Stacks: stacks}, 200_000, 150)
				heaps, heap := openOne(t, process(large.Process))
				i := uint64(0)
				walked, err := heap.Walk(t.Context(), func(b ntheap.Block) error {
					want := large.Block(i)
					if i++; b.Address != want.Address || b.Size != want.Size ||
						i%1000 == 0 && fmt.Sprint(heaps.Stack(b.Trace, nil)) != fmt.Sprint(want.Stack) {
						return fmt.Errorf("block %d: %+v, want %+v", i-1, b, want)
					}
					return nil
				})
				if err != nil || i != large.Count || len(walked.Gaps)+len(walked.Warnings) > 0 ||
					walked.Facts.Walked != walked.Facts.Committed {
					t.Errorf("%d of %d blocks: %v, gaps %v, warnings %v", i, large.Count, err, walked.Gaps, walked.Warnings)
				}
			})
		}
	}
}
