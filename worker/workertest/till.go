package workertest

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// TillLog is a raw log of a 64-bit process: one block that main of till.exe allocated, larger with every minute.
func TillLog(minute int) string {
	return fmt.Sprintf(`// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:%02d - Machine=LAB - PID=42
// Loaded modules:
//     Base Size Module
//      7FF600000000     6000 C:\till\till.exe
// Process modules enumerated.
*- - - - - - - - - - Start of data for heap @ 1B0003F0000 - - - - - - - - - -
*- - - - - - - - - - Heap 1B0003F0000 Hogs - - - - - - - - - -
%X bytes + 10 at 1B0003F0880 by BackTrace1B000000A1
	7FF600001035
	7FF600001055

*- - - - - - - - - - End of data for heap @ 1B0003F0000 - - - - - - - - - -
`, minute, 100+minute)
}

// TillLeak is TillLog with n blocks of 64 bytes that stay, each after the ones before it.
func TillLeak(minute, n int) string {
	head, rest, _ := strings.Cut(TillLog(minute), fmt.Sprintf("%X bytes + ", 100+minute))
	_, tail, _ := strings.Cut(rest, "*- - -")
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, "40 bytes + 10 at %X by BackTrace1B000000A1\n\t7FF600001035\n\t7FF600001055\n\n",
			0x1B0003F0880+0x60*i)
	}
	b.WriteString("*- - -" + tail)
	return b.String()
}

// tillProgram is a build of till.exe: all have the same size and calls.
func tillProgram(build byte, function string, line uint32) *pdbtest.Program {
	return &pdbtest.Program{
		GUID: [16]byte{3: build}, Age: 1, Sections: pdbtest.Standard(0x1000),
		Modules: []pdbtest.Module{{Name: "main.obj", Functions: []pdbtest.Function{{
			Name: function, Decorated: function, Address: pdbtest.Address{Section: 1, Offset: 0x10}, Length: 0x80,
			Lines: []pdbtest.Line{{Offset: 0, File: `c:\till\main.cpp`, Line: line},
				{Offset: 0x30, File: `c:\till\main.cpp`, Line: line + 2}},
			Calls: []pdbtest.Call{{Offset: 0x20, Length: 5, Target: function}, {Offset: 0x40, Length: 5, Target: function}},
		}}}},
	}
}

// TillBuild is the PDB of a build of till.exe whose function has this name and line.
func TillBuild(t testing.TB, build byte, function string, line uint32) (pdb []byte) {
	t.Helper()
	pdb, err := tillProgram(build, function, line).PDB()
	if err != nil {
		t.Fatal(err)
	}
	return pdb
}

// Till returns the PDB and the image of till.exe.
func Till(t testing.TB) (pdb, image []byte) {
	t.Helper()
	p := tillProgram(1, "main", 10)
	pdb, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	made, err := petest.Of(p, "till.pdb")
	if err != nil {
		t.Fatal(err)
	}
	if image, err = made.Bytes(); err != nil {
		t.Fatal(err)
	}
	return pdb, image
}
