package umdh_test

import (
	"context"
	"fmt"
	"strings"

	"heapdrift/ingest/umdh"
)

func Example() { // a difference as it was pasted into a ticket
	captures, err := umdh.Read(context.Background(), strings.NewReader(`
+  154944 ( 154944 -      0)      2 allocs	BackTrace9933FD81
+       2 (      2 -      0)	BackTrace9933FD81	allocations

	ntdll!RtlAllocateHeap+A64
	app!Cache::operator+++1F (c:\src\cache.cpp, 12)
`), umdh.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := captures[0]
	for _, site := range c.Sites {
		fmt.Printf("BackTrace%X: %d bytes in %d blocks\n", site.Trace, site.Usage[1].Bytes, site.Usage[1].Count)
		for _, frame := range c.Stacks.Stack(site.Stack) {
			text := c.Stacks.Text(c.Stacks.Frame(frame))
			fmt.Println(" ", text.Module, text.Function, text.File, text.Line)
		}
	}
	for _, w := range c.Warnings {
		fmt.Println(w.Code, w.Message)
	}
	// Output:
	// BackTrace9933FD81: 154944 bytes in 2 blocks
	//   ntdll RtlAllocateHeap  0
	//   app Cache::operator++ c:\src\cache.cpp 12
	// truncated The total at the end of the difference is missing: the file is cut short, or an excerpt.
}

func ExampleParseFrame() {
	text, _, _ := umdh.ParseFrame(`	app!std::function<void (int)>::operator()+1F (C:\Program Files (x86)\a, b.h, 12)`)
	fmt.Printf("%s | %s | %#x | %s | %d\n", text.Module, text.Function, text.Offset, text.File, text.Line)
	// Output: app | std::function<void (int)>::operator() | 0x1f | C:\Program Files (x86)\a, b.h | 12
}
