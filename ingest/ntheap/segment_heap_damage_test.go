package ntheap_test

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// damagedRecipes are small ones, plain and with stacks.
func damagedRecipes() map[string]ntheaptest.Recipe {
	all := segmentRecipes()
	for name, r := range all {
		r.Segments, r.Blocks, r.SegmentHeaps = 1, 8, 1
		if r.Windows.Build < 16299 { // they have one kind of segments
			r.Segments = 3
		}
		all[name] = r
	}
	return all
}

// written is memory with other bytes at one address.
func written(m ntheap.Memory, at uint64, b ...byte) ntheap.Memory {
	return &patchedMemory{m, []patch{{at, b}}}
}

// patchedMemory is memory with other bytes here and there; it copies nothing.
type patchedMemory struct {
	ntheap.Memory
	patches []patch
}

type patch struct {
	at    uint64
	bytes []byte
}

func (m *patchedMemory) ReadMemory(p []byte, addr uint64) (int, error) {
	n, err := m.Memory.ReadMemory(p, addr)
	for _, c := range m.patches {
		for i, v := range c.bytes {
			if off := c.at + uint64(i) - addr; off < uint64(n) {
				p[off] = v
			}
		}
	}
	return n, err
}

// segmentPages are the pages of a process that hold structures of segment heaps: their first, those of segments, those
// in which subsegments begin, and those of the tree.
func segmentPages(t testing.TB, made *ntheaptest.Process, o *outcome) []uint64 {
	t.Helper()
	var pages []uint64
	for i, w := range o.walks {
		if w.Facts.Kind != ntheap.KindSegment {
			continue
		}
		handle := o.heaps.List[i].Handle
		pages = append(pages, handle)
		tree := handle + made.Windows.LargeTree()
		root := pointerAt(made, tree)
		if probe := make([]byte, 1); root == 0 || o.heaps.List[i].Facts().Reserved == 0 {
			continue
		} else if _, err := made.Memory.ReadMemory(probe, root); err != nil {
			root ^= tree
		}
		pages = append(pages, root&^0xFFF)
		for _, s := range w.Segments {
			pages = append(pages, s.Address, s.Address+0x1000)
			for _, d := range descriptors(made, s) {
				pages = append(pages, d.address&^0xFFF)
			}
		}
	}
	return pages
}

func pointerAt(made *ntheaptest.Process, at uint64) uint64 {
	b := make([]byte, 8)
	_, _ = made.Memory.ReadMemory(b[:made.Windows.Bits/8], at) // what is not there reads as 0
	return binary.LittleEndian.Uint64(b)
}

// A descriptor is the first of a range, spelled by hand.
type descriptor struct {
	at, address, size uint64
	flags             uint8
	flagsAt, unitsAt  uint64
}

func descriptors(made *ntheaptest.Process, s ntheap.Segment) []descriptor {
	stride, flags, units := uint64(0x20), uint64(0x18), uint64(0x1f)
	old := made.Windows.Build < 16299
	switch {
	case made.Windows.Bits == 32:
		stride, flags, units = 0x10, 0xc, 0xf
	case old:
		units = 0x1b
	}
	var all []descriptor
	for i := uint64(made.Windows.FirstUnit(uint64(bits.TrailingZeros64(s.Size / 256)))); i < 256; {
		b := make([]byte, stride)
		at := s.Address + i*stride
		if _, err := made.Memory.ReadMemory(b, at); err != nil || b[units] == 0 {
			panic("the descriptors of a segment that was made cannot be read")
		}
		said := b[flags] & 0x1F
		if old { // what the later ones would say
			said = b[flags]>>2&3 | [0x40]uint8{1: 2 << 2, 0x20: 3 << 2}[b[flags]&0x21]
		}
		all = append(all, descriptor{at, s.Address + i*s.Size/256, uint64(b[units]) * s.Size / 256, said,
			at + flags, at + units})
		i += uint64(b[units])
	}
	return all
}

// TestSegmentHeapMissingPages takes pages away: the rest is read, and every loss is reported.
func TestSegmentHeapMissingPages(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for name, r := range damagedRecipes() {
		t.Run(name, func(t *testing.T) {
			made := ntheaptest.Make(r)
			whole := read(t, process(made))
			random := rand.New(rand.NewPCG(r.Seed, 7))
			missing := map[uint64]bool{}
			for _, s := range whole.walks[1].Segments {
				for at := s.Address + 0x1000; at < s.Address+s.Size; at += 0x1000 { // the first page has the list
					missing[at] = random.IntN(4) == 0
				}
			}
			p := process(made)
			p.Memory = without(made.Memory, missing)
			o := read(t, p)
			checkInside(t, &o)
			found := map[uint64]bool{}
			for _, b := range o.blocks {
				found[b.Address] = true
			}
			truth, lost := map[uint64]bool{}, 0
			for _, b := range made.Blocks {
				truth[b.Address] = true
				if b.Heap != made.Heaps[1].Handle || found[b.Address] {
					continue
				}
				if lost++; !o.told(b.Address) {
					t.Errorf("block %x is missing, and no gap tells", b)
				}
			}
			for _, b := range o.blocks {
				if !truth[b.Address] {
					t.Errorf("block %x was not made", b)
				}
			}
			if lost == 0 || lost == len(made.Blocks) {
				t.Errorf("%d of %d blocks are missing", lost, len(made.Blocks))
			}
		})
	}
}

// TestSegmentHeapBitFlips changes bits of structures. Nothing may run away, and what is found must keep the laws.
func TestSegmentHeapBitFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, r := range damagedRecipes() {
		t.Run(name, func(t *testing.T) {
			made := ntheaptest.Make(r)
			whole := read(t, process(made))
			pages := segmentPages(t, made, &whole)
			random := rand.New(rand.NewPCG(r.Seed, 8))
			deadline := time.AfterFunc(time.Minute, func() { panic("a walk does not end: " + name) })
			defer deadline.Stop()
			for range 8 {
				p := process(made)
				m := &patchedMemory{Memory: made.Memory}
				for range 1 + random.IntN(20) {
					at := pages[random.IntN(len(pages))] + uint64(random.IntN(0x1000))
					b := make([]byte, 1)
					_, _ = made.Memory.ReadMemory(b, at) // what is not there is not patched
					m.patches = append(m.patches, patch{at, []byte{b[0] ^ 1<<random.IntN(8)}})
				}
				p.Memory = m
				o := read(t, p)
				checkInside(t, &o)
			}
		})
	}
}

// TestSegmentHeapCircles bends the list of segments and the tree of large allocations, pointer by pointer, to
// themselves and to each other.
func TestSegmentHeapCircles(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for name, r := range damagedRecipes() {
		if r.Stacks {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r.Blocks, r.Segments = 3, 2
			made := ntheaptest.Make(r)
			whole := read(t, process(made))
			width := made.Windows.Bits / 8
			handle := made.Heaps[1].Handle
			var places []uint64
			for off := 0x40; off < 0x240; off += width {
				places = append(places, handle+uint64(off))
			}
			for _, s := range whole.walks[1].Segments {
				places = append(places, s.Address, s.Address+uint64(width))
			}
			nodes := segmentPages(t, made, &whole)[1]
			size := uint64(0x28)
			if width == 4 {
				size = 0x18
			}
			for n := range uint64(r.Virtual) {
				for field := range uint64(3) {
					places = append(places, nodes+n*size+field*uint64(width))
				}
			}
			random := rand.New(rand.NewPCG(r.Seed, 9))
			for range 24 {
				from, to := places[random.IntN(len(places))], places[random.IntN(len(places))]
				if random.IntN(4) == 0 {
					to = from
				}
				if random.IntN(3) == 0 {
					to ^= from
				}
				b := make([]byte, width)
				put(b, to, width)
				p := process(made)
				p.Memory = written(made.Memory, from, b...)
				o := read(t, p)
				checkInside(t, &o)
				if len(o.blocks) > len(made.Blocks)+1 { // a pointer may pass for a large allocation
					t.Errorf("%d blocks were read of %d", len(o.blocks), len(made.Blocks))
				}
			}
		})
	}
}

// TestSegmentHeapKeys damages the data that keys are inferred from. One segment in three may have another signature.
// Where no subsegments agree, or no key fits the chunks, their blocks become gaps and all other blocks are found.
func TestSegmentHeapKeys(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 11, Segments: 3,
		Blocks: 8, SegmentHeaps: 1})
	whole := read(t, process(made))
	random := rand.New(rand.NewPCG(11, 10))
	var signatures, offsets, chunks patchedMemory
	for i, s := range whole.walks[1].Segments {
		if i%3 == 0 {
			signatures.patches = append(signatures.patches, patch{s.Address + 0x10, []byte{byte(i), 2, 3, 4, 5, 6, 7, 8}})
		}
		for _, d := range descriptors(made, s) {
			for page := d.address; page < d.address+d.size && d.flags == 3|2<<2; page += d.size {
				offsets.patches = append(offsets.patches,
					patch{page + 0x28, binary.LittleEndian.AppendUint32(nil, random.Uint32())})
			}
			if d.flags == 3|3<<2 {
				chunks.patches = append(chunks.patches,
					patch{d.address + 0x30, binary.LittleEndian.AppendUint64(nil, random.Uint64())})
			}
			if d.flags == 3|3<<2 { // subsegments that are chunks would give the key: their bytes that say so
				for at := d.address + 0x30; at < d.address+d.size; {
					size := (pointerAt(made, at) ^ at ^ made.SegmentKey) >> 16 & 0xFFFF * 16
					if pointerAt(made, at+size-8)>>48&0xA000 == 0x2000 {
						offsets.patches = append(offsets.patches,
							patch{at + 0x38, binary.LittleEndian.AppendUint32(nil, random.Uint32())})
					}
					at += size
				}
			}
		}
	}
	for name, m := range map[string]*patchedMemory{"signatures": &signatures, "offsets": &offsets, "chunks": &chunks} {
		t.Run(name, func(t *testing.T) {
			m.Memory = made.Memory
			p := process(made)
			p.Memory = m
			o := read(t, p)
			checkInside(t, &o)
			lfh := o.walks[1].Areas[ntheap.LFH].Count
			found := map[uint64]bool{}
			for _, b := range o.blocks {
				found[b.Address] = true
			}
			for _, b := range made.Blocks {
				if told := o.told(b.Address); !found[b.Address] && (name == "signatures" || b.Place == "backend" || !told) {
					t.Errorf("block %x is missing, and told so: %t", b, told)
				}
			}
			if name == "offsets" && (lfh != 0 || !strings.Contains(o.walks[1].Gaps[0].Why, "could not be inferred")) {
				t.Errorf("%d blocks, gaps %v", lfh, o.walks[1].Gaps)
			}
			if name == "chunks" &&
				(o.walks[1].Areas[ntheap.VS].Count != 0 || !strings.Contains(o.walks[1].Gaps[0].Why, "could not be inferred")) {
				t.Errorf("%+v, gaps %v", o.walks[1].Areas, o.walks[1].Gaps)
			}
			if name == "signatures" && (len(o.walks[1].Gaps) > 0 || len(o.walks[1].Warnings) == 0) {
				t.Errorf("gaps %v, warnings %v", o.walks[1].Gaps, o.walks[1].Warnings)
			}
		})
	}
}

// TestSegmentHeapLies changes one number at a time. A warning names the kind of damage, and lost bounds the blocks it
// costs.
func TestSegmentHeapLies(t *testing.T) {
	r := damagedRecipes()["10.0.22631 x64 stacks=false"]
	r.Segments = 2 // most signatures must be right
	made := ntheaptest.Make(r)
	whole := read(t, process(made))
	of := func(kind uint8) (all []descriptor) {
		for _, s := range whole.walks[1].Segments {
			for _, d := range descriptors(made, s) {
				if d.flags == kind {
					all = append(all, d)
				}
			}
		}
		return all
	}
	segment := whole.walks[1].Segments[0].Address
	const block, lfh, vs = 3, 3 | 2<<2, 3 | 3<<2
	for _, test := range []struct {
		name  string
		at    uint64
		bytes []byte
		code  capture.Code
		lost  int // blocks at most
	}{
		{"a segment with another signature", segment + 0x10, []byte{1, 2, 3, 4, 5, 6, 7, 8}, capture.Inconsistent, 0},
		{"a range of no units", of(block)[0].unitsAt, []byte{0}, capture.Malformed, 1},
		{"a range beyond its segment", of(block)[0].unitsAt, []byte{255}, capture.Malformed, 1},
		{"a range over others", of(block)[0].unitsAt, []byte{200}, capture.Inconsistent, len(made.Blocks)},
		{"more unused than there is", of(block)[0].at + 4, []byte{255, 255, 255, 255}, capture.Inconsistent, 1},
		{"a range that begins nowhere", of(vs)[0].flagsAt, []byte{1 | 3<<2}, capture.Malformed, len(made.Blocks)},
		{"more blocks of one size than fit", of(lfh)[0].address + 0x22, []byte{255, 255},
			capture.PartialHeap, len(made.Blocks)},
		{"no blocks of one size", of(lfh)[0].address + 0x22, []byte{0, 0}, capture.PartialHeap, len(made.Blocks)},
		{"blocks of another size", of(lfh)[0].address + 0x28, []byte{1, 2, 3, 4}, capture.PartialHeap, len(made.Blocks)},
		{"chunks without a mark", of(vs)[0].address + 0x22, []byte{1, 2}, capture.PartialHeap, len(made.Blocks)},
		{"a chunk with other sizes", of(vs)[0].address + 0x30, []byte{0, 0, 0, 0, 0, 0, 0, 0}, capture.Malformed, 1},
		{"a large allocation in a segment", segmentPages(t, made, &whole)[1] + 0x18,
			binary.LittleEndian.AppendUint64(nil, segment), capture.Inconsistent, 1},
		{"too few pages", made.Heaps[1].Handle + 0x88, []byte{0x10, 0, 0, 0}, capture.Inconsistent, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := process(made)
			m := &patchedMemory{made.Memory, []patch{{test.at, test.bytes}}}
			if test.name == "too few pages" { // as many of them free would be too many
				m.patches = append(m.patches, patch{made.Heaps[1].Handle + 0x90, make([]byte, 8)})
			}
			p.Memory = m
			o := read(t, p)
			checkInside(t, &o)
			said := false
			for _, w := range o.walks[1].Warnings {
				said = said || w.Code == test.code
			}
			if !said {
				t.Errorf("no %s in %v", test.code, o.walks[1].Warnings)
			}
			if lost := len(made.Blocks) - len(o.blocks); lost > test.lost || lost < -2 {
				t.Errorf("it costs %d of %d blocks", lost, len(made.Blocks))
			}
		})
	}
}

// TestSegmentHeapOfTerabytes: a walk ends soon although a large block claims the size of the heap, which claims 128 TB.
func TestSegmentHeapOfTerabytes(t *testing.T) {
	r := damagedRecipes()["10.0.22631 x64 stacks=false"]
	r.Virtual = 1
	made := ntheaptest.Make(r)
	handle := made.Heaps[1].Handle
	node := pointerAt(made, handle+0x48)
	if node&^0xFFF == handle || pointerAt(made, node) == 0 && pointerAt(made, node+0x20) == 0 { // it is encoded
		node ^= handle + 0x48
	}
	p := process(made)
	p.Memory = &patchedMemory{made.Memory, []patch{
		{handle + 0x80, binary.LittleEndian.AppendUint64(nil, 1<<35)},
		{node + 0x18, binary.LittleEndian.AppendUint64(nil, 0x7000_0000_0000)},
		{node + 0x20, binary.LittleEndian.AppendUint64(nil, 0x1_0000_0000<<12)},
	}}
	deadline := time.AfterFunc(time.Minute, func() { panic("a walk does not end") })
	defer deadline.Stop()
	o := read(t, p)
	if b := o.walks[1].Facts.Blocks; b.Count != 1 || b.Bytes < 1<<40 {
		t.Errorf("large blocks %+v", b)
	}
}
