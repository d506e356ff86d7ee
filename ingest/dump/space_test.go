package dump_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// The stretches of the map add up to the sums by use.
func TestMapOfTheAddressSpace(t *testing.T) {
	for _, windows := range []*ntheaptest.WindowsVersion{ntheaptest.Win10x64, ntheaptest.Win7x86} {
		p := ntheaptest.Make(ntheaptest.Recipe{Windows: windows, Seed: 6, Heaps: 2, Segments: 2, Blocks: 40, Virtual: 1})
		d := dumptest.Of(p, dumptest.Program{Private: []uint64{1 << 20, 1 << 20}})
		s := readBytes(t, d.Bytes()).Memory.Space
		sums := map[capture.UseName]capture.UseTotal{}
		for i := range s.Map.Stretches {
			at := &s.Map.Stretches[i]
			use := at.Use
			if use == capture.UseUnreached { // a part of the heaps
				use = capture.UseHeap
			}
			u := sums[use]
			u.Reserved, u.Committed = u.Reserved+at.Taken, u.Committed+at.Committed
			sums[use] = u
		}
		for _, u := range s.Uses {
			if got := sums[u.Name]; u.Name != capture.UseFree && (got.Reserved != u.Reserved || got.Committed != u.Committed) {
				t.Errorf("%s: %s has %d bytes in the map, %d committed; want %+v", windows.Name, u.Name,
					got.Reserved, got.Committed, u)
			}
		}
		if _, ok := sums[capture.UseFree]; ok || s.Map.Grain != 0 || int(s.Bits) != windows.Bits {
			t.Errorf("%s: %d bits, grain %d, free in the map is %t", windows.Name, s.Bits, s.Map.Grain, ok)
		}
		heap := slices.IndexFunc(s.Map.Stretches, func(at capture.AddressRange) bool {
			return at.Use == capture.UseHeap ||
				at.Use == capture.UseUnreached
		})
		if heap < 0 || !slices.ContainsFunc(p.Heaps,
			func(h ntheaptest.Heap) bool { return uint64(s.Map.Stretches[heap].Address) <= h.Handle }) {
			t.Errorf("%s: no heap lies where one was made", windows.Name)
		}
	}
}

// The map marks parts of heaps that mostly hold blocks without a pointer, unless the dump was not searched for
// pointers.
func TestBlocksWithoutAPointerInTheMap(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 6, Heaps: 1, Segments: 1,
		Blocks: 40, Virtual: 2})
	large := slices.DeleteFunc(slices.Clone(p.Blocks), func(b ntheaptest.Block) bool { return b.Size < 256<<10 })
	if len(large) != 2 {
		t.Fatalf("%d large blocks", len(large))
	}
	useAt := func(s *capture.Space, address uint64) capture.UseName {
		for i := range s.Map.Stretches {
			if at := &s.Map.Stretches[i]; uint64(at.Address) <= address && address < at.End() {
				return at.Use
			}
		}
		return ""
	}
	middle := func(b ntheaptest.Block) uint64 { return b.Address + b.Size/2 }
	s := readBytes(t, dumptest.Of(p, dumptest.Program{Roots: []uint64{large[0].Address}}).Bytes()).Memory.Space
	if kept, lost := useAt(s, middle(large[0])), useAt(s, middle(large[1])); kept != capture.UseHeap ||
		lost != capture.UseUnreached {
		t.Errorf("a block with a pointer lies in %s, one without in %s", kept, lost)
	}
	var unreached int64
	for i := range s.Map.Stretches {
		if s.Map.Stretches[i].Use == capture.UseUnreached {
			unreached += s.Map.Stretches[i].Taken
		}
	}
	if size := int64(large[1].Size); unreached < size-2*64<<10 || unreached > size+2*64<<10+int64(p.Heaps[0].Committed) {
		t.Errorf("%d bytes are without a pointer, the block has %d", unreached, size)
	}
	s = readBytes(t, dumptest.Of(p, dumptest.Program{NoVariables: true}).Bytes()).Memory.Space
	if use := useAt(s, middle(large[1])); use != capture.UseHeap {
		t.Errorf("nobody looked for pointers, and the block lies in %s", use)
	}
	if use := useAt(s, 0x1000); use != "" {
		t.Errorf("something lies in the first pages: %s", use)
	}
}

// The free memory inside a heap comes from its walk, and includes free blocks of the low-fragmentation heap.
func TestFreeInsideOfHeaps(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 6, LFH: true, Heaps: 1,
		Segments: 2, Blocks: 80})
	h := readBytes(t, dumptest.Of(p, dumptest.Program{}).Bytes()).Memory.Heaps[0]
	if made := p.Heaps[0]; int(h.Free.Count) != made.Free || int(h.FreeLFH.Count) != made.FreeLFH || made.FreeLFH == 0 ||
		h.FreeLFH.Bytes == 0 || h.LargestFree == 0 || h.LargestFree > h.Free.Bytes {
		t.Errorf("%+v, the largest %d, %+v in the LFH; made were %d and %d", h.Free, h.LargestFree, h.FreeLFH,
			made.Free, made.FreeLFH)
	}
}

func TestCommitOfTheMachine(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 6, Heaps: 1, Segments: 1, Blocks: 10})
	d := dumptest.Of(p, dumptest.Program{})
	if s := readBytes(t, d.Bytes()).Memory.Space; s.MachineCommitLimit != 0 {
		t.Errorf("a dump that does not say: %+v", s)
	}
	for _, test := range []struct{ committed, limit, want uint64 }{{5 << 30, 8 << 30, 8 << 30},
		{8 << 30, 8 << 30, 8 << 30}, {9 << 30, 8 << 30, 0}, {1 << 30, 1 << 63, 0}} {
		data := make([]byte, 0x94) // MINIDUMP_SYSTEM_MEMORY_INFO_1: the size of a page, and counts of pages
		binary.LittleEndian.PutUint32(data[0x08:], 4096)
		binary.LittleEndian.PutUint64(data[0x7C:], test.committed/4096)
		binary.LittleEndian.PutUint64(data[0x84:], test.limit/4096)
		d.Extra = []minidumptest.Stream{{Type: 21, Data: data}}
		if s := readBytes(t, d.Bytes()).Memory.Space; s.MachineCommitLimit != int64(test.want) ||
			test.want > 0 && s.MachineCommit != int64(test.committed) {
			t.Errorf("%+v: %d of %d", test, s.MachineCommit, s.MachineCommitLimit)
		}
	}
}
