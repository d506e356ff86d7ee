package pdb_test

import (
	"bytes"
	"testing"

	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// The owner of an address changes at the edges of sections, of contributions and of the range that a public symbol may
// claim: each row is the last address before an edge, or the first behind it.
func TestEdges(t *testing.T) {
	text := pdbtest.Section{Name: ".text", RVA: 0x1000, Size: 0x2800, Characteristics: pdbtest.Code}
	data := pdbtest.Section{Name: ".data", RVA: 0x8000, Size: 0x200, Characteristics: pdbtest.Data}
	empty := pdbtest.Section{Name: ".none", RVA: 0x1000, Characteristics: pdbtest.Data}
	at := func(offset uint32) pdbtest.Address { return pdbtest.Address{Section: 1, Offset: offset} }
	public := []pdbtest.Public{{Name: "first", Address: at(0)}}
	for _, test := range []struct {
		name    string
		program pdbtest.Program
		rva     uint32
		want    string
		doubt   bool
	}{
		{"in front of all sections", pdbtest.Program{Publics: public}, 0xFFF, "", false},
		{"near a public symbol", pdbtest.Program{Publics: public}, 0x1FFF, "first", false},
		{"far from it", pdbtest.Program{Publics: public}, 0x2000, "first", true},
		{"the last page of a section", pdbtest.Program{Publics: public}, 0x3FFF, "first", true},
		{"between two sections", pdbtest.Program{Publics: public}, 0x4000, "", false},
		{"in a section that begins where an empty one does",
			pdbtest.Program{Sections: []pdbtest.Section{text, data, empty}, Publics: public}, 0x1010, "first", false},
		{"the end of a function", one(pdbtest.Function{Name: "f", Address: at(0), Length: 0x20}, public), 0x101F, "f", false},
		{"behind it, and behind what its module gave", one(pdbtest.Function{Name: "f", Address: at(0), Length: 0x20}, public),
			0x1020, "first", true},
	} {
		p := test.program
		if p.PageSize = 512; p.Sections == nil {
			p.Sections = []pdbtest.Section{text, data}
		}
		b, err := p.PDB()
		if err != nil {
			t.Fatal(err)
		}
		f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := f.Lookup(t.Context(), test.rva)
		if err != nil || got.Function != test.want || got.LowConfidence != test.doubt {
			t.Errorf("%s: %#x is %q, doubted %t, %v; want %q, %t", test.name, test.rva, got.Function, got.LowConfidence,
				err, test.want, test.doubt)
		}
	}
}

func one(f pdbtest.Function, publics []pdbtest.Public) pdbtest.Program {
	return pdbtest.Program{Publics: publics, Modules: []pdbtest.Module{{Name: "a.obj", Functions: []pdbtest.Function{f}}}}
}

// Compilers hide code by two numbers that are not lines; the numbers beside them are lines.
func TestHiddenLine(t *testing.T) {
	for line, want := range map[uint32]bool{
		0: false, 1: false, 0xF00EFF: false, 0xF00F00: true, 0xF00F01: false, 0xFEEFED: false,
		0xFEEFEE: true, 0xFEEFEF: false,
	} {
		if got := pdb.IsHiddenLine(line); got != want {
			t.Errorf("%#x: %t", line, got)
		}
	}
}
