package symsrv_test

import (
	"context"
	"fmt"

	"heapdrift/internal/symbols/symsrv"
)

func Example() {
	path, err := symsrv.Parse(`srv*C:\Symbols*https://msdl.microsoft.com/download/symbols`, symsrv.Options{
		Map: []symsrv.PathMapping{{Windows: `C:\Symbols`, Local: "testdata/symbols"}},
		// Allow is empty: the server is not asked.
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, attempts, err := path.Find(context.Background(), symsrv.Identity{
		Name: `D:\build\app.pdb`, DebugID: "A62592418D7807494C4C44205044422E1",
	})
	for _, a := range attempts {
		fmt.Printf("%s: %s\n", a.Result, a.Place)
	}
	fmt.Println(found.Path, err)
	// Output:
	// not-found: testdata/symbols/app.pdb/A62592418D7807494C4C44205044422E1
	// offline: https://msdl.microsoft.com/download/symbols/app.pdb/A62592418D7807494C4C44205044422E1
	//  symsrv: app.pdb (A62592418D7807494C4C44205044422E1) was not found: none of the places on the symbol path has it
}

func ExampleFromEnvironment() {
	_, err := symsrv.FromEnvironment(func(name string) string {
		return map[string]string{"_NT_SYMBOL_PATH": `C:\Symbols;https://symbols.example`}[name]
	}, symsrv.Options{})
	fmt.Println(err)
	// Output: symsrv: a server is part of a chain: write srv* before it (element 2 of the symbol path, "https://symbols.example")
}

func ExampleParseRequest() {
	r, ok := symsrv.ParseRequest("/app.exe/63E6C7F78000/app.ex_")
	fmt.Printf("%v %s %s %X %#x\n", ok, r.Form, r.Identity.Name, r.Identity.Timestamp, r.Identity.SizeOfImage)
	// Output: true compressed app.exe 63E6C7F7 0x8000
}
