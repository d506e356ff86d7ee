package pdb_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// Every PDB of native code opens; portable PDBs of .NET are refused by name.
func TestOpen(t *testing.T) {
	for _, path := range corpusPDBs(t) {
		f, err := pdb.OpenFile(path)
		var e *evidence.Error
		if errors.As(err, &e) && e.Code == pdb.CodePortable {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if i := f.Info(); len(i.DebugID) < 33 || i.Quality == "" || i.Quality == pdb.QualityNone && i.Note == "" {
			t.Errorf("%s: %+v", path, i)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

var tableHeader = regexp.MustCompile(`^#pdb=\S+ key=(\S+) omap=(\d+)`)

// The ids of PDBs are those that the reference reader found, and those of their images.
func TestDebugIDs(t *testing.T) {
	tables, err := filepath.Glob(filepath.Join(corpus.Path(t, "symbols", "expected"), "*.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tables {
		file := pdbOf(t, path)
		if file == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m := tableHeader.FindSubmatch(text)
		f, err := pdb.OpenFile(file)
		if err != nil || m == nil {
			t.Fatal(path, err, m)
		}
		if i := f.Info(); i.DebugID != string(m[1]) || i.OMAP != !bytes.Equal(m[2], []byte("0")) {
			t.Errorf("%s: %s, OMAP %v; want %s, %s", file, i.DebugID, i.OMAP, m[1], m[2])
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The note of a PDB says what limits it.
func TestInfo(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(p *pdbtest.Program)
		check   func(i pdb.Info) bool
		quality pdb.Quality
		note    string
	}{
		"private": {func(*pdbtest.Program) {}, func(i pdb.Info) bool { return i.Bits == 64 && i.PageSize == 4096 },
			pdb.QualityPrivate, ""},
		"stripped": {func(p *pdbtest.Program) { p.Stripped = true }, func(i pdb.Info) bool { return i.Stripped },
			pdb.QualityPublic, ""},
		"FASTLINK": {func(p *pdbtest.Program) { p.FastLink = true }, func(i pdb.Info) bool { return i.FastLink },
			pdb.QualityPublic, "mspdbcmf.exe"},
		"compiler's": {func(p *pdbtest.Program) { p.NoSymbols = true },
			func(i pdb.Info) bool { return i.TypesOnly && !i.Unfinished }, pdb.QualityNone, "compiler's PDB"},
		"managed": {func(p *pdbtest.Program) { p.Machine = 0xC0EE },
			func(i pdb.Info) bool { return i.Managed && !i.Unfinished }, pdb.QualityNone, ".NET"},
		"interrupted": {func(p *pdbtest.Program) { *p = pdbtest.Program{NoSymbols: true} },
			func(i pdb.Info) bool { return i.Unfinished }, pdb.QualityNone, "interrupted"},
		"no sections": {func(p *pdbtest.Program) { p.NoSections = true },
			func(i pdb.Info) bool { return i.NoSections && i.SizeOfImage == 0 }, pdb.QualityPrivate, "addresses need the image"},
	} {
		p := pdbtest.Sample()
		c.change(p)
		i := openProgram(t, p).Info()
		if !c.check(i) || i.Quality != c.quality || (c.note == "") != (i.Note == "") || !strings.Contains(i.Note, c.note) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// Without section headers no address is guessed; with the section headers of the image addresses are found.
func TestUseSections(t *testing.T) {
	p := pdbtest.Sample()
	p.NoSections = true
	f := openProgram(t, p)
	_, _, err := f.Lookup(t.Context(), 0x1810)
	var e *evidence.Error
	if !errors.As(err, &e) || e.Code != pdb.CodeNoSections {
		t.Errorf("without sections: %v", err)
	}
	f = openProgram(t, p)
	if err := f.UseSections([]pdb.Section{{Name: ".text", RVA: 0x1000, Size: 0x1000}}); err != nil {
		t.Fatal(err)
	}
	if l, ok, err := f.Lookup(t.Context(), 0x1810); err != nil || !ok || l.Function != "main" {
		t.Errorf("with sections: %+v %v %v", l, ok, err)
	}
	if err := openSample(t).UseSections(nil); err == nil {
		t.Error("sections of its own are replaced")
	}
}

// Allocation sites are given by their return addresses.
func TestAllocationSites(t *testing.T) {
	sites := map[uint32]string{}
	if err := openSample(t).AllocationSites(t.Context(), func(ret uint32, typ string) error {
		sites[ret] = typ
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(sites) != 2 || sites[0x1000+0x10+0x46] != "shop::Item" || sites[0x1000+0x10+0x4A] != "void" {
		t.Errorf("%#x", sites)
	}
}

// A compressed PDB gives the same locations as the plain one.
func TestMSFZ(t *testing.T) {
	t.Parallel()
	for _, method := range []pdbtest.Compression{pdbtest.Stored, pdbtest.Zstd, pdbtest.Deflate} {
		for _, chunk := range []int{100, 1 << 12, 1 << 20} {
			b, err := pdbtest.Sample().MSFZ(method, chunk)
			if err != nil {
				t.Fatal(err)
			}
			f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
			if err != nil || f.Info().Format != pdb.FormatMSFZ {
				t.Fatalf("method %d, chunks of %d: %v", method, chunk, err)
			}
			for rva := uint32(0x1000); rva < 0x2000; rva++ {
				if want, ok := pdbtest.Sample().At(rva); ok {
					if l, _, err := f.Lookup(t.Context(), rva); err != nil || told(l) != expected(want) {
						t.Fatalf("method %d, chunks of %d: %#x: %s %v", method, chunk, rva, told(l), err)
					}
				}
			}
		}
	}
}
