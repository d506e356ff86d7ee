package symbols

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// shelf is a Library of files in memory. It counts how often each is opened.
type shelf struct {
	files  []*File
	mu     sync.Mutex
	opened map[string]int
	broken error // of opening
}

// memory is a file in memory as Content.
type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// put adds a file at a place.
func (s *shelf) put(t testing.TB, place, name string, data []byte) *File {
	t.Helper()
	id, err := Identify(t.Context(), name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f := &File{Identity: id, Place: place + "/" + name, Group: place, Own: true}
	f.Open = func(context.Context) (Content, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.opened == nil {
			s.opened = map[string]int{}
		}
		s.opened[f.Place]++
		return memory{bytes.NewReader(data)}, s.broken
	}
	s.files = append(s.files, f)
	return f
}

func (s *shelf) Find(_ context.Context, want Want) (*File, []capture.Attempt, error) {
	for _, f := range s.files {
		if f.Kind == KindPDB && strings.EqualFold(f.Name, want.Name) && f.DebugID == want.DebugID {
			return f, []capture.Attempt{{Place: f.Place, Result: ResultFound}}, nil
		}
	}
	return nil, []capture.Attempt{{Place: "shelf", Result: ResultNotFound}}, nil
}

func (s *shelf) FindByName(_ context.Context, names []string) ([]*File, []capture.Attempt, error) {
	var list []*File
	for _, f := range s.files {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, f.Name) }) {
			list = append(list, f)
		}
	}
	return list, nil, nil
}

// till is a program whose main allocates an Item inside an inlined call. Other builds differ in id and lines, and
// older ones lack two calls.
func till(build byte, shift uint32, old bool) *pdbtest.Program {
	const source, header = `c:\till\main.cpp`, `c:\till\item.h`
	main := pdbtest.Function{
		Name: "main", Decorated: "main", Address: pdbtest.Address{Section: 1, Offset: 0x10}, Length: 0x80,
		Lines: []pdbtest.Line{{Offset: 0, File: source, Line: 10 + shift},
			{Offset: 0x30, File: source, Line: 12 + shift}},
		Allocations: []pdbtest.Allocation{{Call: pdbtest.Call{Offset: 0x20, Length: 5}, Type: "Item"}},
		Inlines: []pdbtest.Inline{{Function: "Item::make", File: header, Line: 3, Ranges: []pdbtest.InlinedLine{
			{Offset: 0x18, Length: 0x10, Line: 4 + shift},
		}}},
	}
	if !old {
		main.Calls = []pdbtest.Call{{Offset: 0x40, Length: 5, Target: "main"}, {Offset: 0x50, Length: 5, Target: "main"}}
	}
	return &pdbtest.Program{
		GUID: [16]byte{3: build}, Age: 1, Sections: pdbtest.Standard(0x1000),
		Structs: []pdbtest.Struct{{Name: "Item", Size: 8}},
		Modules: []pdbtest.Module{{Name: "main.obj", Functions: []pdbtest.Function{main}}},
	}
}

// The return addresses of till: behind the allocation and behind both calls.
var tillReturns = []uint64{0x1010 + 0x25, 0x1010 + 0x45, 0x1010 + 0x55}

// pdbOf and imageOf write a program's files.
func pdbOf(t testing.TB, p *pdbtest.Program) []byte {
	t.Helper()
	data, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func imageOf(t testing.TB, p *pdbtest.Program, pdb string) []byte {
	t.Helper()
	image, err := petest.Of(p, pdb)
	if err != nil {
		t.Fatal(err)
	}
	data, err := image.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const tillSize = 0x6000

// running is a process that has modules and return addresses in the first of them.
func running(returns []uint64, modules ...capture.Module) *capture.Capture {
	c := &capture.Capture{Modules: modules}
	c.Process.Bits = 64
	for _, m := range modules {
		ids := c.Stacks.AddAddresses(nil, offset(returns, m.Base))
		c.Stacks.AddStack(ids)
	}
	return c
}

func offset(rvas []uint64, base uint64) []uint64 {
	list := make([]uint64, len(rvas))
	for i, rva := range rvas {
		list[i] = base + rva
	}
	return list
}

func tillModule(debugID string) capture.Module {
	return capture.Module{Path: `C:\till\till.exe`, Base: 0x7ff600000000, Size: tillSize, DebugID: debugID}
}

// spell prints the frames of a return address.
func spell(list []capture.NamedFrame) string {
	words := make([]string, len(list))
	for i, f := range list {
		words[i] = fmt.Sprintf("%s+%#x", f.Function, f.Offset)
		if f.File != "" {
			words[i] += fmt.Sprintf(" %s:%d", f.File, f.Line)
		}
		if f.Inline {
			words[i] += " inline"
		}
		if f.Type != "" {
			words[i] += " new " + f.Type
		}
		if f.Approx {
			words[i] += " approx"
		}
	}
	return strings.Join(words, "; ")
}

func TestResolve(t *testing.T) {
	const id1, id2 = "010000000000000000000000000000001", "020000000000000000000000000000001"
	const inlined, plain = `Item::make+0x0 c:\till\item.h:4 inline new Item; main+0x25 c:\till\main.cpp:10`,
		`main+0x45 c:\till\main.cpp:12`
	big := till(3, 0, false)
	big.Sections = pdbtest.Standard(0x5000)
	narrow := till(4, 0, false)
	narrow.Machine = petest.X86
	for name, c := range map[string]struct {
		shelf    func(t *testing.T, s *shelf)
		id       string
		symbols  capture.SymbolKind
		match    string // part of the sentence
		proven   bool
		used     string
		frames   [2]string // of the first two return addresses
		attempts string    // results
	}{
		"by id": {
			shelf: func(t *testing.T, s *shelf) { s.put(t, "a", "till.pdb", pdbOf(t, till(1, 0, false))) },
			id:    id1, symbols: capture.SymbolsPrivate, match: "by its id", proven: true, used: id1,
			frames: [2]string{inlined, plain}, attempts: "found",
		},
		"of another id": {
			shelf: func(t *testing.T, s *shelf) { s.put(t, "a", "till.pdb", pdbOf(t, till(2, 0, false))) },
			id:    id1, symbols: capture.SymbolsMismatch, match: "other builds", attempts: "not-found mismatch",
		},
		"the image that has the id": {
			shelf: func(t *testing.T, s *shelf) { s.put(t, "a", "till.exe", imageOf(t, till(1, 0, false), "till.pdb")) },
			id:    id1, symbols: capture.SymbolsExport, match: "nearest exports of till.exe", proven: true,
			frames: [2]string{"main+0x25 approx", "main+0x45 approx"}, attempts: "not-found",
		},
		"nothing": {
			shelf: func(*testing.T, *shelf) {}, symbols: capture.SymbolsNone, match: "no till.pdb of an image of 0x6000 bytes",
		},
		"by name and size": {
			shelf:   func(t *testing.T, s *shelf) { s.put(t, "a", "TILL.PDB", pdbOf(t, till(1, 0, false))) },
			symbols: capture.SymbolsPrivate, match: "the evidence has no id", used: id1, frames: [2]string{inlined, plain},
		},
		"proven by calls": {
			shelf: func(t *testing.T, s *shelf) {
				s.put(t, "a", "till.pdb", pdbOf(t, till(1, 0, false)))
				s.put(t, "b", "till.exe", imageOf(t, till(1, 0, false), "till.pdb"))
			},
			symbols: capture.SymbolsPrivate, match: "proven: all 3 return addresses follow calls", proven: true, used: id1,
			frames: [2]string{inlined, plain},
		},
		"told by calls from another build": {
			shelf: func(t *testing.T, s *shelf) {
				s.put(t, "a", "till.pdb", pdbOf(t, till(2, 5, true)))
				s.put(t, "a", "till.exe", imageOf(t, till(2, 5, true), "till.pdb"))
				s.put(t, "b", "till.pdb", pdbOf(t, till(1, 0, false)))
				s.put(t, "b", "till.exe", imageOf(t, till(1, 0, false), "till.pdb"))
			},
			symbols: capture.SymbolsPrivate, match: "proven: all 3", proven: true, used: id1, frames: [2]string{inlined, plain},
			attempts: "mismatch",
		},
		"another build only": {
			shelf: func(t *testing.T, s *shelf) {
				s.put(t, "a", "till.pdb", pdbOf(t, till(2, 5, true)))
				s.put(t, "a", "till.exe", imageOf(t, till(2, 5, true), "till.pdb"))
			},
			symbols: capture.SymbolsMismatch, match: "belong to other builds", attempts: "mismatch",
		},
		"two builds that calls do not tell apart": {
			shelf: func(t *testing.T, s *shelf) {
				s.put(t, "a", "till.pdb", pdbOf(t, till(1, 0, false)))
				s.put(t, "b", "till.pdb", pdbOf(t, till(2, 5, false)))
			},
			symbols: capture.SymbolsPrivate, match: "only what they agree on", frames: [2]string{"main+0x25", "main+0x45"},
			attempts: "ambiguous ambiguous",
		},
		"two builds that agree": {
			shelf: func(t *testing.T, s *shelf) {
				s.put(t, "a", "till.pdb", pdbOf(t, till(1, 0, false)))
				s.put(t, "b", "till.pdb", pdbOf(t, till(2, 0, false)))
			},
			symbols: capture.SymbolsPrivate, match: "agree on every frame", frames: [2]string{inlined, plain},
			attempts: "ambiguous ambiguous",
		},
		"another size": {
			shelf:   func(t *testing.T, s *shelf) { s.put(t, "a", "till.pdb", pdbOf(t, big)) },
			symbols: capture.SymbolsMismatch, match: "belong to other builds", attempts: "mismatch",
		},
		"another bitness": {
			shelf:   func(t *testing.T, s *shelf) { s.put(t, "a", "till.pdb", pdbOf(t, narrow)) },
			symbols: capture.SymbolsMismatch, match: "belong to other builds", attempts: "mismatch",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{}
			c.shelf(t, s)
			got := resolve(t, Resolver{Library: s}, running(tillReturns, tillModule(c.id)))
			if got.Symbols != c.symbols || !strings.Contains(got.Match, c.match) ||
				got.Proven != c.proven || got.UsedDebugID != c.used {
				t.Errorf("%s, %q, proven %v, used %s", got.Symbols, got.Match, got.Proven, got.UsedDebugID)
			}
			var attempts []string
			for _, a := range got.Tried {
				attempts = append(attempts, a.Result)
			}
			if s := strings.Join(attempts, " "); s != c.attempts {
				t.Errorf("attempts %q, want %q: %v", s, c.attempts, got.Tried)
			}
			for i, want := range c.frames {
				if s := spell(got.Frames(uint32(tillReturns[i]))); s != want {
					t.Errorf("%#x is %q, want %q", tillReturns[i], s, want)
				}
			}
		})
	}
}

// resolve returns the image of the first module.
func resolve(t *testing.T, r Resolver, c *capture.Capture) *capture.Image {
	t.Helper()
	names, err := r.Resolve(t.Context(), []*capture.Capture{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	image := names.Image(c.Modules[0].ImageID())
	if image == nil {
		t.Fatal("the module has no image")
	}
	return image
}

// A module whose image proves nothing takes the symbols that lie beside those of a proven module.
func TestNeighbours(t *testing.T) {
	s := &shelf{}
	library := func(build byte, shift uint32) *pdbtest.Program {
		p := till(build, shift, false)
		p.Modules[0].Name = "coin.obj"
		return p
	}
	s.put(t, "old", "coin.pdb", pdbOf(t, library(5, 7)))
	s.put(t, "old", "till.pdb", pdbOf(t, till(2, 5, true)))
	s.put(t, "old", "till.exe", imageOf(t, till(2, 5, true), "till.pdb"))
	s.put(t, "new", "coin.pdb", pdbOf(t, library(6, 0)))
	s.put(t, "new", "till.pdb", pdbOf(t, till(1, 0, false)))
	s.put(t, "new", "till.exe", imageOf(t, till(1, 0, false), "till.pdb"))
	coin := capture.Module{Path: `C:\till\coin.dll`, Base: 0x7ff700000000, Size: tillSize}
	got := resolve(t, Resolver{Library: s}, running(tillReturns, coin, tillModule("")))
	if got.UsedDebugID != "060000000000000000000000000000001" ||
		!strings.Contains(got.Match, "lies beside till.exe, which is proven") {
		t.Errorf("used %s: %s", got.UsedDebugID, got.Match)
	}
}

// indexes is an IndexCache in memory.
type indexes map[string][]byte

func (c indexes) Open(_ context.Context, key string) (Content, error) {
	if data, ok := c[key]; ok {
		return memory{bytes.NewReader(data)}, nil
	}
	return nil, nil
}

func (c indexes) Put(_ context.Context, key string, write func(io.Writer) error) error {
	var b bytes.Buffer
	err := write(&b)
	c[key] = b.Bytes()
	return err
}

// A PDB is read once: later runs look addresses up in its index, with the same result. A damaged index is built anew.
func TestIndexesAreKept(t *testing.T) {
	s, kept := &shelf{}, indexes{}
	pdb := s.put(t, "a", "till.pdb", pdbOf(t, till(1, 0, false)))
	c := running(tillReturns, tillModule(pdb.DebugID))
	want := resolve(t, Resolver{Library: s}, c)
	s.opened = nil
	for range 3 {
		got := resolve(t, Resolver{Library: s, Indexes: kept}, c)
		for _, rva := range tillReturns {
			if a, b := spell(got.Frames(uint32(rva))), spell(want.Frames(uint32(rva))); a != b {
				t.Errorf("%#x by the index is %q, by the PDB %q", rva, a, b)
			}
		}
	}
	if n := s.opened[pdb.Place]; n != 1 {
		t.Errorf("the PDB was opened %d times", n)
	}
	for key, data := range kept {
		kept[key] = data[:len(data)-1]
	}
	if got := resolve(t, Resolver{Library: s, Indexes: kept}, c); got.NamedAddresses() != 3 || s.opened[pdb.Place] != 2 {
		t.Errorf("behind a damaged index: %d frames, %d times opened", got.NamedAddresses(), s.opened[pdb.Place])
	}
}

// A damaged file is reported as an attempt that failed; a library that cannot be read is an error, since another try
// may help.
func TestUnreadable(t *testing.T) {
	s := &shelf{}
	data := pdbOf(t, till(1, 0, false))
	pdb := s.put(t, "a", "till.pdb", data)
	c := running(tillReturns, tillModule(pdb.DebugID))
	s.broken = errors.New("the disk is gone")
	if _, err := (&Resolver{Library: s}).Resolve(t.Context(), []*capture.Capture{c}, nil); !errors.Is(err, s.broken) {
		t.Errorf("error %v", err)
	}
	s.broken = nil
	clear(data[len(data)/4:])
	got := resolve(t, Resolver{Library: s}, c)
	if got.NamedAddresses() != 0 ||
		!slices.ContainsFunc(got.Tried, func(a capture.Attempt) bool { return a.Result == ResultFailed }) {
		t.Errorf("%d frames of a damaged PDB, attempts %v", got.NamedAddresses(), got.Tried)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Resolver{Library: s}).Resolve(ctx, []*capture.Capture{c}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Damage to a part of a PDB is reported by every run, even if its index is kept.
func TestDamagedPart(t *testing.T) {
	data := pdbOf(t, till(1, 0, false))
	const header, symbolBytes = 64, 36                            // of the module in DBI, and its field
	name := bytes.Index(data, []byte("main.obj\x00main.obj\x00")) // its name and its library's
	if name < 0 {
		t.Fatal("the module is not there")
	}
	binary.LittleEndian.PutUint32(data[name-header+symbolBytes:], 1<<30)
	s, kept := &shelf{}, indexes{}
	pdb := s.put(t, "a", "till.pdb", data)
	for _, r := range []Resolver{{Library: s}, {Library: s, Indexes: kept}, {Library: s, Indexes: kept}} {
		got := resolve(t, r, running(tillReturns, tillModule(pdb.DebugID)))
		last := got.Tried[len(got.Tried)-1]
		if last.Result != ResultFailed || !strings.Contains(last.Detail, "1 parts of it") {
			t.Errorf("attempts %v", got.Tried)
		}
		if s := spell(got.Frames(uint32(tillReturns[0]))); s != "main+0x25" {
			t.Errorf("the public symbol gives %q", s)
		}
	}
}
