package symbols

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/internal/corpus"
	"heapdrift/internal/symbols/index"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// BenchmarkLookupLarge looks up 10,000 random addresses in generated PDBs of 167 MB and 1 GB, opened anew each time.
func BenchmarkLookupLarge(b *testing.B) {
	for _, megabytes := range []int64{167, 1000} {
		b.Run(fmt.Sprintf("%dMB", megabytes), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "large.pdb")
			file, err := os.Create(path)
			if err != nil {
				b.Fatal(err)
			}
			made, err := pdbtest.Large(file, pdbtest.LargeSize{Bytes: megabytes * 1e6})
			if err := errors.Join(err, file.Close()); err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			rvas := make([]uint32, 10000)
			for i := range rvas {
				rvas[i] = made.Random(rng)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Lookup(b.Context(), path, rvas, func(uint32, *index.Location) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLookup looks up 10,000 random addresses in a file that is opened anew each time, as the command line does.
func BenchmarkLookup(b *testing.B) {
	path := corpus.Path(b, "symbols", "node-pty", "prebuilds", "win32-x64", "winpty.pdb")
	rng := rand.New(rand.NewPCG(1, 2))
	rvas := make([]uint32, 10000)
	for i := range rvas {
		rvas[i] = 0x1000 + rng.Uint32N(0x5F000)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Lookup(b.Context(), path, rvas, func(uint32, *index.Location) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(rvas)*b.N)/b.Elapsed().Seconds(), "look-ups/s")
}
