package pdb_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/needs"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// The layouts of NT's structures are those that another reader found in the same PDBs.
func TestNTLayouts(t *testing.T) {
	path := corpus.Path(t, "layouts", "ntdll_public_pdb_layouts.json.xz")
	text, err := exec.CommandContext(t.Context(), needs.Program(t, "xz"), "-dc", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Types map[string]struct {
			Size   string
			Fields map[string]string
		}
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, want := range all {
		f, err := pdb.OpenFile(filepath.Join(corpus.Path(t, "symbols", "ms-public"), name))
		if err != nil {
			continue // kept aside
		}
		for typ, w := range want.Types {
			got, err := f.FindLayout(t.Context(), typ)
			if err != nil || got == nil {
				t.Errorf("%s: %s: %v", name, typ, err)
				continue
			}
			if size := fmt.Sprintf("%#x", got.Size); size != w.Size {
				t.Errorf("%s: %s has %s bytes, want %s", name, typ, size, w.Size)
			}
			places := map[string][]string{}
			for _, field := range got.Fields {
				places[field.Name] = append(places[field.Name], place(field))
			}
			for field, at := range w.Fields {
				compared++
				if !slices.Contains(places[field], at) {
					t.Errorf("%s: %s.%s at %s, want %s", name, typ, field, places[field], at)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d fields", compared)
}

// place prints where a field lies in the form of the other reader.
func place(f pdb.Field) string {
	if f.Bits != 0 {
		return fmt.Sprintf("%#x bits %d:%d", f.Offset, f.Bit, f.Bits)
	}
	return fmt.Sprintf("%#x", f.Offset)
}

func TestType(t *testing.T) {
	long := pdbtest.Struct{Name: "Long", Size: 8 * 5000} // its fields fill several records
	for i := range 5000 {
		long.Fields = append(long.Fields,
			pdbtest.Field{Name: fmt.Sprintf("member%04d", i), Offset: uint64(8 * i), Type: pdbtest.Uint64})
	}
	p := &pdbtest.Program{Sections: pdbtest.Standard(0x1000), Structs: []pdbtest.Struct{
		{Name: "Entry", Size: 16, Fields: []pdbtest.Field{
			{Name: "next", Type: pdbtest.PointerTo(pdbtest.Named("Entry"))},
			{Name: "owner", Offset: 8, Type: pdbtest.PointerTo(pdbtest.PointerTo(pdbtest.Named("Heap")))},
		}},
		{Name: "Heap", Size: 0x18000, Fields: []pdbtest.Field{
			{Name: "entries", Type: pdbtest.ArrayOf(pdbtest.Named("Entry"), 64)},
			{Name: "grid", Offset: 64, Type: pdbtest.ArrayOf(pdbtest.ArrayOf(pdbtest.Ushort, 8), 24)},
			{Name: "busy", Offset: 88, Type: pdbtest.Bits(pdbtest.Ulong, 0, 1)},
			{Name: "kind", Offset: 88, Type: pdbtest.Bits(pdbtest.Ulong, 1, 7)},
			{Name: "value", Offset: 92, Type: pdbtest.Named("Value")},
			{Name: "opaque", Offset: 96, Type: pdbtest.PointerTo(pdbtest.Named("Elsewhere"))},
			{Name: "far", Offset: 0x17FF8, Type: pdbtest.Pointer},
		}},
		{Name: "Derived", Size: 40, Fields: []pdbtest.Field{
			{Type: pdbtest.Named("Entry"), Base: true}, {Type: pdbtest.Named("Value"), Offset: 16, Base: true},
			{Name: "own", Offset: 24, Type: pdbtest.Char},
		}},
		{Name: "Value", Size: 4, Union: true, Fields: []pdbtest.Field{{Name: "number", Type: pdbtest.Long},
			{Name: "bytes", Type: pdbtest.ArrayOf(pdbtest.Byte, 4)}}},
		long,
	}}
	f := openProgram(t, p)
	for name, want := range map[string]string{
		"Entry": "struct 16: next 0+8 Entry * (Entry), owner 8+8 Heap * * (Heap)",
		"Heap": "struct 98304: entries 0+64 Entry[4] (Entry), grid 64+24 unsigned short[3][4] (), busy 88+4 unsigned long () bits 0:1, " +
			"kind 88+4 unsigned long () bits 1:7, value 92+4 Value (Value), opaque 96+8 Elsewhere * (Elsewhere), far 98296+8 void * ()",
		"Value":     "union 4: number 0+4 long (), bytes 0+4 unsigned char[4] ()",
		"Derived":   "struct 40: base Entry 0+16 Entry (Entry), base Value 16+4 Value (Value), own 24+1 char ()",
		"Elsewhere": "not defined",
		"Nothing":   "not defined",
	} {
		got, err := f.FindLayout(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if s := layoutText(got); s != want {
			t.Errorf("%s is %s\nwant %s", name, s, want)
		}
	}
	got, err := f.FindLayout(t.Context(), "Long")
	if err != nil || got == nil || len(got.Fields) != 5000 {
		t.Fatalf("Long: %v %v", got, err)
	}
	for i, field := range got.Fields {
		if want := long.Fields[i]; field.Name != want.Name || field.Offset != want.Offset {
			t.Fatalf("field %d is %+v", i, field)
		}
	}
}

func layoutText(l *pdb.Layout) string {
	if l == nil {
		return "not defined"
	}
	s := fmt.Sprintf("%s %d:", l.Kind, l.Size)
	for i, f := range l.Fields {
		if i > 0 {
			s += ","
		}
		if f.Base {
			s += " base"
		}
		s += fmt.Sprintf(" %s %d+%d %s (%s)", f.Name, f.Offset, f.Size, f.Type, f.Of)
		if f.Bits != 0 {
			s += fmt.Sprintf(" bits %d:%d", f.Bit, f.Bits)
		}
	}
	return s
}
