package symbols

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// A PDB that lacks something is reported with what it lacks, not as missing.
func TestPDBsThatLackSomething(t *testing.T) {
	const id = "010000000000000000000000000000001"
	fastLink := func(p *pdbtest.Program) { p.FastLink = true }
	noSections := func(p *pdbtest.Program) { p.NoSections = true }
	empty := func(p *pdbtest.Program) { p.Modules = nil }
	const line, export = `main+0x45 c:\till\main.cpp:12`, "main+0x45 approx"
	for name, c := range map[string]struct {
		edit    func(*pdbtest.Program)
		id      string
		image   bool
		symbols capture.SymbolKind
		match   string // its parts
		frame   string // of the second return address
	}{
		"fastlink, by id": {fastLink, id, false, capture.SymbolsPublic, "by its id|/DEBUG:FASTLINK", "main+0x45"},
		"fastlink, by name": {fastLink, "", false, capture.SymbolsPublic,
			"to confirm it. The image was linked with /DEBUG:FASTLINK", "main+0x45"},
		"no sections, by id": {noSections, id, false, capture.SymbolsNone,
			"is there and names nothing|no section headers", ""},
		"no sections, by name": {noSections, "", false, capture.SymbolsNone,
			"no till.pdb of an image of 0x6000 bytes was found", ""},
		"no sections, by id, image": {noSections, id, true, capture.SymbolsPrivate, "by its id " + id +
			", which the evidence gives", line},
		"no sections, by its image": {noSections, "", true, capture.SymbolsPrivate, "till.pdb " + id +
			"|proven: all 3 return addresses follow calls in the image", line},
		"no functions, by id": {empty, id, false, capture.SymbolsNone,
			"is there and names nothing: none of the 3 return addresses", ""},
		"no functions, by name": {empty, "", false, capture.SymbolsNone,
			"names nothing: none of the 3 return addresses", ""},
		"no functions, by id, image": {empty, id, true, capture.SymbolsExport, "nearest exports of till.exe; till.pdb " + id +
			" is there and names nothing", export},
		"no functions, by its image": {empty, "", true, capture.SymbolsExport, "nearest exports of till.exe", export},
	} {
		t.Run(name, func(t *testing.T) {
			program, s := till(1, 0, false), &shelf{}
			if c.image {
				s.put(t, "a", "till.exe", imageOf(t, program, "till.pdb"))
			}
			c.edit(program)
			s.put(t, "a", "till.pdb", pdbOf(t, program))
			for _, r := range []Resolver{{Library: s}, {Library: s, Indexes: indexes{}}} {
				got := resolve(t, r, running(tillReturns, tillModule(c.id)))
				for part := range strings.SplitSeq(c.match, "|") {
					if got.Symbols != c.symbols || !strings.Contains(got.Match, part) {
						t.Errorf("%s, %q lacks %q", got.Symbols, got.Match, part)
					}
				}
				if frame := spell(got.Frames(uint32(tillReturns[1]))); frame != c.frame {
					t.Errorf("%q, want %q", frame, c.frame)
				}
			}
		})
	}
}

// A report that symbols were not found names what stood in the way.
func TestHindrance(t *testing.T) {
	s := &search{out: &capture.Image{Tried: []capture.Attempt{
		{Place: "a", Result: ResultNotFound}, {Place: "b", Result: ResultOffline, Detail: "not asked"},
		{Place: "c", Result: ResultFailed, Detail: "no such directory"},
	}}}
	if got := s.hindrance(); got != "; but c: no such directory" {
		t.Error(got)
	}
	s.out.Tried = s.out.Tried[:2]
	if got := s.hindrance(); got != "; but b: not asked" {
		t.Error(got)
	}
	s.out.Tried = s.out.Tried[:1]
	if got := s.hindrance(); got != "" {
		t.Error(got)
	}
}

// If many builds fit, a few are named and the rest are counted.
func TestManyBuildsThatFit(t *testing.T) {
	s := &shelf{}
	for i := range 30 {
		s.put(t, fmt.Sprint(i), "till.pdb", pdbOf(t, till(byte(i), uint32(i), false)))
	}
	got := resolve(t, Resolver{Library: s}, running(tillReturns, tillModule("")))
	if !strings.Contains(got.Match, "30 files fit by name") || !strings.Contains(got.Match, ", 26 more)") ||
		len(got.Tried) != 30 {
		t.Errorf("%q, %d places", got.Match, len(got.Tried))
	}
}

func TestLegible(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "std::vector<int>::push_back": "std::vector<int>::push_back", `D:\проекты\main.cpp`: `D:\проекты\main.cpp`,
		"`string'": "`string'",
		"caf\xe9":  "caf\ufffd", "a\r\nb\tc\x1b[31m": "a\ufffd\ufffdb\ufffdc\ufffd[31m", "a\u2028b\u202ec": "a\ufffdb\ufffdc",
		"\ufffd": "\ufffd",
	} {
		if got := legible(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// Addresses in a library that its snapshot no longer lists are looked up with another snapshot of the same process.
func TestAddressesInLibrariesThatAreGone(t *testing.T) {
	program, s := till(1, 0, false), &shelf{}
	s.put(t, "a", "till.pdb", pdbOf(t, program))
	loaded, gone, stranger := running(nil, tillModule("")), running(tillReturns, tillModule("")),
		running(tillReturns, tillModule(""))
	gone.Modules, stranger.Modules, stranger.Process.PID, loaded.Process.PID = nil, nil, 8, 7
	for name, test := range map[string]struct {
		captures []*capture.Capture
		named    int
	}{"of the process": {[]*capture.Capture{loaded, gone}, len(tillReturns)},
		"of another": {[]*capture.Capture{loaded, stranger}, -1}} {
		names, err := (&Resolver{Library: s}).Resolve(t.Context(), test.captures, nil)
		if err != nil {
			t.Fatal(err)
		}
		named := -1
		if image := names.Image(tillModule("").ImageID()); image != nil {
			named = image.NamedAddresses()
		}
		if named != test.named {
			t.Errorf("%s: %d named, want %d", name, named, test.named)
		}
	}
}

// In an image without .pdata the nearest export may be that of a function far before the address: such a name is none.
func TestExportFarFromTheAddress(t *testing.T) {
	const section, begin, near, last, far = 0x4000, 0x1100, 0x1180, 0x1100 + exportReach, 0x1101 + exportReach
	code := make([]byte, section)
	for _, rva := range []int{near, last, far} {
		code[rva-0x1000-5] = 0xE8 // the call that returns there
	}
	image := petest.Image{Machine: petest.X86, Name: "old.dll", Exports: []petest.Export{{Name: "First", RVA: begin}},
		Sections: []petest.Section{{Name: ".text", RVA: 0x1000, Size: section, Characteristics: 0x60000020, Content: code},
			{Name: ".rdata", RVA: 0x5000, Size: 0x1000, Characteristics: 0x40000040}}}
	data, err := image.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{}
	s.put(t, "a", "old.dll", data)
	c := running([]uint64{near, last, far}, capture.Module{Path: `C:\till\old.dll`, Base: 0x400000, Size: 0x6000})
	c.Process.Bits = 32
	got := resolve(t, Resolver{Library: s}, c)
	for rva, want := range map[uint32]string{near: "First+0x80 approx", last: "First+0x1000 approx", far: ""} {
		if frame := spell(got.Frames(rva)); frame != want {
			t.Errorf("%#x is %q, want %q: %v", rva, frame, want, got)
		}
	}
}

// offlineShelf is a library that was not asked everywhere, and says so.
type offlineShelf struct{ *shelf }

func (a offlineShelf) Find(ctx context.Context, want Want) (*File, []capture.Attempt, error) {
	f, tried, err := a.shelf.Find(ctx, want)
	return f, append(tried, capture.Attempt{Place: "server", Result: ResultOffline, Detail: "not asked"}), err
}

// What stood in the way is named where no PDB was found. One that was found and names nothing is the reason itself.
func TestHindranceOfAnID(t *testing.T) {
	const id = "010000000000000000000000000000001"
	for name, test := range map[string]struct {
		pdb   bool
		match string
	}{
		"no PDB":                   {false, "was not found; but server: not asked"},
		"a PDB that names nothing": {true, "is there and names nothing"},
	} {
		program, s := till(1, 0, false), &shelf{}
		program.Modules = nil
		if test.pdb {
			s.put(t, "a", "till.pdb", pdbOf(t, program))
		}
		got := resolve(t, Resolver{Library: offlineShelf{s}}, running(tillReturns, tillModule(id)))
		if !strings.Contains(got.Match, test.match) || strings.Contains(got.Match, "but server") == test.pdb {
			t.Errorf("%s: %q", name, got.Match)
		}
	}
}
