package pdb_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// plainOf unpacks an MSFZ file.
func plainOf(t testing.TB, packed []byte) []byte {
	t.Helper()
	p, err := pdb.OpenPlain(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
	if err != nil || int64(len(b)) != p.Size() {
		t.Fatalf("%d of %d bytes: %v", len(b), p.Size(), err)
	}
	return b
}

// An unpacked container gives the same locations as the PDB that it was made of, and reads the same in any pieces.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, method := range []pdbtest.Compression{pdbtest.Stored, pdbtest.Zstd, pdbtest.Deflate} {
		packed, err := pdbtest.Sample().MSFZ(method, 1<<12)
		if err != nil {
			t.Fatal(err)
		}
		b := plainOf(t, packed)
		f, err := pdb.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil || f.Info().Format != pdb.FormatMSF {
			t.Fatalf("method %d: %v", method, err)
		}
		for rva := uint32(0x1000); rva < 0x2000; rva++ {
			if want, ok := pdbtest.Sample().At(rva); ok {
				if l, _, err := f.Lookup(t.Context(), rva); err != nil || told(l) != expected(want) {
					t.Fatalf("method %d: %#x: %s %v", method, rva, told(l), err)
				}
			}
		}
		p, err := pdb.OpenPlain(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		for off := int64(0); off < p.Size(); off += 997 {
			part := make([]byte, 4099)
			n, err := p.ReadAt(part, off)
			if !bytes.Equal(part[:n], b[off:min(off+4099, p.Size())]) || (err != nil) != (n < len(part)) {
				t.Fatalf("%d bytes at %d: %v", n, off, err)
			}
		}
	}
}

// Containers that other tools made have the streams of the PDBs that they were made of. Where llvm-pdbutil is
// installed, it reads the unpacked file.
func TestPlainOfOthers(t *testing.T) {
	t.Parallel()
	dir := corpus.Path(t, "symbols/generated")
	for packed, original := range map[string]string{"demo64-o2.zstd.pdz": "demo64-o2.pdb",
		"demo64-o2.deflate.pdz": "demo64-o2.pdb"} {
		b, err := os.ReadFile(filepath.Join(dir, packed))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, original))
		if err != nil {
			t.Fatal(err)
		}
		got := plainOf(t, b)
		if err := pdb.SameStreams(want, got); err != nil {
			t.Errorf("%s: %v", packed, err)
		}
		tool, err := exec.LookPath("llvm-pdbutil")
		if err != nil {
			continue
		}
		path := filepath.Join(t.TempDir(), "a.pdb")
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), tool, "dump", "-summary", "-streams",
			path).CombinedOutput(); err != nil || !strings.Contains(string(out), "PDB Stream") {
			t.Errorf("%s: %v\n%.500s", packed, err, out)
		}
	}
}

func TestIsMSFZ(t *testing.T) {
	packed, err := pdbtest.Sample().MSFZ(pdbtest.Zstd, 1<<12)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := pdbtest.Sample().PDB()
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[bool][]byte{true: packed, false: plain} {
		if pdb.IsMSFZ(bytes.NewReader(b)) != want {
			t.Errorf("%.20q: %v", b, !want)
		}
	}
	if pdb.IsMSFZ(bytes.NewReader(packed[:20])) {
		t.Error("a beginning is taken for a container")
	}
}

// Any container gives a plain file or a coded error.
func FuzzPlain(f *testing.F) {
	for _, method := range []pdbtest.Compression{pdbtest.Stored, pdbtest.Zstd} {
		packed, err := pdbtest.Sample().MSFZ(method, 1<<10)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
		f.Add(packed[:len(packed)-7])
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		p, err := pdb.OpenPlain(bytes.NewReader(packed), int64(len(packed)))
		if err == nil {
			_, err = io.Copy(io.Discard, io.NewSectionReader(p, 0, min(p.Size(), 1<<20)))
		}
		var known *evidence.Error
		if err != nil && !errors.As(err, &known) {
			t.Error(err)
		}
	})
}
