package dump

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// space is memory made of pieces.
type space map[uint64][]byte

func (s space) ReadMemory(p []byte, addr uint64) (int, error) {
	n := 0
	for n < len(p) {
		got := 0
		for base, b := range s {
			if off := addr + uint64(n) - base; off < uint64(len(b)) {
				got = copy(p[n:], b[off:])
			}
		}
		if got == 0 {
			return n, errors.New("not there")
		}
		n += got
	}
	return n, nil
}

// put writes a pointer.
func (s space) put(address, value uint64, bits int) {
	for base, b := range s {
		if off := address - base; off+8 <= uint64(len(b)) {
			if bits == 64 {
				binary.LittleEndian.PutUint64(b[off:], value)
			} else {
				binary.LittleEndian.PutUint32(b[off:], uint32(value))
			}
		}
	}
}

func TestReachIsThatOfAGraph(t *testing.T) {
	for _, bits := range []int{32, 64} {
		rng := rand.New(rand.NewPCG(uint64(bits), 9))
		const heap, roots, n = 0x1000_0000, 0x2000_0000, 4000
		mem := space{heap: make([]byte, 1<<20), roots: make([]byte, 64<<10)}
		var list []block
		sealed := newBlocks()
		for i := range uint32(n) {
			list = append(list, block{heap + uint64(i)*256 + 16, 16 + rng.Uint64N(200), i})
			sealed.add(list[i])
		}
		sealed.add(block{heap + n*256 + 3, 40, n}) // of page heap, which ends at a page
		list = append(list, block{heap + n*256 + 3, 40, n})
		if err := sealed.seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		edges := map[int][]int{}
		for i := range list {
			for range rng.IntN(3) {
				to := rng.IntN(len(list))
				at := (list[i].address + 7) &^ 7
				slot := at + rng.Uint64N((list[i].end()-at)/8)*8
				mem.put(slot, list[to].address+rng.Uint64N(list[to].size), bits) // an interior pointer counts
			}
			at := (list[i].address + 7) &^ 7
			for ; at+8 <= list[i].end(); at += uint64(bits / 8) {
				if w, ok := (pointers{mem, bits}).at(at); ok && w != 0 {
					if k := sealed.find(w); k >= 0 {
						edges[i] = append(edges[i], int(sealed.at(k).owner))
					}
				}
			}
		}
		frontier := []int{5}
		for i := range uint64(40) {
			to := rng.IntN(len(list))
			frontier = append(frontier, to)
			mem.put(roots+i*1600, list[to].address, bits)
		}
		want := map[int]bool{}
		for len(frontier) > 0 {
			i := frontier[0]
			frontier = frontier[1:]
			if !want[i] {
				want[i] = true
				frontier = append(frontier, edges[i]...)
			}
		}
		var ranges []span
		for base, b := range mem {
			ranges = append(ranges, span{base, uint64(len(b))})
		}
		slices.SortFunc(ranges, compareSpans)
		r := newReach(mem, ranges, bits, sealed)
		if err := r.run(t.Context(), []span{{roots, 64 << 10}, {0x7000_0000, 8 << 20}},
			[]uint64{list[5].address + 1, 0, 1 << 63}); err != nil {
			t.Fatal(err)
		}
		for ordinal, b := range sealed.all() {
			if r.isMarked(ordinal) != want[int(b.owner)] {
				t.Errorf("%d bits: block %d: reachable is %t", bits, b.owner, want[int(b.owner)])
			}
		}
		if len(want) < 100 || len(want) == len(list) {
			t.Errorf("%d bits: %d reachable: the graph tells nothing", bits, len(want))
		}
	}
}

func TestViewReadsWhatIsThere(t *testing.T) {
	mem := space{0x1000: slices.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 4096)}
	v := view{memory: mem}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 2000 {
		at, want := 0xF00+rng.Uint64N(0x8400)&^7, 1+rng.Uint64N(5000)
		b := v.bytes(at, want)
		inside := at >= 0x1000 && at < 0x9000
		if inside != (len(b) > 0) || uint64(len(b)) > want {
			t.Fatalf("%#x: %d bytes of %d", at, len(b), want)
		}
		if inside && (b[0] != 1 || len(b) < int(min(want, leastAhead, 0x9000-at))) {
			t.Fatalf("%#x: % x", at, b[:min(8, len(b))])
		}
	}
}

// Damaged heaps may say that thousands of blocks hold the same memory: the search still ends, with an error.
func TestOverlappingBlocksHaveAnEnd(t *testing.T) {
	const base, size = 0x1000_0000, 1 << 20
	m, list := flatMemory{base, make([]byte, size)}, newBlocks()
	for i := range uint64(5000) {
		list.add(block{base + 8*i, 1 << 40, 0})
		binary.LittleEndian.PutUint64(m.bytes[8*i:], base+8*i)
	}
	if err := list.seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := newReach(m, []span{{base, size}}, 64, list)
	if r.most != 1<<30+4*size {
		t.Errorf("%d bytes would be searched", r.most)
	}
	r.most >>= 5 // as sure an end, and sooner
	if err := r.run(t.Context(), []span{{base, size}}, nil); !errors.Is(err, errEndless) {
		t.Errorf("%d bytes searched, %v", r.scanned.Load(), err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := newReach(m, []span{{base, size}}, 64, list).run(ctx, []span{{base, size}},
		nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// flatMemory is memory in one piece.
type flatMemory struct {
	base  uint64
	bytes []byte
}

func (f flatMemory) ReadMemory(p []byte, addr uint64) (int, error) {
	if addr-f.base >= uint64(len(f.bytes)) {
		return 0, errors.New("not there")
	}
	n := copy(p, f.bytes[addr-f.base:])
	if n < len(p) {
		return n, errors.New("the end")
	}
	return n, nil
}

// BenchmarkReach follows pointers through 500,000 blocks of 256 bytes. In random each block is full of pointers to any
// other, the worst that memory can hold; in chain each points to the next.
func BenchmarkReach(b *testing.B) {
	const n, size, base = 500_000, 256, 0x1000_0000
	for _, chain := range []bool{false, true} {
		name := "random"
		if chain {
			name = "chain"
		}
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			m, list := flatMemory{base, make([]byte, n*size)}, newBlocks()
			order := rng.Perm(n)
			for i := range uint64(n) {
				list.add(block{base + i*size, size, 0})
			}
			for i, at := range order {
				words := m.bytes[at*size:][:size]
				if chain {
					binary.LittleEndian.PutUint64(words, base+uint64(order[(i+1)%n])*size)
					continue
				}
				for k := 0; k < size; k += 8 {
					binary.LittleEndian.PutUint64(words[k:], base+rng.Uint64N(n*size))
				}
			}
			if err := list.seal(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(n * size)
			for b.Loop() {
				r := newReach(m, []span{{base, n * size}}, 64, list)
				if err := r.run(b.Context(), nil, []uint64{base + uint64(order[0])*size}); err != nil {
					b.Fatal(err)
				}
				if r.scanned.Load() < n*size*9/10 {
					b.Fatalf("%d bytes were searched", r.scanned.Load())
				}
			}
		})
	}
}
