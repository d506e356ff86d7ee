package pdbtest_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/symbols/pdb/pdbtest"
)

func written(t testing.TB, p *pdbtest.Program) []byte {
	t.Helper()
	b, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSame writes a program twice.
func TestSame(t *testing.T) {
	if !bytes.Equal(written(t, pdbtest.Sample()), written(t, pdbtest.Sample())) {
		t.Error("the same program gives different bytes")
	}
}

func TestAt(t *testing.T) {
	for name, c := range map[string]struct {
		offset uint32
		want   string
	}{
		"last of two lines at one offset": {0x10, `shop::Cart::add+0x0 c:\shop\cart.cpp:11`},
		"other file":                      {0x34, `shop::Cart::add+0x24 c:\shop\item.h:5`},
		"inlined": {0x60,
			`shop::Item::total c:\shop\item.h:101 < shop::Cart::add+0x50 c:\shop\cart.cpp:14`},
		"inlined twice": {0x63,
			`std::max<int> c:\vc\algorithm:8 < shop::Item::total c:\shop\item.h:101 < shop::Cart::add+0x53 c:\shop\cart.cpp:14`},
		"outside its parent": {0x70,
			`std::max<int> c:\shop\item.h:9 < shop::Item::total c:\shop\item.h:0 < shop::Cart::add+0x60 c:\shop\cart.cpp:14`},
		"folded":            {0x12F, `shop::audit+0x2f :0`},
		"thunk":             {0x905, `jump+0x5 :0`},
		"behind a function": {0x840, ""},
	} {
		got := ""
		if truth, ok := pdbtest.Sample().At(0x1000 + c.offset); ok {
			got = text(truth)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func text(t pdbtest.Truth) string {
	var frames []string
	for _, s := range t.Inlines {
		frames = append(frames, fmt.Sprintf("%s %s:%d", s.Function, s.File, s.Line))
	}
	return strings.Join(append(frames, fmt.Sprintf("%s+%#x %s:%d", t.Function, t.Displacement, t.File, t.Line)), " < ")
}

func TestOMAP(t *testing.T) {
	p := pdbtest.Sample()
	p.Original = p.Sections
	p.OMAP = &pdbtest.OMAP{
		ToSource:   []pdbtest.Mapping{{0x1000, 0x1800}, {0x1040, 0}, {0x1050, 0x1010}},
		FromSource: []pdbtest.Mapping{{0x1010, 0x1050}, {0x1800, 0x1000}},
	}
	for rva, want := range map[uint32]string{0x1008: "main", 0x1048: "", 0x1050: "shop::Cart::add"} {
		if got, _ := p.At(rva); got.Function != want {
			t.Errorf("%#x is in %q, want %q", rva, got.Function, want)
		}
	}
	written(t, p)
}

// TestMistakes describes programs that cannot be written.
func TestMistakes(t *testing.T) {
	sized := pdbtest.Sample()
	sized.PageSize = 1000
	unknown := pdbtest.Sample()
	unknown.Modules[0].Exports = nil
	for name, p := range map[string]*pdbtest.Program{"page size": sized, "import": unknown} {
		if _, err := p.PDB(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLarge writes a PDB behind a hole of 5 GiB, which takes up as little of the disk as without.
func TestLarge(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "large.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const hole = 5 << 30
	s, err := pdbtest.Large(f, pdbtest.LargeSize{Bytes: 1, Hole: hole, PageSize: 8192})
	if err != nil {
		t.Fatal(err)
	}
	header := make([]byte, 56)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, 56), header); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() < hole ||
		!strings.HasPrefix(string(header), "Microsoft C/C++ MSF 7.00\r\n\x1aDS") {
		t.Errorf("the file begins with %q and has %d bytes: %v", header, info.Size(), err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		rva := s.Random(r)
		truth, ok := s.At(rva)
		again, _ := s.At(rva)
		if !ok || truth.Line == 0 || truth.File == "" || text(truth) != text(again) {
			t.Errorf("%#x is %s", rva, text(truth))
		}
	}
	if _, ok := s.At(0); ok {
		t.Error("the headers are a function")
	}
}

// TestPages looks at the pages of streams: none is a free page map, none is used twice.
func TestPages(t *testing.T) {
	p := pdbtest.Sample()
	p.PageSize = 512
	for i := range 9000 {
		p.Publics = append(p.Publics,
			pdbtest.Public{Name: fmt.Sprintf("public%d", i), Address: pdbtest.Address{Section: 1, Offset: uint32(i)}})
	}
	b := written(t, p)
	if len(b)%512 != 0 {
		t.Fatalf("%d bytes are no pages", len(b))
	}
	word := func(at int) int {
		return int(uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24)
	}
	var directory []byte
	for i := range (word(44) + 511) / 512 {
		page := word(word(52)*512 + 4*i)
		directory = append(directory, b[page*512:page*512+512]...)
	}
	b = directory
	streams, at := word(0), 4+4*word(0)
	var pages []int
	for s := range streams {
		for range (word(4+4*s) + 511) / 512 {
			pages = append(pages, word(at))
			at += 4
		}
	}
	slices.Sort(pages)
	for i, page := range pages {
		if page%512 == 0 && page == 0 || page%512 == 1 || page%512 == 2 || i > 0 && page == pages[i-1] {
			t.Errorf("page %d is not for streams, or for two", page)
		}
	}
	if len(pages) < 600 {
		t.Errorf("%d pages", len(pages))
	}
}

func BenchmarkLarge(b *testing.B) {
	for b.Loop() {
		f, err := os.Create(filepath.Join(b.TempDir(), "large.pdb"))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := pdbtest.Large(f, pdbtest.LargeSize{Bytes: 10_000_000}); err != nil {
			b.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
