package pdb_test

import (
	"bytes"
	"slices"
	"testing"

	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// ToSource maps an address of a reordered image to the address before. The mapping that begins at or before the address
// decides; of several that begin at one address, the last. A target of 0, or negative as an int32, is nowhere. Tools do
// not always sort the table.
func TestToSource(t *testing.T) {
	table := []pdbtest.Mapping{
		{From: 0x1000, To: 0x1800}, {From: 0x1040}, {From: 0x1050, To: 0x1010}, {From: 0x1060, To: 0xFFFFFFFF},
		{From: 0x1070, To: 0x80000000},
		{From: 0x1080, To: 0x7FFFFFFF}, {From: 0x1090, To: 0x1100}, {From: 0x1090, To: 0x1200},
	}
	behind := slices.Clone(table)
	behind = append(behind[3:], behind[:3]...) // two at one address keep their order
	for name, mappings := range map[string][]pdbtest.Mapping{"sorted": table, "unsorted": behind} {
		p := pdbtest.Sample()
		p.Original, p.OMAP = p.Sections,
			&pdbtest.OMAP{ToSource: mappings, FromSource: []pdbtest.Mapping{{From: 0x1010, To: 0x1050}}}
		b, err := p.PDB()
		if err != nil {
			t.Fatal(err)
		}
		f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			rva, want uint32
			ok        bool
		}{
			{0xFFF, 0, false}, {0x1000, 0x1800, true}, {0x103F, 0x183F, true}, // in front of the first, and in it
			{0x1040, 0, false}, {0x104F, 0, false}, {0x1050, 0x1010, true}, // 0
			{0x105F, 0x101F, true}, {0x1060, 0, false}, {0x106F, 0, false}, // −1
			{0x1070, 0, false}, {0x107F, 0, false}, // the least negative number
			{0x1080, 0x7FFFFFFF, true}, {0x1081, 0x80000000, true}, // the greatest place that is one
			{0x1090, 0x1200, true}, {0x1091, 0x1201, true},
		} {
			if got, ok := f.ToSource(test.rva); got != test.want || ok != test.ok {
				t.Errorf("%s: %#x comes from %#x, %t; want %#x, %t", name, test.rva, got, ok, test.want, test.ok)
			}
		}
		if at, ok, err := f.Lookup(t.Context(), 0x1060); ok || err != nil {
			t.Errorf("%s: an address that comes from nowhere is called %q, %v", name, at.Function, err)
		}
	}
}
