package capture_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
)

// Blocks that were added come back, also from an artifact, whatever their addresses and sizes are and however many
// there are.
func TestBlocksComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for name, next := range map[string]func(before uint64) uint64{
		"near":                 func(before uint64) uint64 { return before + 16*r.Uint64N(64) },
		"here and there":       func(before uint64) uint64 { return r.Uint64() >> r.IntN(64) },
		"far now and then":     func(before uint64) uint64 { return before + 1<<(r.Uint64N(1000)%34) },
		"around the last page": func(before uint64) uint64 { return -r.Uint64N(1 << 20) },
	} {
		const sites = 70_000
		for _, n := range []int{0, 1, 15, 16, 17, 1<<13 - 1, 1 << 13, 1<<13 + 1, 30_000} {
			c := snapshotOf(sites)
			for i := range c.Sites {
				c.Sites[i].Heap = capture.NoHeap
			}
			var want []capture.Block
			address := uint64(0x10000)
			for range n {
				address = next(address)
				b := capture.Block{Site: r.Uint32N(sites), Address: address, Size: r.Uint64() >> (20 + r.IntN(44))}
				want = append(want, b)
				c.Blocks.Add(b)
			}
			var artifact bytes.Buffer
			if err := c.Write(&artifact); err != nil {
				t.Fatal(err)
			}
			read, err := capture.Read(&artifact)
			if err != nil {
				t.Fatal(err)
			}
			if c.Blocks.Len() != n || !slices.Equal(slices.Collect(c.Blocks.All()), want) ||
				!slices.Equal(slices.Collect(read.Blocks.All()), want) {
				t.Errorf("%s: %d blocks are others", name, n)
			}
		}
	}
}
