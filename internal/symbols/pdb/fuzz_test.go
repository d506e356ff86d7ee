package pdb_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// seeds are small PDBs of each kind that Sample can be written as.
func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	add := func(name string, b []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	for name, change := range map[string]func(p *pdbtest.Program){
		"plain":       func(*pdbtest.Program) {},
		"stripped":    func(p *pdbtest.Program) { p.Stripped, p.KeepProcedures = true, true },
		"no-sections": func(p *pdbtest.Program) { p.NoSections = true },
		"omap": func(p *pdbtest.Program) {
			p.Original = p.Sections
			p.OMAP = &pdbtest.OMAP{
				ToSource:   []pdbtest.Mapping{{From: 0x1000, To: 0x1800}, {From: 0x1040}, {From: 0x1050, To: 0x1010}},
				FromSource: []pdbtest.Mapping{{From: 0x1010, To: 0x1050}, {From: 0x1800, To: 0x1000}},
			}
		},
	} {
		p := pdbtest.Sample()
		p.PageSize = 512
		change(p)
		b, err := p.PDB()
		add(name, b, err)
	}
	for name, method := range map[string]pdbtest.Compression{"msfz": pdbtest.Stored, "msfz-zstd": pdbtest.Zstd,
		"msfz-deflate": pdbtest.Deflate} {
		b, err := pdbtest.Sample().MSFZ(method, 1<<12)
		add(name, b, err)
	}
	return all
}

// exercise asks a PDB every question there is. Every failure must be an *evidence.Error.
func exercise(t testing.TB, b []byte) {
	t.Helper()
	check := func(what string, err error) {
		var e *evidence.Error
		if err != nil && !errors.As(err, &e) && !errors.Is(err, errEnough) {
			t.Errorf("%s: an error of no kind: %v", what, err)
		}
	}
	f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
	check("Open", err)
	if err != nil {
		return
	}
	if f.Info().NoSections {
		check("UseSections", f.UseSections([]pdb.Section{{Name: ".text", RVA: 0x1000, Size: 0x2000}}))
	}
	ctx := context.Background()
	rvas := []uint32{0, 0xFFFFFFFF, 0x100C, 0x1060, 0x1063, 0x1070, 0x1810, 0x1830, 0x1904, 0x1A03, 0x1B01, 0x1C02}
	single := make([]pdb.Location, len(rvas))
	var failed error
	for i, rva := range rvas {
		at, _, err := f.Lookup(ctx, rva)
		check("Lookup", err)
		single[i] = at
		if err != nil {
			failed = err
		}
	}
	together := make([]pdb.Location, len(rvas))
	err = f.LookupAll(ctx, rvas, together)
	check("LookupAll", err)
	if err == nil && failed == nil {
		for i := range rvas {
			if !reflect.DeepEqual(single[i], together[i]) {
				t.Errorf("%#x: Lookup %+v\nLookupAll %+v", rvas[i], single[i], together[i])
			}
		}
	}
	left := 20000
	end := uint32(0)
	check("Segments", f.LocationRanges(ctx, func(s pdb.LocationRange) error {
		if s.Start < end || s.End <= s.Start {
			t.Errorf("a segment from %#x to %#x behind one that ends at %#x", s.Start, s.End, end)
		}
		end = s.End
		if left%16 == 0 && left > 19000 && !f.Info().OMAP {
			at, ok, err := f.Lookup(ctx, s.Start)
			if err == nil && (!ok || !reflect.DeepEqual(at, s.Location)) {
				t.Errorf("%#x: Lookup %+v\nSegments %+v", s.Start, at, s.Location)
			}
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	}))
	check("AllocationSites", f.AllocationSites(ctx, func(uint32, string) error {
		if left--; left <= 0 {
			return errEnough
		}
		return nil
	}))
	for _, name := range []string{"shop::Item", "shop", ""} {
		_, err := f.FindLayout(ctx, name)
		check("Type", err)
	}
}

// errEnough ends a walk that a mutated PDB made long.
var errEnough = errors.New("enough")

func FuzzOpen(f *testing.F) {
	for name, b := range seeds(f) {
		if name != "msfz-zstd" && name != "msfz-deflate" {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { exercise(t, b) })
}

// FuzzMSFZ reads MSFZ containers whose beginning is always valid.
func FuzzMSFZ(f *testing.F) {
	for name, b := range seeds(f) {
		if strings.HasPrefix(name, "msfz") {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const magic = "Microsoft MSFZ Container\r\n\x1aALD\x00\x00\x00"
		if len(b) > 40 {
			b = append(append([]byte(magic), make([]byte, 8)...), b[40:]...)
		}
		exercise(t, b)
	})
}
