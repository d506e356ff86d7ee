package debugdiag_test

import (
	"bytes"
	"context"
	"fmt"

	"heapdrift/ingest/debugdiag"
	"heapdrift/ingest/debugdiag/debugdiagtest"
)

func Example() { // a driver that leaks, and a runtime that does not
	captures, err := debugdiag.Read(context.Background(), bytes.NewReader(debugdiagtest.Walkthrough().MIME()))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := captures[0]
	fmt.Println(c.Process.Name, c.Snapshots[0].TakenAt)
	for _, claim := range c.Memory.Claims {
		fmt.Printf("%d bytes ± %d in %d blocks, %d%%\n", claim.Usage.Bytes, claim.UsageMargin, claim.Usage.Count, claim.Percent)
		for _, frame := range c.Stacks.Stack(claim.Stack) {
			text := c.Stacks.Text(c.Stacks.Frame(frame))
			fmt.Printf("  %s!%s+%x\n", text.Module, text.Function, text.Offset)
		}
	}
	// Output:
	// w3wp.exe 2008-02-21 16:17:33 +0000 UTC
	// 155189248 bytes ± 0 in 37888 blocks, 98%
	//   3rdparty!IFMX_IsInTransaction+5671
	//   3rdparty!SQLEndTran+e456
	//   odbc32!SQLFetch+160
	//   !System.Data.Odbc.OdbcDataReader.Read()+0
	// 9175040 bytes ± 5243 in 140 blocks, 21%
	//   mscorsvr!EEVirtualAlloc+119
	// 1024 bytes ± 0 in 7 blocks, 3%
	//   odbc32!SQLAllocHandle+a1
}

func ExampleParseFrame() {
	text, _, _ := debugdiag.ParseFrame("leaky!Cache::Add<int>+34", `d:\src\leaky\cache.cpp @ 118`)
	fmt.Printf("%s | %s | %#x | %s | %d\n", text.Module, text.Function, text.Offset, text.File, text.Line)
	// Output: leaky | Cache::Add<int> | 0x34 | d:\src\leaky\cache.cpp | 118
}
