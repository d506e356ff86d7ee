package pdb

import "testing"

// A contribution contains its first address but not its end; an address between two contributions belongs to neither.
func TestContributionAt(t *testing.T) {
	all := []contribution{{start: 0x10, end: 0x20, module: 1}, {start: 0x20, end: 0x28, module: 2},
		{start: 0x30, end: 0x40, module: 3}}
	for _, test := range []struct {
		rva uint32
		at  int
		in  bool
	}{{0xF, -1, false}, {0x10, 0, true}, {0x1F, 0, true}, {0x20, 1, true}, {0x27, 1, true}, {0x28, 1, false},
		{0x2F, 1, false}, {0x30, 2, true}, {0x3F, 2, true}, {0x40, 2, false}} {
		if at, in := contributionAt(all, test.rva); at != test.at || in != test.in {
			t.Errorf("%#x: %d, %t; want %d, %t", test.rva, at, in, test.at, test.in)
		}
	}
}

// The lines of a block inside another block end with its code; behind it the outer block's lines go on.
func TestLinesOfABlockInAnother(t *testing.T) {
	m := &module{}
	m.blocks = []lineBlock{
		{start: 0x10, end: 0x60, reach: 0x60, decoded: []lineEntry{{start: 0x10, line: 10}}},
		{start: 0x20, end: 0x28, reach: 0x60, decoded: []lineEntry{{start: 0x20, line: 77}}},
	}
	for rva, want := range map[uint32]uint32{0xF: 0, 0x10: 10, 0x1F: 10, 0x20: 77, 0x27: 77, 0x28: 10, 0x5F: 10, 0x60: 0} {
		if e, ok := m.lineAt(rva, nil); e.line != want || ok != (want > 0) {
			t.Errorf("%#x: line %d, %t; want %d", rva, e.line, ok, want)
		}
	}
}

// Of a folded procedure only the block at its start has to be its own; of any other procedure each block counts, and
// of those that start together the last.
func TestLinesOfFoldedProcedures(t *testing.T) {
	m := &module{paired: true}
	m.blocks = []lineBlock{
		{start: 0x10, end: 0x30, reach: 0x30, owner: 7, decoded: []lineEntry{{start: 0x10, line: 10}}},
		{start: 0x10, end: 0x30, reach: 0x30, owner: 8, decoded: []lineEntry{{start: 0x10, line: 20}}},
		{start: 0x20, end: 0x28, reach: 0x30, decoded: []lineEntry{{start: 0x20, line: 77}}},
		{start: 0x40, end: 0x50, reach: 0x50, decoded: []lineEntry{{start: 0x40, line: 30}}},
		{start: 0x40, end: 0x50, reach: 0x50, decoded: []lineEntry{{start: 0x40, line: 40}}},
	}
	for _, test := range []struct {
		rva, line uint32
		proc      *proc
	}{
		{0x10, 10, &proc{start: 0x10, folded: true, record: 7}},
		{0x10, 20, &proc{start: 0x10, folded: true, record: 8}},
		{0x10, 0, &proc{start: 0x10, folded: true, record: 9}},
		{0x24, 77, &proc{start: 0x10, folded: true, record: 7}},
		{0x28, 10, &proc{start: 0x10, folded: true, record: 7}},
		{0x10, 20, &proc{start: 0x10, record: 7}},
		{0x44, 40, &proc{start: 0x40, record: 9}},
		{0x44, 40, nil},
	} {
		if e, ok := m.lineAt(test.rva, test.proc); e.line != test.line || ok != (test.line > 0) {
			t.Errorf("%#x of %+v: line %d, %t; want %d", test.rva, test.proc, e.line, ok, test.line)
		}
	}
}
