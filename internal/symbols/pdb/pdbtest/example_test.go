package pdbtest_test

import (
	"fmt"

	"heapdrift/internal/symbols/pdb/pdbtest"
)

func Example() {
	p := pdbtest.Program{
		Sections: pdbtest.Standard(0x1000),
		Modules: []pdbtest.Module{{Name: "app.obj", Functions: []pdbtest.Function{{
			Name: "leak", Decorated: "?leak@@YAXXZ", Address: pdbtest.Address{Section: 1, Offset: 0x40}, Length: 0x20,
			Lines: []pdbtest.Line{{Offset: 0, File: `c:\app\leak.cpp`, Line: 7}, {Offset: 8, File: `c:\app\leak.cpp`, Line: 9}},
		}}}},
	}
	b, err := p.PDB()
	fmt.Printf("%.24s %v\n", b, err)
	truth, _ := p.At(0x104A)
	fmt.Printf("%s+%#x %s:%d\n", truth.Function, truth.Displacement, truth.File, truth.Line)
	// Output:
	// Microsoft C/C++ MSF 7.00 <nil>
	// leak+0xa c:\app\leak.cpp:9
}
