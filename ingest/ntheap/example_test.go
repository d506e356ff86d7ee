package ntheap_test

import (
	"context"
	"fmt"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

func Example() {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Stacks: true, LFH: true, Blocks: 100})
	heaps, err := ntheap.Open(context.Background(), ntheap.Process{
		Memory: made.Memory, PEB: made.PEB, Bits: 64,
		Version: ntheap.Version{Major: 10, Build: 19045}, Code: made.Code,
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, heap := range heaps.List {
		var deepest []uint64
		walked, err := heap.Walk(context.Background(), func(b ntheap.Block) error {
			if stack := heaps.Stack(b.Trace, nil); len(stack) > len(deepest) {
				deepest = stack
			}
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%s, %s, by %s: %d blocks, the deepest stack has %d frames\n", heap.Kind, walked.Facts.Name, heap.Layout,
			walked.Facts.Busy.Count, len(deepest))
	}
	// Output:
	// NT heap, default process heap, by 10.0.19045 x64 (embedded): 514 blocks, the deepest stack has 32 frames
}
