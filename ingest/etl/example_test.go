package etl_test

import (
	"bytes"
	"context"
	"fmt"

	"heapdrift/ingest/etl"
)

func Example() {
	file := newTiny(nil).add(0, 1, alloc(21000, 0xA0), stack(21010, 21000, 0x77001, 0x77002)).file
	ctx := context.Background()
	trace, err := etl.Open(ctx, []etl.Source{{Name: "a.etl", ReaderAt: bytes.NewReader(file), Size: int64(len(file))}},
		etl.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stacks := map[uint64]etl.StackID{}
	joined, err := trace.OperationBatches(ctx, etl.JoinOptions{}, func(batch []etl.Operation) error {
		for _, o := range batch {
			if o.Kind == etl.KindHeapAlloc {
				fmt.Printf("%d ns: %d bytes at %#x\n", o.Time, o.Size, o.Address)
				stacks[o.Address] = o.Stack
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("from %#x\n", joined.Stacks.Append(nil, stacks[0xA0]))
	// Output:
	// 2000000 ns: 32 bytes at 0xa0
	// from [0x77001 0x77002]
}
