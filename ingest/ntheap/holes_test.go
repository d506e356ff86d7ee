package ntheap_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// TestWrongHoles spoils the descriptor of an uncommitted range. An impossible descriptor is ignored and costs only the
// blocks behind the range; a possible one hides blocks, which the counters of the heap reveal.
func TestWrongHoles(t *testing.T) {
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
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
			{"hiding a page", first.Address, first.Size + 0x1000, "could not be read", true},
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

// TestSegmentLeftOut spoils the header of a segment: the segment is left out, and both a gap and a warning tell why.
func TestSegmentLeftOut(t *testing.T) {
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, Segments: 2, Blocks: 100})
		_, heap := openOne(t, process(made))
		walked, err := heap.Walk(t.Context(), func(ntheap.Block) error { return nil })
		if err != nil || len(walked.Segments) != 2 || len(walked.Gaps) != 0 {
			t.Fatalf("%v, %+v", err, walked)
		}
		at := walked.Segments[1].Address + uint64(2*v.Bits/8) // its signature
		p := process(made)
		p.Memory = edited(made.Memory, func(from uint64, b []byte) {
			if off := at - from; off < uint64(len(b)) {
				put(b[off:], 0x12345678, 4)
			}
		})
		_, heap = openOne(t, p)
		spoilt, err := heap.Walk(t.Context(), func(ntheap.Block) error { return nil })
		if err != nil || len(spoilt.Segments) != 1 {
			t.Fatalf("%v, %d segments", err, len(spoilt.Segments))
		}
		const why = "its header belongs to no segment of the heap"
		if g := spoilt.Gaps; len(g) != 1 || g[0].What != "segment" || uint64(g[0].Address) != walked.Segments[1].Address ||
			g[0].Why != why {
			t.Errorf("gaps %+v", g)
		}
		if w := spoilt.Warnings; len(w) == 0 || w[0].Code != capture.PartialHeap || !strings.Contains(w[0].Message, why) {
			t.Errorf("warnings %+v", w)
		}
	}
}
