package ntheap_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// fuzzed are small processes, one for each form that heaps have.
func fuzzed() []*ntheaptest.Process {
	var all []*ntheaptest.Process
	for i, v := range ntheaptest.NTHeapVersions {
		all = append(all, ntheaptest.Make(ntheaptest.Recipe{Windows: v, Seed: uint64(i), Stacks: i%2 == 0, LFH: true,
			PageHeap: !v.Old() && i%3 == 0, Segments: 2, Blocks: 8, Virtual: 1}))
	}
	return append(all, ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.XPx86, Seed: 99, LFH: true, Segments: 2,
		Blocks: 8, Virtual: 1}))
}

// FuzzWalk changes bytes of a process: each 7 bytes of the input are a place and what is written there, at most 4
// bytes.
func FuzzWalk(f *testing.F) {
	processes := fuzzed()
	for i := range processes {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{0, 0, 0x40, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 0x18, 1, 2, 3, 4})
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		made := processes[int(which)%len(processes)]
		p := process(made)
		var total uint64
		for _, r := range made.Memory {
			total += r.Size
		}
		from := uint64(0) // of the range, in all that is committed
		p.Memory = edited(made.Memory, func(_ uint64, b []byte) {
			for edit := range slices.Chunk(edits[:min(len(edits), 700)], 7) {
				if len(edit) < 7 {
					continue
				}
				at := uint64(binary.LittleEndian.Uint32(append([]byte{0}, edit[:3]...))>>8) % total
				if off := at - from; at >= from && off < uint64(len(b)) {
					copy(b[off:], edit[3:])
				}
			}
			from += uint64(len(b))
		})
		o := read(t, p)
		for _, w := range o.walks {
			sum := ntheap.WalkResult{}
			for place, u := range w.Areas {
				sum.Areas[place] = u
				sum.Facts.Busy = sum.Facts.Busy.Add(u)
			}
			if sum.Facts.Busy != w.Facts.Busy {
				t.Errorf("places add up to %+v, the heap has %+v", sum.Facts.Busy, w.Facts.Busy)
			}
			for _, s := range w.Segments {
				if s.Walked > s.Size {
					t.Errorf("%#x bytes were walked of a segment of %#x", s.Walked, s.Size)
				}
			}
		}
	})
}
