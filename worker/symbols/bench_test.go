package symbols

import (
	"math/rand/v2"
	"testing"

	"heapdrift/internal/corpus"
)

// BenchmarkLookup answers 10,000 random addresses of a file that is opened anew each time, as the command line does.
func BenchmarkLookup(b *testing.B) {
	path := corpus.Path(b, "symbols", "node-pty", "prebuilds", "win32-x64", "winpty.pdb")
	rng := rand.New(rand.NewPCG(1, 2))
	rvas := make([]uint32, 10000)
	for i := range rvas {
		rvas[i] = 0x1000 + rng.Uint32N(0x5F000)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Lookup(b.Context(), path, rvas); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(rvas)*b.N)/b.Elapsed().Seconds(), "look-ups/s")
}
