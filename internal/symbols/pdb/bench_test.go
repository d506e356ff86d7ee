package pdb_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

const lookupsOfBenchmark = 10_000

func winpty(b *testing.B) string {
	b.Helper()
	return corpus.Path(b, "symbols", "node-pty", "prebuilds", "win32-x64", "winpty.pdb")
}

// large writes a PDB of so many bytes.
func large(b *testing.B, bytes int64) string {
	b.Helper()
	out, err := os.Create(filepath.Join(b.TempDir(), "large.pdb"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := pdbtest.Large(out, pdbtest.LargeSize{Bytes: bytes}); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Name()
}

func openFile(b *testing.B, path string) *pdb.File {
	b.Helper()
	f, err := pdb.OpenFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// randomRVAs are in the first section.
func randomRVAs(f *pdb.File) []uint32 {
	random := rand.New(rand.NewPCG(1, 2))
	text := f.Info().Sections[0]
	rvas := make([]uint32, lookupsOfBenchmark)
	for i := range rvas {
		rvas[i] = text.RVA + random.Uint32N(text.Size)
	}
	return rvas
}

func reportLookups(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(b.N)*lookupsOfBenchmark/b.Elapsed().Seconds(), "lookups/s")
}

// BenchmarkLookupCold opens the PDB anew for every 10,000 look-ups.
func BenchmarkLookupCold(b *testing.B) {
	path := winpty(b)
	for b.Loop() {
		f := openFile(b, path)
		for _, rva := range randomRVAs(f) {
			if _, _, err := f.Lookup(b.Context(), rva); err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	reportLookups(b)
}

func BenchmarkLookup(b *testing.B) {
	f := openFile(b, winpty(b))
	rvas := randomRVAs(f)
	for b.Loop() {
		for _, rva := range rvas {
			if _, _, err := f.Lookup(b.Context(), rva); err != nil {
				b.Fatal(err)
			}
		}
	}
	reportLookups(b)
}

func BenchmarkLookupAll(b *testing.B) {
	f := openFile(b, winpty(b))
	rvas := randomRVAs(f)
	out := make([]pdb.Location, len(rvas))
	for b.Loop() {
		if err := f.LookupAll(b.Context(), rvas, out); err != nil {
			b.Fatal(err)
		}
	}
	reportLookups(b)
}

func BenchmarkSegments(b *testing.B) {
	for name, path := range map[string]string{"winpty": winpty(b), "large": large(b, 30<<20)} {
		b.Run(name, func(b *testing.B) {
			st, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(st.Size())
			f := openFile(b, path)
			for b.Loop() {
				if err := f.LocationRanges(b.Context(), func(pdb.LocationRange) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpenLarge(b *testing.B) {
	path := large(b, 30<<20)
	b.ReportAllocs()
	for b.Loop() {
		if err := openFile(b, path).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
