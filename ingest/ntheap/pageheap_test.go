package ntheap_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// pageHeap is a process with a page heap, and that heap as it is opened.
func pageHeap(t *testing.T, v *ntheaptest.WindowsVersion) (*ntheaptest.Process, uint64) {
	t.Helper()
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: v, Stacks: true, PageHeap: true, Blocks: 60})
	for _, h := range made.Heaps {
		if h.Page {
			return made, h.Handle
		}
	}
	t.Fatal("no page heap was made")
	return nil, 0
}

// walkOne opens a process and walks one of its heaps.
func walkOne(t *testing.T, p ntheap.Process, handle uint64) ([]ntheaptest.Block, *ntheap.WalkResult) {
	t.Helper()
	heaps, err := ntheap.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, heap := range heaps.List {
		if heap.Handle != handle {
			continue
		}
		var blocks []ntheaptest.Block
		walked, err := heap.Walk(t.Context(), func(b ntheap.Block) error {
			blocks = append(blocks, ntheaptest.Block{Heap: handle, Address: b.Address, Size: b.Size, Place: b.Area.String(),
				Stack: heaps.Stack(b.Trace, nil)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return blocks, walked
	}
	t.Fatalf("no heap %#x", handle)
	return nil, nil
}

func of(blocks []ntheaptest.Block, handle uint64) (some []ntheaptest.Block) {
	for _, b := range blocks {
		if b.Heap == handle {
			some = append(some, b)
		}
	}
	return some
}

// TestDamagedTree searches for the marks of blocks where their tree cannot be followed, or runs in a circle.
func TestDamagedTree(t *testing.T) {
	for _, v := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		made, handle := pageHeap(t, v)
		width := v.Bits / 8
		table := handle + 0x1000 + map[int]uint64{32: 0x20, 64: 0x38}[v.Bits]
		root := make([]byte, 8)
		if _, err := made.Memory.ReadMemory(root[:width], table+uint64(2*width)); err != nil {
			t.Fatal(err)
		}
		node := binary.LittleEndian.Uint64(root)
		for name, change := range map[string]struct{ at, to uint64 }{
			"no root":       {table + uint64(2*width), 0x10},
			"circle":        {node + uint64(width), node},
			"other parent":  {node, node},
			"one child":     {node + uint64(width), read64(made, node+uint64(2*width), width)},
			"missing child": {node + uint64(2*width), 0x123450},
		} {
			t.Run(v.Name+" "+name, func(t *testing.T) {
				p := process(made)
				p.Memory = edited(made.Memory, func(at uint64, b []byte) {
					if change.at-at < uint64(len(b)) {
						put(b[change.at-at:], change.to, width)
					}
				})
				blocks, walked := walkOne(t, p, handle)
				compareBlocks(t, blocks, of(made.Blocks, handle))
				if len(walked.Warnings) == 0 || walked.Warnings[0].Code != capture.Inconsistent {
					t.Errorf("warnings %v", walked.Warnings)
				}
			})
		}
	}
}

func read64(made *ntheaptest.Process, at uint64, width int) uint64 {
	var b [8]byte
	if _, err := made.Memory.ReadMemory(b[:width], at); err != nil {
		panic(err)
	}
	return binary.LittleEndian.Uint64(b[:])
}

// TestWrongMarks: a mark that contradicts the tree causes a warning, and a block that the program has freed is skipped.
func TestWrongMarks(t *testing.T) {
	made, handle := pageHeap(t, ntheaptest.Win10x64)
	full, light := of(made.Blocks, handle)[3], of(made.Blocks, made.Heaps[len(made.Heaps)-1].Handle)[3]
	p := process(made)
	p.Memory = edited(made.Memory, func(at uint64, b []byte) {
		for _, change := range []struct{ at, to uint64 }{{full.Address - 0x40, 0xABCDBBBA},
			{light.Address - 0x40, 0xABCDAAA9}} {
			if change.at-at < uint64(len(b)) {
				put(b[change.at-at:], change.to, 4)
			}
		}
	})
	blocks, walked := walkOne(t, p, handle)
	compareBlocks(t, blocks, of(made.Blocks, handle)) // the tree is believed
	if len(walked.Warnings) != 1 || walked.Warnings[0].Code != capture.Inconsistent ||
		walked.Warnings[0].Place != fmt.Sprintf("address %#x", full.Address) {
		t.Errorf("warnings %v", walked.Warnings)
	}
	freed, after := walkOne(t, p, light.Heap)
	_, before := walkOne(t, process(made), light.Heap)
	if a, b := after.Facts.Free, before.Facts.Free; a.Count != b.Count+1 || a.Bytes < b.Bytes+int64(light.Size)+0x40 ||
		after.Facts.Busy.Count != before.Facts.Busy.Count-1 {
		t.Errorf("a freed block of %d bytes: %+v are free, %+v before", light.Size, a, b)
	}
	for _, b := range freed {
		if b.Address == light.Address || b.Address == light.Address-0x40 {
			t.Errorf("freed block %x", b)
		}
	}
	if len(freed) != len(of(made.Blocks, light.Heap))-1 {
		t.Errorf("%d blocks, %d were made", len(freed), len(of(made.Blocks, light.Heap)))
	}
}

// TestUnlistedPageHeap finds a page heap by its link and by reservations, where the PEB lists its ordinary heap only.
func TestUnlistedPageHeap(t *testing.T) {
	made, handle := pageHeap(t, ntheaptest.Win10x64)
	p := process(made)
	var listed [8]byte
	binary.LittleEndian.PutUint64(listed[:], handle)
	p.Memory = edited(made.Memory, func(at uint64, b []byte) {
		if i := bytes.Index(b, listed[:]); i >= 0 && len(b) == 0x1000 && i < 0x20 { // the list of heaps
			put(b[i:], made.Heaps[len(made.Heaps)-1].Handle, 8)
		}
	})
	blocks, _ := walkOne(t, p, handle)
	compareBlocks(t, blocks, of(made.Blocks, handle))
}
