package petest_test

import (
	"bytes"
	"fmt"
	"testing"

	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/pe/petest"
)

func opened(t testing.TB, i *petest.Image) *pe.File {
	t.Helper()
	data, err := i.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	f, err := pe.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// program is the sample for a machine; all calls of ARM64 have 4 bytes.
func program(machine uint16) *pdbtest.Program {
	p := pdbtest.Sample()
	p.Machine = machine
	for m := range p.Modules {
		for k := range p.Modules[m].Functions {
			f := &p.Modules[m].Functions[k]
			for c := range f.Calls {
				if machine == petest.ARM64 {
					f.Calls[c].Length = 4
				}
			}
			for a := range f.Allocations {
				if machine == petest.ARM64 {
					f.Allocations[a].Length = 4
				}
			}
		}
	}
	return p
}

func TestOfProgram(t *testing.T) {
	for _, machine := range []uint16{petest.X86, petest.X64, petest.ARM64} {
		p := program(machine)
		image, err := petest.Of(p, `c:\obj\shop.pdb`)
		if err != nil {
			t.Fatalf("machine %#x: %v", machine, err)
		}
		f := opened(t, image)
		if f.Info().Machine != machine || f.Info().Timestamp != p.Signature || f.Info().SizeOfImage != image.SizeOfImage() {
			t.Errorf("machine %#x: %+v", machine, f.Info())
		}
		view, ok, err := f.CodeView()
		if err != nil || !ok || view.GUID != p.GUID || view.Age != p.Age || view.FileName() != "shop.pdb" {
			t.Errorf("machine %#x: %+v, %v, %v", machine, view, ok, err)
		}
		for _, m := range p.Modules {
			for k := range m.Functions {
				if fn := &m.Functions[k]; !fn.Folded {
					checkFunction(t, f, p, fn)
				}
			}
			for _, part := range m.Separated {
				begin, _, ok, err := f.FunctionBounds(p.RVA(part.Address))
				want := p.RVA(part.Address) // ARM64 does not chain
				if machine == petest.X64 {
					want = p.RVA(part.Parent)
				}
				if err != nil || machine != petest.X86 && (!ok || begin != want) {
					t.Errorf("machine %#x: the part at %#x is of %#x, %v, %v", machine, p.RVA(part.Address), begin, ok, err)
				}
			}
		}
	}
}

// checkFunction compares bounds, calls and export of a function with what the program says.
func checkFunction(t *testing.T, f *pe.File, p *pdbtest.Program, fn *pdbtest.Function) {
	t.Helper()
	rva := p.RVA(fn.Address)
	begin, end, ok, err := f.FunctionBounds(rva)
	if err != nil || ok == (f.Info().Machine == petest.X86) || ok && (begin != rva || end != rva+fn.Length) {
		t.Errorf("%s, machine %#x: from %#x to %#x, %v, %v", fn.Name, f.Info().Machine, begin, end, ok, err)
	}
	calls := fn.Calls
	for _, a := range fn.Allocations {
		calls = append(calls[:len(calls):len(calls)], a.Call)
	}
	for _, c := range calls {
		if got := f.CallSite(rva + c.Offset + c.Length); got != pe.CallYes {
			t.Errorf("%s, machine %#x: %s behind the call at %#x", fn.Name, f.Info().Machine, got, c.Offset)
		}
	}
	if fn.Decorated == "" || fn.Local {
		return
	}
	if e, displacement, ok := f.NearestExport(rva + 4); !ok || e.Name != fn.Decorated || displacement != 4 {
		t.Errorf("%s, machine %#x: the export is %+v, %d, %v", fn.Name, f.Info().Machine, e, displacement, ok)
	}
}

// An image whose description contradicts itself is refused.
func TestRefused(t *testing.T) {
	text := petest.Section{Name: ".text", RVA: 0x1000, Size: 16, Characteristics: 0x60000020}
	for name, i := range map[string]*petest.Image{
		"sections":   {Sections: make([]petest.Section, 17)},
		"content":    {Sections: []petest.Section{{Name: ".text", Size: 1, Content: []byte("two")}}},
		"no section": {Sections: []petest.Section{text}, PDB: "a.pdb"},
		"no room":    {Sections: []petest.Section{text, {Name: ".rdata", RVA: 0x2000, Size: 8}}, PDB: "a.pdb"},
		"orphan": {Sections: []petest.Section{text, {Name: ".pdata", RVA: 0x2000, Size: 99}},
			Functions: []petest.Function{{Begin: 0x1000, End: 0x1004, Parent: 0x1008}}},
		"no unwind place": {Sections: []petest.Section{text, {Name: ".pdata", RVA: 0x2000, Size: 99}},
			Functions: []petest.Function{{Begin: 0x1000, End: 0x1004}}},
	} {
		if _, err := i.Bytes(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := pdbtest.Sample()
	p.Machine = petest.ARM64
	if _, err := petest.Of(p, "a.pdb"); err == nil {
		t.Error("calls of 5 bytes on ARM64: no error")
	}
}

func Example() {
	image, err := petest.Of(pdbtest.Sample(), `c:\obj\shop.pdb`)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := image.Bytes()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := pe.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Info().Arch(), f.Info().ImageKey(), f.CallSite(0x1035))
	// Output: x64 650000006000 yes
}
