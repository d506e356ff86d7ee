package pdb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// A file that is cut anywhere is read as far as it goes, or refused.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for name, b := range seeds(t) {
		step := 1
		if len(b) > 8<<10 {
			step = 7
		}
		for n := 0; n < len(b); n += step {
			exercise(t, b[:n:n])
		}
		t.Logf("%s: %d bytes", name, len(b))
	}
}

// Flipped bits cause nothing worse than a coded error.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for _, b := range seeds(t) {
		for range 200 {
			c := slices.Clone(b)
			for range 1 + random.IntN(3) {
				c[random.IntN(len(c))] ^= 1 << random.IntN(8)
			}
			exercise(t, c)
		}
	}
}

// memoryOfClaims is the most memory that reading a damaged PDB of a few KB may allocate in all.
const memoryOfClaims = 24 << 20

// Words of a file in turn claim sizes that no file has. No memory is allocated only because a file claims a size.
func TestExtremeWords(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	all := seeds(t)
	for _, name := range []string{"omap", "msfz", "msfz-zstd"} {
		b := all[name]
		for at := 0; at+4 <= len(b); at += 4 * (1 + at/256%5) {
			if slices.Equal(b[at:at+4], []byte{0, 0, 0, 0}) && at%64 != 0 {
				continue
			}
			for _, v := range []byte{0x7F, 0xFF} {
				c := slices.Clone(b)
				copy(c[at:], []byte{v, v, v, v})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				exercise(t, c)
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > memoryOfClaims {
					t.Errorf("%s with %#x at %#x takes %d bytes", name, v, at, took)
				}
			}
		}
	}
}

// Streams may share pages, with each other and with the directory.
func TestSharedPages(t *testing.T) {
	b := seeds(t)["plain"]
	word := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	page := word(32)
	directory := word(word(52)*page) * page // its first page
	streams := word(directory)
	first := directory + 4 + 4*streams // page numbers of the streams
	for shared := range len(b) / page {
		for _, step := range []int{4, 8, 12} {
			c := slices.Clone(b)
			for at := first; at < directory+page; at += step {
				binary.LittleEndian.PutUint32(c[at:], uint32(shared))
			}
			exercise(t, c)
		}
		c := slices.Clone(b)
		binary.LittleEndian.PutUint32(c[word(52)*page:], uint32(shared)) // the directory elsewhere
		exercise(t, c)
	}
}

// Files of other formats are refused by the name of their format.
func TestOtherFormats(t *testing.T) {
	for contents, code := range map[string]string{
		"": pdb.CodeNotPDB,
		"MZ\x90\x00, and no more than these some bytes":                   pdb.CodeNotPDB,
		"Microsoft C/C++ MSF 7.00\r\n\x1aDS":                              pdb.CodeTruncated,
		"Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00\x00\x10\x00\x00":  pdb.CodeTruncated,
		"Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00\x00\x04": pdb.CodePDB2,
		"BSJB\x01\x00\x01\x00":                                            pdb.CodePortable,
		"MSCF\x00\x00\x00\x00 basic":                                      pdb.CodeCabinet,
	} {
		_, err := pdb.Open(readerOf(contents), int64(len(contents)))
		var e *evidence.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%q: %v, want %s", contents, err, code)
		}
	}
}

// A walk with a context that has ended returns the context's error.
func TestCancelled(t *testing.T) {
	f := openSample(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := make([]pdb.Location, 1)
	for name, walk := range map[string]func() error{
		"Segments":        func() error { return f.LocationRanges(ctx, func(pdb.LocationRange) error { return nil }) },
		"LookupAll":       func() error { return f.LookupAll(ctx, []uint32{0x1010}, out) },
		"AllocationSites": func() error { return f.AllocationSites(ctx, func(uint32, string) error { return nil }) },
		"Type":            func() error { _, err := f.FindLayout(ctx, "shop::Item"); return err },
	} {
		if err := walk(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An error of yield ends a walk and is returned.
func TestYieldFails(t *testing.T) {
	f := openSample(t)
	if err := f.LocationRanges(t.Context(), func(pdb.LocationRange) error { return errEnough }); !errors.Is(err, errEnough) {
		t.Error(err)
	}
	if err := f.AllocationSites(t.Context(), func(uint32, string) error { return errEnough }); !errors.Is(err, errEnough) {
		t.Error(err)
	}
}

// A context that ends while a walk is under way ends it before the next area of code.
func TestCancelledInside(t *testing.T) {
	p := &pdbtest.Program{Sections: pdbtest.Standard(8 << 20)}
	for i := range 64 {
		m := pdbtest.Module{Name: fmt.Sprintf("unit%d.obj", i)}
		for k := range uint32(100) {
			m.Functions = append(m.Functions, pdbtest.Function{
				Name: fmt.Sprintf("f%d", k), Address: pdbtest.Address{Section: 1, Offset: uint32(i)<<17 + k<<8}, Length: 200,
				Allocations: []pdbtest.Allocation{{Call: pdbtest.Call{Offset: 9, Length: 5}}},
			})
		}
		p.Modules = append(p.Modules, m)
	}
	f := openProgram(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	count := 0
	err := f.LocationRanges(ctx, func(pdb.LocationRange) error {
		count++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || count > 300 {
		t.Errorf("Segments: %v behind %d segments", err, count)
	}
	ctx, cancel = context.WithCancel(t.Context())
	count = 0
	err = f.AllocationSites(ctx, func(uint32, string) error {
		count++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || count > 100 {
		t.Errorf("AllocationSites: %v behind %d sites", err, count)
	}
}

// Damage to one module costs that module's lines and nothing else.
func TestDamagedModule(t *testing.T) {
	b, err := pdbtest.Sample().PDB()
	if err != nil {
		t.Fatal(err)
	}
	const nameInHeader, symbolsInHeader = 64, 36
	header := bytes.Index(b, []byte("c:\\obj\\cart.obj\x00")) // in /names or in DBI
	for header >= 0 && binary.LittleEndian.Uint16(b[header-nameInHeader+4:]) != 1 {
		next := bytes.Index(b[header+1:], []byte("c:\\obj\\cart.obj\x00"))
		if next < 0 {
			t.Fatal("the module is not there")
		}
		header += 1 + next
	}
	binary.LittleEndian.PutUint32(b[header-nameInHeader+symbolsInHeader:], 1<<30)
	f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for rva, want := range map[uint32]string{0x1012: "?add@Cart@shop@@QEAAXXZ public 0", 0x1812: "main procedure 1"} {
		l, ok, err := f.Lookup(t.Context(), rva)
		if got := fmt.Sprintf("%s %s %d", l.Function, l.Kind, l.Line); err != nil || !ok || got != want {
			t.Errorf("%#x: %s, want %s (%v, %v)", rva, got, want, ok, err)
		}
	}
	var e *evidence.Error
	if d := f.Damage(); len(d) != 1 || !errors.As(d[0], &e) || e.Code != pdb.CodeTruncated {
		t.Errorf("damage: %v", d)
	}
}
