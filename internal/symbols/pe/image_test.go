package pe_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"testing/iotest"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pe"
	"heapdrift/internal/symbols/pe/petest"
)

const readable, executable = 0x40000040, 0x60000020

// library is an image of a machine with exports and functions of every kind, and calls at known places.
func library(machine uint16) *petest.Image {
	call := []byte{0xE8, 0x0B, 0, 0, 0}
	if machine == petest.ARM64 {
		call = binary.LittleEndian.AppendUint32(nil, 0x94000004) // BL +16
	}
	code := make([]byte, 0x600)
	for i := range code {
		code[i] = 0x90
	}
	copy(code[0x20:], call)
	return &petest.Image{
		Machine: machine, DLL: true, Timestamp: 0x5F3759DF, Entry: 0x1000, Name: "lib.dll", PDB: `d:\build\lib.pdb`,
		GUID: [16]byte{3: 0xAB}, Age: 0x1F,
		Sections: []petest.Section{
			{Name: ".text", RVA: 0x1000, Size: 0x600, Characteristics: executable, Content: code},
			{Name: ".rdata", RVA: 0x2000, Size: 0x800, Characteristics: readable},
			{Name: ".pdata", RVA: 0x3000, Size: 0x200, Characteristics: readable},
		},
		Exports: []petest.Export{
			{Name: "Alpha", RVA: 0x1000}, {Name: "Beta", RVA: 0x1100}, {Ordinal: 7, RVA: 0x1200}, {Name: "Zeta", RVA: 0x1100},
			{Name: "Forward", Forwarder: "NTDLL.RtlAllocateHeap"}, {Name: "variable", RVA: 0x2000},
		},
		Functions: []petest.Function{
			{Begin: 0x1000, End: 0x1080}, {Begin: 0x1080, End: 0x10C0}, {Begin: 0x1100, End: 0x1180},
			{Begin: 0x1200, End: 0x1240, Full: true},
			{Begin: 0x1400, End: 0x1420, Parent: chained(machine, 0x1100)},
		},
	}
}

// chained is the parent of a chained part of a function, which only x64 has.
func chained(machine uint16, parent uint32) uint32 {
	if machine == petest.X64 {
		return parent
	}
	return 0
}

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

func TestIdentity(t *testing.T) {
	for machine, arch := range map[uint16]string{petest.X86: "x86", petest.X64: "x64", petest.ARM64: "arm64"} {
		f := opened(t, library(machine))
		info := f.Info()
		if info.Arch() != arch || info.Timestamp != 0x5F3759DF || info.SizeOfImage != 0x4000 ||
			info.Bits != map[bool]int{true: 32, false: 64}[machine == petest.X86] {
			t.Errorf("%s: %+v", arch, info)
		}
		view, ok, err := f.CodeView()
		if !ok || err != nil || view.FileName() != "lib.pdb" || view.DebugID() != "AB000000000000000000000000000000"+"1F" ||
			view.Format != "RSDS" {
			t.Errorf("%s: %+v, %v, %v", arch, view, ok, err)
		}
	}
	old := library(petest.X86)
	old.NB10, old.GUID = true, [16]byte{0x78, 0x56, 0x34, 0x12}
	if view, ok, err := opened(t, old).CodeView(); !ok || err != nil || view.DebugID() != "123456781F" ||
		view.Format != "NB10" {
		t.Errorf("%+v, %v, %v", view, ok, err)
	}
	bare := library(petest.X64)
	bare.PDB = ""
	if _, ok, err := opened(t, bare).CodeView(); ok || err != nil {
		t.Errorf("a reference that is not there: %v, %v", ok, err)
	}
}

func TestExportsAreSorted(t *testing.T) {
	list, err := opened(t, library(petest.X64)).Exports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, e := range list {
		got += fmt.Sprintf("%s@%d=%x%s ", e.Name, e.Ordinal, e.RVA, e.Forwarder)
	}
	if want := "Forward@9=0NTDLL.RtlAllocateHeap Alpha@1=1000 Beta@2=1100 Zeta@8=1100 @7=1200 variable@10=2000 "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestNearestExport(t *testing.T) {
	for _, c := range []struct {
		machine uint16
		rva     uint32
		want    string
	}{
		{petest.X64, 0x1000, "Alpha+0"}, {petest.X64, 0x107F, "Alpha+7f"},
		{petest.X64, 0x1080, ""}, // another function, which is not exported
		{petest.X64, 0x1110, "Beta+10"}, {petest.X64, 0x1210, "+10"},
		{petest.X64, 0x1300, ""},                                       // in no function
		{petest.X64, 0x1410, "Beta+310"},                               // a part of Beta's function
		{petest.X64, 0x2000, ""},                                       // data
		{petest.X86, 0x1080, "Alpha+80"}, {petest.X86, 0x1300, "+100"}, // nothing bounds functions
		{petest.ARM64, 0x1004, "Alpha+4"}, {petest.ARM64, 0x1080, ""}, {petest.ARM64, 0x1220, "+20"},
	} {
		e, displacement, ok := opened(t, library(c.machine)).NearestExport(c.rva)
		got := ""
		if ok {
			got = fmt.Sprintf("%s+%x", e.Name, displacement)
		}
		if got != c.want {
			t.Errorf("machine %#x, %#x: %q, want %q", c.machine, c.rva, got, c.want)
		}
	}
}

func TestFunctionBounds(t *testing.T) {
	for _, c := range []struct {
		machine, rva, begin, end uint32
	}{
		{uint32(petest.X64), 0x1050, 0x1000, 0x1080}, {uint32(petest.X64), 0x1080, 0x1080, 0x10C0},
		{uint32(petest.X64), 0x10C0, 0, 0},
		{uint32(petest.ARM64), 0x1050, 0x1000, 0x1080}, {uint32(petest.ARM64), 0x1210, 0x1200, 0x1240},
		{uint32(petest.ARM64), 0x1240, 0, 0},
		{uint32(petest.X86), 0x1050, 0, 0},
	} {
		begin, end, ok, err := opened(t, library(uint16(c.machine))).FunctionBounds(c.rva)
		if err != nil || ok != (c.end != 0) || ok && (begin != c.begin || end != c.end) {
			t.Errorf("machine %#x, %#x: %#x to %#x, %v, %v", c.machine, c.rva, begin, end, ok, err)
		}
	}
}

func TestCallSites(t *testing.T) {
	for machine, after := range map[uint16]uint32{petest.X86: 0x1025, petest.X64: 0x1025, petest.ARM64: 0x1024} {
		f := opened(t, library(machine))
		for rva, want := range map[uint32]pe.CallSiteVerdict{after: pe.CallYes, after + 0x40: pe.CallNo, 0x1000: pe.CallUnknown,
			0x2010: pe.CallUnknown, 0xFFFFFFFF: pe.CallUnknown} {
			if got := f.CallSite(rva); got != want {
				t.Errorf("machine %#x, %#x: %s, want %s", machine, rva, got, want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	whole, err := library(petest.X64).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		code string
	}{
		"empty":   {nil, pe.CodeNotPE},
		"text":    {[]byte("hello, hello, hello, hello, hello, hello, hello, hello, hello, hello"), pe.CodeNotPE},
		"16 bits": {append([]byte("MZ"), make([]byte, 200)...), pe.CodeNotPE}, "cut": {whole[:0x90], pe.CodeTruncated},
		"sections": {append(append([]byte(nil), whole[:0x86]...), append([]byte{1, 0x10}, whole[0x88:]...)...),
			pe.CodeBadHeader},
	} {
		_, err := pe.Open(bytes.NewReader(c.data), int64(len(c.data)))
		var e *evidence.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v, want code %s", name, err, c.code)
		}
	}
	broken := errors.New("the disk is gone")
	_, err = pe.Open(brokenReader{broken}, 4096)
	var e *evidence.Error
	if !errors.As(err, &e) || e.Code != pe.CodeReadFailed || !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) ReadAt([]byte, int64) (int, error) { return iotest.ErrReader(r.err).Read(nil) }

// ask asks an image everything.
func ask(t testing.TB, data []byte) {
	t.Helper()
	f, err := pe.Open(bytes.NewReader(data), int64(len(data)))
	check := func(err error) {
		var e *evidence.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("an error without a code: %v", err)
		}
		if e != nil && e.Code == pe.CodeReadFailed {
			t.Fatalf("reading behind the end: %v", err)
		}
	}
	check(err)
	if err != nil {
		return
	}
	_, _, err = f.CodeView()
	check(err)
	list, err := f.Exports(t.Context())
	check(err)
	rvas := []uint32{0, 1, 0x1000, 0x1025, 0x1410, 0x2000, 0x7FFFFFFF, 0xFFFFFFFF}
	for i, e := range list {
		if i < 16 {
			rvas = append(rvas, e.RVA, e.RVA+5)
		}
	}
	for _, rva := range rvas {
		begin, end, ok, err := f.FunctionBounds(rva)
		check(err)
		if ok && begin >= end {
			t.Fatalf("the function at %#x is from %#x to %#x", rva, begin, end)
		}
		f.NearestExport(rva)
		f.CallSite(rva)
	}
}

func seeds(t testing.TB) (all [][]byte) {
	t.Helper()
	for _, machine := range []uint16{petest.X86, petest.X64, petest.ARM64} {
		data, err := library(machine).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// An image that is cut anywhere, or has any bit flipped, gives answers or an error with a code.
func TestDamagedImages(t *testing.T) {
	for _, data := range seeds(t) {
		for n := range data {
			if n < 0x500 || n%17 == 0 {
				ask(t, data[:n:n])
			}
		}
		for bit := range len(data) * 8 {
			if bit >= 0x500*8 && bit%31 != 0 {
				continue
			}
			data[bit/8] ^= 1 << (bit % 8)
			ask(t, data)
			data[bit/8] ^= 1 << (bit % 8)
		}
	}
}

// The seeds are images of library.
func FuzzOpen(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) { ask(t, data) })
}

func ExampleOpen() {
	image := library(petest.X64)
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
	view, _, err := f.CodeView()
	fmt.Println(f.Info().Arch(), view.FileName(), view.DebugID(), err)
	e, displacement, _ := f.NearestExport(0x1110)
	fmt.Printf("%s+%#x\n", e.Name, displacement)
	fmt.Println("follows a call:", f.CallSite(0x1025))
	// Output:
	// x64 lib.pdb AB0000000000000000000000000000001F <nil>
	// Beta+0x10
	// follows a call: yes
}
