package pdbtest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

func open(t testing.TB, p *pdbtest.Program) *pdb.File {
	t.Helper()
	b := written(t, p)
	f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// location writes down what a reader says in the form of text.
func location(l pdb.Location) string {
	t := pdbtest.Truth{Function: l.Function, Displacement: l.Displacement, File: l.File, Line: l.Line}
	for _, in := range l.Inlines {
		t.Inlines = append(t.Inlines, pdbtest.Site{Function: in.Name, File: in.File, Line: in.Line})
	}
	return text(t)
}

// TestReader asks the reader for every address that the program knows about.
func TestReader(t *testing.T) {
	reordered := pdbtest.Sample()
	reordered.Original = reordered.Sections
	reordered.OMAP = &pdbtest.OMAP{
		ToSource:   []pdbtest.Mapping{{0x1000, 0x1800}, {0x1040, 0}, {0x1050, 0x1010}, {0x10E0, 0}},
		FromSource: []pdbtest.Mapping{{0x1010, 0x1050}, {0x10A0, 0}, {0x1800, 0x1000}, {0x1840, 0}},
	}
	small, big := pdbtest.Sample(), pdbtest.Sample()
	small.PageSize, big.PageSize = 512, 32768
	for name, p := range map[string]*pdbtest.Program{"4096": pdbtest.Sample(), "512": small,
		"32768": big, "OMAP": reordered} {
		t.Run(name, func(t *testing.T) {
			f := open(t, p)
			asked := 0
			for rva := uint32(0x1000); rva < 0x2000; rva++ {
				want, ok := p.At(rva)
				if !ok {
					continue
				}
				asked++
				got, ok, err := f.Lookup(t.Context(), rva)
				if err != nil || !ok || location(got) != text(want) {
					t.Fatalf("%#x is %s, want %s (%v)", rva, location(got), text(want), err)
				}
			}
			if asked < 150 {
				t.Errorf("%d addresses asked", asked)
			}
		})
	}
}

// TestReaderKinds asks for addresses outside procedures.
func TestReaderKinds(t *testing.T) {
	f := open(t, pdbtest.Sample())
	for rva, want := range map[uint32]string{0x1A04: "main", 0x1C01: "NtClose", 0x1903: "jump",
		0x1B02: "@ILT+2816(main)"} {
		got, ok, err := f.Lookup(t.Context(), rva)
		if err != nil || !ok || got.Function != want {
			t.Errorf("%#x is in %q (%v, %v), want %q", rva, got.Function, ok, err, want)
		}
	}
	info := f.Info()
	if want := "44332211665588770102030405060708" + "1"; info.DebugID != want || info.InfoAge != 3 ||
		info.SizeOfImage != 0x6000 {
		t.Errorf("the info is %+v, want the id %s", info, want)
	}
}

// TestReaderLarge asks for addresses of a larger program, behind a hole.
func TestReaderLarge(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "large.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s, err := pdbtest.Large(out, pdbtest.LargeSize{Bytes: 3_000_000, Hole: 5 << 30, PageSize: 16384})
	if err != nil {
		t.Fatal(err)
	}
	info, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := pdb.Open(out, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	rvas := make([]uint32, 500)
	for i := range rvas {
		rvas[i] = s.Random(r)
	}
	slices.Sort(rvas) // At is quickest for addresses in ascending order
	for _, rva := range rvas {
		want, _ := s.At(rva)
		got, ok, err := f.Lookup(t.Context(), rva)
		if err != nil || !ok || location(got) != text(want) {
			t.Fatal(fmt.Sprintf("%#x", rva), location(got), "want", text(want), err)
		}
	}
}
