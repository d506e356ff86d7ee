package ntheap_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// FuzzSegmentHeap changes bytes of structures: each 8 bytes of the input are a page, a place in it, and what is written
// there, at most 4 bytes.
func FuzzSegmentHeap(f *testing.F) {
	var processes []*ntheaptest.Process
	var pages [][]uint64
	for i, v := range ntheaptest.SegmentHeapVersions {
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, Seed: uint64(i), Stacks: i%2 == 0, Segments: 1, Blocks: 6,
			Virtual: 3, SegmentHeaps: 1})
		o := read(f, process(made))
		processes, pages = append(processes, made), append(pages, segmentPages(f, made, &o))
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{0, 0, 0x48, 0, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0x58, 0, 3, 0xFF, 0, 0xFF})
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		made, pages := processes[int(which)%len(processes)], pages[int(which)%len(processes)]
		m := &patchedMemory{Memory: made.Memory}
		for edit := range slices.Chunk(edits[:min(len(edits), 800)], 8) {
			if len(edit) == 8 {
				page, place := binary.LittleEndian.Uint16(edit), binary.LittleEndian.Uint16(edit[2:])
				m.patches = append(m.patches, patch{pages[int(page)%len(pages)] + uint64(place%0x1000), edit[4:]})
			}
		}
		p := process(made)
		p.Memory = m
		o := read(t, p)
		checkInside(t, &o)
		for _, w := range o.walks {
			sum := w.Facts.Busy
			for _, u := range w.Areas {
				sum = sum.Sub(u)
			}
			if sum.Count != 0 || sum.Bytes != 0 || sum.Overhead != 0 {
				t.Errorf("places do not add up to what the heap has: %+v is left", sum)
			}
		}
	})
}

// BenchmarkSegmentHeap walks a segment heap with all kinds of blocks, from memory.
func BenchmarkSegmentHeap(b *testing.B) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win11, Segments: 4, Blocks: 60,
		Virtual: 8, SegmentHeaps: 1})
	heaps, err := ntheap.Open(b.Context(), process(made))
	if err != nil {
		b.Fatal(err)
	}
	heaps.List = heaps.List[1:]
	b.SetBytes(heaps.List[0].Facts().Committed)
	b.ReportAllocs()
	blocks := 0
	for b.Loop() {
		blocks = walkAll(b, heaps)
	}
	b.ReportMetric(float64(blocks)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mblocks/s")
}
