package pdb_test

import (
	"bytes"
	"context"
	"fmt"

	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

func Example() {
	contents, err := pdbtest.Sample().PDB()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := pdb.Open(bytes.NewReader(contents), int64(len(contents))) // or OpenFile
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.Info().DebugID, f.Info().Quality)

	at, ok, err := f.Lookup(context.Background(), 0x1063)
	fmt.Println(ok, err)
	for _, in := range at.Inlines {
		fmt.Printf("%s (%s:%d), inlined into\n", in.Name, in.File, in.Line)
	}
	fmt.Printf("%s+%#x (%s:%d)\n", at.Function, at.Displacement, at.File, at.Line)

	item, err := f.FindLayout(context.Background(), "shop::Item")
	fmt.Println(item.Name, item.Size, "bytes", err)
	for _, field := range item.Fields {
		fmt.Printf("  %2d %s %s\n", field.Offset, field.Type, field.Name)
	}
	// Output:
	// 443322116655887701020304050607081 private
	// true <nil>
	// std::max<int> (c:\vc\algorithm:8), inlined into
	// shop::Item::total (c:\shop\item.h:101), inlined into
	// shop::Cart::add+0x53 (c:\shop\cart.cpp:14)
	// shop::Item 32 bytes <nil>
	//    0 unsigned __int64 price
	//    8 shop::Item * next
	//   16 unsigned long kind
	//   20 char[12] code
}
