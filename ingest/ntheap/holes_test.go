package ntheap_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// TestWrongHoles spoils the descriptor of an uncommitted range. An impossible descriptor is ignored and costs only the
// blocks behind the range; a possible one hides blocks, which the counters of the heap reveal.
func TestWrongHoles(t *testing.T) {
	for _, v := range []*ntheaptest.Windows{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, Segments: 2, Blocks: 100})
		_, heap := openOne(t, process(made))
		walked, err := heap.Walk(t.Context(), func(ntheap.Block) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		segment := walked.Segments[1]
		first, second := segment.Holes[0], segment.Holes[1]
		width, last := uint64(v.Bits/8), map[int]uint64{32: 0x20, 64: 0x40}[v.Bits]
		descriptor := first.Address - last + 2*width // the block's data
		for _, test := range []struct {
			name          string
			address, size uint64
			warning       string
			hides         bool
		}{
			{"unaligned", first.Address + 8, first.Size, "were ignored", false},
			{"outside", segment.Address - 0x10000, first.Size, "were ignored", false},
			{"too large", first.Address, segment.Size, "were ignored", false},
			{"overlapping another", first.Address, second.Address - first.Address + 0x1000, "were ignored", true},
			{"hiding a page", first.Address, first.Size + 0x1000, "could not be looked into", true},
			{"nowhere", 0, 0, "were ignored", false},
		} {
			t.Run(v.Name+" "+test.name, func(t *testing.T) {
				p := process(made)
				p.Memory = edited(made.Memory, func(at uint64, b []byte) {
					for i, value := range []uint64{test.address, test.size} {
						if off := descriptor + (4+uint64(i))*width - at; off < uint64(len(b)) {
							put(b[off:], value, int(width))
						}
					}
				})
				o := read(t, p)
				var said []string
				for _, w := range o.walks[0].Warnings {
					said = append(said, w.Message)
				}
				if !strings.Contains(strings.Join(said, "\n"), test.warning) {
					t.Errorf("warnings %q", said)
				}
				if test.hides {
					o.blocks = nil // what is hidden is not told as a gap
					return
				}
				checkLoss(t, &o, made.Blocks)
			})
		}
	}
}
