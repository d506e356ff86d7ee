package windbg_test

import (
	"context"
	"fmt"
	"strings"

	"heapdrift/ingest/windbg"
)

func Example() { // a heap before and after a minute of work
	const summary = `0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00150000 00000002   16384  %6d  16352      2     0     1    0      0   LFH
-----------------------------------------------------------------------------
`
	log := fmt.Sprintf(summary, 8192) + "0:000> g\n" + fmt.Sprintf(summary, 12288)
	captures, err := windbg.Read(context.Background(), strings.NewReader(log))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range captures {
		for _, h := range c.Memory.Heaps {
			fmt.Println(c.Memory.Source, h.Handle, h.Committed)
		}
	}
	// Output:
	// WinDbg !heap -s 0x150000 8388608
	// WinDbg !heap -s 0x150000 12582912
}
