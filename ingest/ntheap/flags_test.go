package ntheap_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// One bit of NtGlobalFlag says that blocks have stacks, another that heaps are page heaps, and one of a heap's own flags
// that it keeps stacks; no other bit says so.
func TestFlagsAreSingleBits(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Blocks: 5})
	for bit := range 32 {
		flag := uint32(1) << bit
		for _, c := range []struct {
			name         string
			at           uint64
			stacks, page bool
		}{
			{"NtGlobalFlag", made.PEB + 0xbc, flag == 0x1000, flag == 0x02000000},
			{"the heap's flags", made.Heaps[0].Handle + 0x70, flag == 0x08000000, false},
		} {
			p := process(made)
			bytes := make([]byte, 4)
			put(bytes, uint64(flag), 4)
			p.Memory = written(made.Memory, c.at, bytes...)
			heaps, err := ntheap.Open(t.Context(), p)
			if err != nil {
				t.Errorf("%s %#x: %v", c.name, flag, err)
			} else if heaps.StackTraces != c.stacks || heaps.PageHeap != c.page {
				t.Errorf("%s %#x: stacks %t, page heap %t", c.name, flag, heaps.StackTraces, heaps.PageHeap)
			}
		}
	}
}

// A list of heaps that cannot be read to its end, or that claims too many, is read as far as it goes, and a note says so.
func TestListOfHeaps(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Heaps: 2, Blocks: 5})
	for _, c := range []struct {
		name  string
		at    uint64
		bytes []byte
		note  string
	}{
		{"longer than its memory", made.PEB + 0xe8, []byte{0x88, 0x13}, "the PEB's list of 5000 heaps breaks off after"},
		{"of too many", made.PEB + 0xe8, []byte{0xFF, 0xFF, 0xFF, 0x7F}, "the PEB claims 2147483647 heaps; the first"},
	} {
		p := process(made)
		p.Memory = written(made.Memory, c.at, c.bytes...)
		heaps, err := ntheap.Open(t.Context(), p)
		if err != nil || !strings.Contains(strings.Join(heaps.Notes, "; "), c.note) {
			t.Errorf("%s: notes %q, %v", c.name, heaps.Notes, err)
		}
	}
}

// Where a process keeps stacks, a block of a segment heap whose record is empty is counted and has none; where nothing
// says whether it keeps them, such a block is like any other.
func TestEmptyRecords(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.SegmentHeapVersions[len(ntheaptest.SegmentHeapVersions)-1], Seed: 3,
		Stacks: true, Segments: 1, Blocks: 14, Virtual: 9, SegmentHeaps: 1})
	var emptied []patch
	want := slices.Clone(made.Blocks)
	for i, b := range want {
		if b.Place == "large" && b.Stack != nil && len(emptied) < 2 {
			emptied = append(emptied, patch{(b.Address+b.Size+15)&^15 + 2, []byte{0}}) // InterceptorIndex
			want[i].Stack = nil
		}
	}
	for _, known := range []bool{true, false} {
		p, patches := process(made), emptied
		if !known {
			p.PEB, patches = 0, append(patches, patch{made.Heaps[0].Handle + 0x70, []byte{2, 0, 0, 0}}) // Flags
		}
		p.Memory = &patchedMemory{made.Memory, patches}
		o := read(t, p)
		compareBlocks(t, o.blocks, want)
		if got := o.walks[1].Warnings; len(got) > 0 != known || known && (got[0].Code != capture.StackMissing ||
			got[0].Count != 2) {
			t.Errorf("stacks are known to be kept: %t, %+v", known, got)
		}
	}
}
