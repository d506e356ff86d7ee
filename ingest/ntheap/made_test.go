package ntheap_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// process describes a made process as Open takes it.
func process(p *ntheaptest.Process) ntheap.Process {
	v := p.Windows
	var bases []uint64
	for _, r := range p.Reservations {
		bases = append(bases, r.Base)
	}
	return ntheap.Process{
		Memory: p.Memory, PEB: p.PEB, Bits: v.Bits, Version: ntheap.Version{Major: v.Major, Minor: v.Minor, Build: v.Build},
		Code: p.Code, Candidates: bases,
	}
}

// recipes are processes of every version: plain, with stacks, with the low-fragmentation heap, and with both.
func recipes() map[string]ntheaptest.Recipe {
	all := map[string]ntheaptest.Recipe{}
	for i, v := range ntheaptest.NTHeapVersions {
		for kind := range 4 {
			r := ntheaptest.Recipe{Windows: v, Seed: uint64(i*4 + kind), Stacks: kind&1 != 0, LFH: kind&2 != 0, Heaps: 2,
				Segments: 3, Blocks: 120, Virtual: 2}
			all[fmt.Sprintf("%s stacks=%t LFH=%t", v.Name, r.Stacks, r.LFH)] = r
		}
	}
	return all
}

func TestMadeHeaps(t *testing.T) {
	for name, r := range recipes() {
		t.Run(name, func(t *testing.T) { checkAll(t, ntheaptest.Make(r)) })
	}
}

// checkAll walks all heaps of a process that was made and compares them with the truth.
func checkAll(t *testing.T, made *ntheaptest.Process) {
	t.Helper()
	heaps, err := ntheap.Open(t.Context(), process(made))
	if err != nil || len(heaps.Gaps) > 0 || !told(made, heaps.Notes) {
		t.Fatalf("open: %v, gaps %v, notes %q", err, heaps.Gaps, heaps.Notes)
	}
	var got []ntheaptest.Block
	for _, heap := range heaps.List {
		before := len(got)
		walked, err := heap.Walk(t.Context(), func(b ntheap.Block) error {
			got = append(got, ntheaptest.Block{Heap: heap.Handle, Address: b.Address, Size: b.Size, Place: b.Area.String(),
				Stack: heaps.Stack(b.Trace, nil)})
			return nil
		})
		if err != nil || len(walked.Gaps)+len(walked.Warnings) > 0 {
			t.Errorf("heap %#x: %v, gaps %v, warnings %v", heap.Handle, err, walked.Gaps, walked.Warnings)
		}
		i := slices.IndexFunc(made.Heaps, func(h ntheaptest.Heap) bool { return h.Handle == heap.Handle })
		if i < 0 {
			t.Errorf("nobody made heap %#x", heap.Handle)
			continue
		}
		compareHeap(t, &made.Heaps[i], walked)
		checkPlaces(t, got[before:], walked)
	}
	if len(heaps.List) != len(made.Heaps) {
		t.Errorf("%d heaps, want %d", len(heaps.List), len(made.Heaps))
	}
	compareBlocks(t, got, made.Blocks)
}

// told reports whether the notes on a process name nothing unusual, except heaps that the PEB of 24H2 does not list.
func told(made *ntheaptest.Process, notes []string) bool {
	if made.Windows.Build < 26100 || len(made.Heaps) == 1 {
		return len(notes) == 0
	}
	return len(notes) == 1 && strings.Contains(notes[0], "the PEB lists 1 of the ")
}

func compareHeap(t *testing.T, want *ntheaptest.Heap, walked *ntheap.WalkResult) {
	t.Helper()
	f := walked.Facts
	if f.Reserved != int64(want.Reserved) || f.Committed != int64(want.Committed) ||
		f.Walked != int64(want.Committed-want.Front+want.Decommitted) {
		t.Errorf("heap %#x: reserved %#x, committed %#x, walked %#x; want %#x and %#x", want.Handle, f.Reserved, f.Committed,
			f.Walked, want.Reserved, want.Committed)
	}
	if f.Free.Count != int64(want.Free) || walked.FreeLFH.Count != int64(want.FreeLFH) ||
		len(walked.Segments) != want.Segments {
		t.Errorf("heap %#x: %d free, %d free in the LFH, %d segments; want %+v", want.Handle, f.Free.Count,
			walked.FreeLFH.Count, len(walked.Segments), want)
	}
	if f.Free.Count == 0 && f.LargestFree != 0 ||
		f.Free.Count > 0 && (f.LargestFree <= 0 ||
			f.Kind != ntheap.KindSegment && (f.LargestFree > f.Free.Bytes || f.LargestFree*f.Free.Count < f.Free.Bytes)) {
		t.Errorf("heap %#x: the largest of %+v free is %d bytes", want.Handle, f.Free, f.LargestFree)
	}
	for _, s := range walked.Segments {
		uncommitted := uint64(0)
		for _, o := range s.Holes {
			uncommitted += o.Size
		}
		if s.Walked+uncommitted != s.Size {
			t.Errorf("segment %#x: %#x walked and %#x uncommitted are not the whole %#x", s.Address,
				s.Walked, uncommitted, s.Size)
		}
	}
}

// checkPlaces checks that every block lies in an extent of its heap, and that the blocks add up to the heap's facts.
func checkPlaces(t *testing.T, blocks []ntheaptest.Block, walked *ntheap.WalkResult) {
	t.Helper()
	sum := int64(0)
	for _, b := range blocks {
		sum += int64(b.Size)
		if !slices.ContainsFunc(walked.Extents, func(x ntheap.Extent) bool {
			return b.Address-x.Address < x.Size && b.Address+b.Size <= x.Address+x.Size
		}) {
			t.Errorf("block %x lies in no extent", b)
		}
	}
	own := walked.Areas[ntheap.Bookkeeping]
	if f := walked.Facts; f.Busy.Count != int64(len(blocks))+own.Count || f.Busy.Bytes != sum+own.Bytes {
		t.Errorf("%d blocks of %d bytes were handed out; facts %+v, own %+v", len(blocks), sum, f.Busy, own)
	}
}

func compareBlocks(t *testing.T, got, want []ntheaptest.Block) {
	t.Helper()
	order := func(a, b ntheaptest.Block) int { return cmp.Compare(a.Address, b.Address) }
	got, want = slices.SortedFunc(slices.Values(got), order), slices.SortedFunc(slices.Values(want), order)
	if len(got) != len(want) {
		t.Errorf("%d blocks, want %d", len(got), len(want))
	}
	wrong := 0
	for i := range min(len(got), len(want)) {
		if !same(got[i], want[i]) {
			if wrong++; wrong > 3 {
				return
			}
			t.Errorf("block %x, want %x", got[i], want[i])
		}
	}
}

func same(a, b ntheaptest.Block) bool {
	return a.Heap == b.Heap && a.Address == b.Address && a.Size == b.Size && a.Place == b.Place &&
		slices.Equal(a.Stack, b.Stack)
}

// TestTwoSides walks both sides of a process that runs under WOW64 in one address space.
func TestTwoSides(t *testing.T) {
	wow := small(ntheaptest.Win10x86)
	native := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Blocks: 20,
		Base: 0x1_0000_0000, TEB32: wow.TEB})
	both := ntheaptest.Join(wow.Memory, native.Memory)
	wow.Memory, native.Memory = both, both
	if got := read64(native, native.TEB, 8); got != wow.TEB {
		t.Errorf("the TEB leads to %#x, want %#x", got, wow.TEB)
	}
	checkAll(t, wow)
	checkAll(t, native)
}

func TestPageHeap(t *testing.T) {
	for i, v := range ntheaptest.NTHeapVersions {
		if v.Old() {
			continue
		}
		for _, stacks := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stacks=%t", v.Name, stacks), func(t *testing.T) {
				checkAll(t, ntheaptest.Make(ntheaptest.Recipe{Windows: v, Seed: uint64(i), Stacks: stacks, PageHeap: true,
					LFH: true, Heaps: 1, Segments: 2, Blocks: 80, Virtual: 1}))
			})
		}
	}
}
