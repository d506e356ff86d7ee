package ntheap_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// outcome is what was read of a damaged process.
type outcome struct {
	heaps  *ntheap.SideHeaps
	blocks []ntheaptest.Block
	walks  []*ntheap.WalkResult
}

// read opens and walks what there is. It must end by itself.
func read(t testing.TB, p ntheap.Process) outcome {
	t.Helper()
	var o outcome
	o.heaps, _ = ntheap.Open(t.Context(), p) // damage may leave no heap
	for _, heap := range o.heaps.List {
		walked, err := heap.Walk(t.Context(), func(b ntheap.Block) error {
			o.blocks = append(o.blocks, ntheaptest.Block{Heap: heap.Handle, Address: b.Address, Size: b.Size,
				Place: b.Area.String(), Stack: o.heaps.Stack(b.Trace, nil)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if f := walked.Facts; f.Busy.Count < 0 || f.Busy.Bytes < 0 || f.Busy.Overhead < 0 || f.Walked < 0 ||
			f.Free.Bytes < 0 || f.Virtual < 0 || f.Committed < 0 {
			t.Errorf("facts %+v", f)
		}
		o.walks = append(o.walks, walked)
	}
	return o
}

// told reports whether an address lies in a gap.
func (o *outcome) told(addr uint64) bool {
	for _, w := range o.walks {
		for _, gap := range w.Gaps {
			if addr-uint64(gap.Address) < uint64(gap.Bytes) {
				return true
			}
		}
	}
	return false
}

// checkLoss checks that what was read is true, and that what was not read is told.
func checkLoss(t *testing.T, o *outcome, truth []ntheaptest.Block) {
	t.Helper()
	want := map[uint64]ntheaptest.Block{}
	for _, b := range truth {
		want[b.Address] = b
	}
	for _, b := range o.blocks {
		if w, left := want[b.Address]; !left || !same(b, w) {
			t.Errorf("block %x, want %x", b, w)
		}
		delete(want, b.Address)
	}
	for _, b := range truth {
		if _, missing := want[b.Address]; missing && !o.told(b.Address-1) {
			t.Errorf("block %x is missing, and no gap tells", b)
		}
	}
}

// TestMissingPages takes pages away: the rest is read, and every loss is reported.
func TestMissingPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, r := range recipes() {
		t.Run(name, func(t *testing.T) {
			r.Virtual = 0
			made := ntheaptest.Make(r)
			random := rand.New(rand.NewPCG(r.Seed, 2))
			segments := map[uint64]bool{} // pages without headers and lists
			_, heap := openFirst(t, made)
			walked, err := heap.Walk(t.Context(), func(ntheap.Block) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			s := walked.Segments[1]
			for at := s.Address + 0x1000; at < s.Holes[0].Address-0x1000; at += 0x1000 {
				segments[at] = random.IntN(3) == 0
			}
			p := process(made)
			p.Memory = without(made.Memory, segments)
			o := read(t, p)
			// Of a block that reaches into a missing page only the address is certain, and a list of free blocks may end there.
			partly := func(b ntheaptest.Block) bool {
				size := max(b.Size, 0x100) // what ends it is behind its data
				return segments[b.Address&^0xFFF] || segments[(b.Address+size+32)&^0xFFF]
			}
			truth := map[uint64]bool{}
			for _, b := range made.Blocks {
				truth[b.Address] = true
			}
			o.blocks = slices.DeleteFunc(o.blocks, func(b ntheaptest.Block) bool { return r.Windows.Old() && !truth[b.Address] })
			for i, b := range o.blocks {
				if whole := slices.IndexFunc(made.Blocks,
					func(w ntheaptest.Block) bool { return w.Address == b.Address }); whole >= 0 && partly(made.Blocks[whole]) {
					o.blocks[i] = made.Blocks[whole]
				}
			}
			checkLoss(t, &o, made.Blocks)
		})
	}
}

func openFirst(t *testing.T, made *ntheaptest.Process) (*ntheap.SideHeaps, *ntheap.Heap) {
	t.Helper()
	heaps, err := ntheap.Open(t.Context(), process(made))
	if err != nil || len(heaps.List) == 0 {
		t.Fatalf("open: %v", err)
	}
	return heaps, heaps.List[0]
}

// without is memory that lacks pages.
func without(m ntheaptest.Memory, missing map[uint64]bool) ntheaptest.Memory {
	var out ntheaptest.Memory
	for _, r := range m {
		for at := r.Start; at < r.Start+r.Size; at += 0x1000 {
			if missing[at&^0xFFF] {
				continue
			}
			b := make([]byte, min(0x1000, r.Start+r.Size-at))
			if n, _ := r.Bytes.ReadAt(b, int64(at-r.Start)); n < len(b) {
				panic("short")
			}
			out = append(out, ntheaptest.Range{Start: at, Size: uint64(len(b)), Bytes: bytes.NewReader(b)})
		}
	}
	return out
}

// TestBrokenEntries spoils one entry at a time: all others are still found. Entries before Vista have no checksum.
func TestBrokenEntries(t *testing.T) {
	for name, r := range recipes() {
		if r.Windows.Old() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r.Heaps, r.Segments, r.Blocks, r.Virtual = 1, 2, 60, 0
			made := ntheaptest.Make(r)
			for i := 0; i < len(made.Blocks); i += 29 {
				if made.Blocks[i].Place != "backend" {
					continue
				}
				entry := entryOf(made, made.Blocks[i].Address)
				b := make([]byte, 1)
				if _, err := made.Memory.ReadMemory(b, entry); err != nil {
					t.Fatal(err)
				}
				p := process(made)
				p.Memory = written(made.Memory, entry, b[0]^0x41)
				o := read(t, p)
				checkLoss(t, &o, made.Blocks)
				if lost := len(made.Blocks) - len(o.blocks); lost > 2 {
					t.Errorf("one spoilt entry costs %d blocks", lost)
				}
				if w := o.walks[0]; w.Facts.BadEntries == 0 || len(w.Warnings) == 0 {
					t.Errorf("nothing is said: %+v", w.Facts)
				}
			}
		})
	}
}

// entryOf is the address of the last 8 bytes of a block's entry, which precede the block's data, or the prefix before
// the data.
func entryOf(made *ntheaptest.Process, block uint64) uint64 {
	b := make([]byte, 2)
	if _, err := made.Memory.ReadMemory(b, block-2); err != nil {
		panic(err)
	}
	if b[0] == 2 && b[1] == 5 {
		block -= uint64(made.Windows.Bits / 2)
	}
	return block - 8
}

// edited is memory that was changed.
func edited(m ntheaptest.Memory, edit func(at uint64, b []byte)) ntheaptest.Memory {
	return m.Map(func(start uint64, b []byte) []byte { edit(start, b); return b })
}

// TestBitFlips changes bits anywhere. Whatever they say, the walk of a few hundred KB ends soon.
func TestBitFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, r := range recipes() {
		t.Run(name, func(t *testing.T) {
			r.Heaps, r.Segments, r.Blocks, r.Virtual, r.PageHeap = 1, 2, 30, 1, !r.Windows.Old() && r.Seed%2 == 0
			made := ntheaptest.Make(r)
			random := rand.New(rand.NewPCG(r.Seed, 3))
			for range 6 {
				p := process(made)
				p.Memory = edited(made.Memory, func(_ uint64, b []byte) {
					for range 1 + random.IntN(1+len(b)/256) {
						b[random.IntN(len(b))] ^= 1 << random.IntN(8)
					}
				})
				read(t, p)
			}
		})
	}
}

// TestCircles bends lists into circles, link by link: each pointer comes to lead to itself.
func TestCircles(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, r := range recipes() {
		if !r.Stacks || !r.LFH {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r.Heaps, r.Segments, r.Blocks, r.Virtual, r.PageHeap = 1, 3, 8, 2, !r.Windows.Old()
			made := ntheaptest.Make(r)
			width := r.Windows.Bits / 8
			links := pointers(made, width)
			for i := range links {
				b := make([]byte, width)
				put(b, links[i].to, width)
				p := process(made)
				p.Memory = written(made.Memory, links[i].at, b...)
				o := read(t, p)
				if len(o.blocks) > 2*len(made.Blocks) {
					t.Errorf("%d blocks were read of %d", len(o.blocks), len(made.Blocks))
				}
			}
		})
	}
}

// pointers are the pointers in a heap's header and those that they lead to, each with its own address as the wrong
// target.
func pointers(made *ntheaptest.Process, width int) (links []struct{ at, to uint64 }) {
	heap := made.Heaps[0].Handle
	b := make([]byte, 0x700)
	if _, err := made.Memory.ReadMemory(b, heap); err != nil {
		panic(err)
	}
	for off := 0; off+width <= len(b); off += width {
		v := uint64(binary.LittleEndian.Uint32(b[off:]))
		if width == 8 {
			v = binary.LittleEndian.Uint64(b[off:])
		}
		var probe [8]byte
		if n, _ := made.Memory.ReadMemory(probe[:width], v); v != 0 && n == width {
			links = append(links, struct{ at, to uint64 }{heap + uint64(off), heap + uint64(off)}, struct{ at, to uint64 }{v, v})
		}
	}
	return links
}

func put(b []byte, v uint64, width int) {
	if width == 8 {
		binary.LittleEndian.PutUint64(b, v)
	} else {
		binary.LittleEndian.PutUint32(b, uint32(v))
	}
}
