package ntheap_test

import (
	"testing"

	"heapdrift/ingest/ntheap/ntheaptest"
)

// The mark of light page heap is believed where it begins and ends as one and asks for no more than the heap's block
// has; else the block is what the heap says of it.
func TestLightMarks(t *testing.T) {
	const start, end = 0xABCDAAAA, 0xDCBAAAAA
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		stamp := map[int]struct{ size, requested, end uint64 }{32: {0x20, 0x08, 0x1c}, 64: {0x40, 0x10, 0x3c}}[v.Bits]
		made, _ := pageHeap(t, v)
		block := of(made.Blocks, made.Heaps[len(made.Heaps)-1].Handle)[3]
		mark := block.Address - stamp.size
		walked := func(start, requested, end uint64) (got ntheaptest.Block, found bool) {
			p := process(made)
			p.Memory = edited(made.Memory, func(at uint64, b []byte) {
				for _, change := range []struct {
					at, to uint64
					width  int
				}{{mark, start, 4}, {mark + stamp.requested, requested, v.Bits / 8}, {mark + stamp.end, end, 4}} {
					if change.at-at < uint64(len(b)) {
						put(b[change.at-at:], change.to, change.width)
					}
				}
			})
			blocks, _ := walkOne(t, p, block.Heap)
			for _, b := range blocks {
				if b.Address == block.Address || b.Address == mark {
					return b, true
				}
			}
			return got, false
		}
		// Without the mark the heap says how much there is: its data with the mark, and what follows them.
		plain, _ := walked(0, block.Size, 0)
		slack := plain.Size - stamp.size - block.Size
		if plain.Address != mark || plain.Size < stamp.size+block.Size || slack > 0x100 {
			t.Fatalf("%s: %+v without a mark, the block is %+v", v.Name, plain, block)
		}
		for _, test := range []struct {
			name                  string
			start, requested, end uint64
			marked                bool
		}{
			{"as made", start, block.Size, end, true},
			{"nothing asked for", start, 0, end, true},
			{"more than any heap has", start, 1 << (v.Bits - 1), end, false},
			{"no start", start ^ 1, block.Size, end, false},
			{"no end", start, block.Size, end ^ 1, false},
		} {
			got, found := walked(test.start, test.requested, test.end)
			want := plain
			if test.marked {
				want = ntheaptest.Block{Heap: block.Heap, Address: block.Address, Size: test.requested, Place: block.Place,
					Stack: block.Stack}
			}
			if !found || !same(got, want) {
				t.Errorf("%s, %s: %x, want %x", v.Name, test.name, got, want)
			}
		}
		// The most that a mark may ask for is all that the heap's block has, header included: a whole number of granules.
		most, granule := plain.Size, uint64(v.Bits/4)
		for ; most <= plain.Size+0x100; most++ {
			if got, _ := walked(start, most, end); got.Address != block.Address {
				break
			}
		}
		if most--; most < plain.Size || most > plain.Size+2*granule || most%granule != 0 {
			t.Errorf("%s: a mark may ask for %d bytes of a heap's block with %d", v.Name, most, plain.Size)
		}
	}
}
