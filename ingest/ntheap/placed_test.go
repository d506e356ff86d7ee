package ntheap_test

import (
	"fmt"
	"testing"

	"heapdrift/ingest/ntheap/ntheaptest"
)

// placed is a heap with neighbours, with gaps of every width up to one that takes several free blocks, with a virtual
// block, and a heap without blocks.
func placed(v *ntheaptest.WindowsVersion) ntheaptest.PlacedRecipe {
	const first, second, apart = 0x1000_0000, 0x3000_0000, 0x5000_0000
	r := ntheaptest.PlacedRecipe{
		Windows: v, Seed: 3, Images: []ntheaptest.Image{{Name: "app.exe", Base: 0x7000_0000, Size: 0x20_0000}},
		Stacks: [][]uint64{{0x7000_1000, 0x7000_2000, 0x7000_3000}, {0x7000_1000}},
		Heaps:  []ntheaptest.PlacedHeap{{Handle: first, Reserved: 0x100_0000}, {Handle: second, Reserved: 0x2000}},
	}
	granule := uint64(v.Bits / 4)
	h, at := &r.Heaps[0], uint64(first+ntheaptest.Page)
	for i := range uint64(80) {
		h.Blocks = append(h.Blocks, ntheaptest.PlacedBlock{Address: at + v.BeforeBlock(), Size: 1 + 7*i, Stack: int(i % 2)})
		at += (v.BeforeBlock() + 1 + 7*i + granule - 1 + i%5*granule) &^ (granule - 1)
		if i == 40 {
			at += 0x30_0000
		}
	}
	h.Blocks = append(h.Blocks,
		ntheaptest.PlacedBlock{Address: apart + v.BeforeVirtual(), Size: 0x20_1234, Stack: 1, Virtual: true})
	return r
}

func TestPlacedBlocks(t *testing.T) {
	for _, v := range ntheaptest.NTHeapVersions {
		if v.Old() {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			r := placed(v)
			p := ntheaptest.Place(r)
			checkAll(t, p)
			for i, b := range r.Heaps[0].Blocks {
				if got := p.Blocks[i]; got.Address != b.Address || got.Size != b.Size ||
					fmt.Sprint(got.Stack) != fmt.Sprint(r.Stacks[b.Stack]) {
					t.Errorf("block %+v, want %+v with stack %x", got, b, r.Stacks[b.Stack])
				}
			}
		})
	}
}

// Placed memory reads the same in pieces as at once.
func TestPlacedMemoryInPieces(t *testing.T) {
	for _, r := range ntheaptest.Place(placed(ntheaptest.Win10x64)).Memory {
		whole := make([]byte, r.Size)
		if n, err := r.Bytes.ReadAt(whole, 0); n != len(whole) {
			t.Fatal(n, err)
		}
		for at := 0; at < min(len(whole), 0x3000); at += 13 {
			piece := make([]byte, min(29, len(whole)-at))
			if n, err := r.Bytes.ReadAt(piece, int64(at)); n != len(piece) || string(piece) != string(whole[at:at+n]) {
				t.Fatalf("%d bytes at %#x: %x (%v), want %x", n, r.Start+uint64(at), piece, err, whole[at:at+len(piece)])
			}
		}
		if n, err := r.Bytes.ReadAt(make([]byte, 8), int64(r.Size)-5); n != 5 || err == nil {
			t.Errorf("%d bytes before the end, %v", n, err)
		}
	}
}
