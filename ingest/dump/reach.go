package dump

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// A span is a piece of address space.
type span struct{ address, size uint64 }

func (s span) end() uint64 { return s.address + s.size }

// reach is the mark phase of a conservative collector. It begins with the memory that is in no heap. It follows every
// aligned word that is an address inside a busy block, and then the words of that block.
type reach struct {
	memory  memory
	word    int // bytes of a pointer
	blocks  *blocks
	low     uint64 // of all blocks
	width   uint64 // from low to behind the last
	marked  []uint64
	scanned atomic.Int64
	ranges  []span // memory that is there, by address
	most    int64  // bytes that are searched at most: blocks that overlap would be searched again and again
	alone   view   // of rounds that are not shared out
}

// markers is how many goroutines mark at once.
const markers = 2

// rootChunk is how much of the roots one of them takes at a time.
const rootChunk = 4 << 20

// errEndless says that there is no end to searching: damaged heaps claim the same memory many times.
var errEndless = errors.New("dump: blocks overlap so much that following pointers has no end")

func newReach(m memory, ranges []span, bits int, b *blocks) *reach {
	r := &reach{memory: m, ranges: ranges, word: bits / 8, blocks: b, marked: make([]uint64, (b.n+63)/64),
		low: ^uint64(0), alone: view{memory: m}}
	high := uint64(0)
	for _, first := range [...]int{0, b.n - len(b.large)} {
		if first < b.n {
			r.low = min(r.low, b.at(first).address)
		}
	}
	if small := b.n - len(b.large); small > 0 {
		last := b.at(small - 1)
		high = last.end()
	}
	for i := range b.large {
		high = max(high, b.large[i].end())
	}
	r.width = high - min(r.low, high)
	r.most = 1 << 30
	for _, s := range ranges {
		r.most += 4 * int64(s.size)
	}
	return r
}

// run marks what the roots and the words lead to.
func (r *reach) run(ctx context.Context, roots []span, words []uint64) error {
	if r.blocks.n == 0 {
		return nil
	}
	var frontier []uint32
	for _, w := range words {
		frontier = r.mark(frontier, w)
	}
	roots = chunks(roots)
	found, err := r.each(ctx, len(roots), func(i int) span { return roots[i] })
	if err != nil {
		return err
	}
	for frontier = append(frontier, found...); len(frontier) > 0; frontier = found {
		slices.Sort(frontier) // neighbours are read together
		found, err = r.each(ctx, len(frontier), func(i int) span {
			b := r.blocks.at(int(frontier[i]))
			return span{b.address, b.size}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chunks cuts spans into pieces that can be shared out.
func chunks(spans []span) (list []span) {
	for _, s := range spans {
		for s.size > rootChunk {
			list = append(list, span{s.address, rootChunk})
			s.address, s.size = s.address+rootChunk, s.size-rootChunk
		}
		list = append(list, s)
	}
	return list
}

// each scans n spans on several cores and returns the blocks that they lead to.
func (r *reach) each(ctx context.Context, n int, at func(i int) span) ([]uint32, error) {
	const share = 64 // spans that are taken at once
	if n <= share {  // a long list is as many rounds of one block each
		var found []uint32
		for i := range n {
			var err error
			if found, err = r.scan(ctx, &r.alone, found, at(i)); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	var taken atomic.Int64
	var found [markers][]uint32
	group, ctx := errgroup.WithContext(ctx)
	for k := range min(markers, (n+share-1)/share) {
		group.Go(func() error {
			v := &view{memory: r.memory}
			for {
				from := int(taken.Add(share)) - share
				if from >= n {
					return nil
				}
				for i := from; i < min(from+share, n); i++ {
					var err error
					if found[k], err = r.scan(ctx, v, found[k], at(i)); err != nil {
						return err
					}
				}
			}
		})
	}
	err := group.Wait()
	if len(found[1]) == 0 {
		return found[0], err
	}
	return slices.Concat(found[:]...), err
}

// scan marks what the words of a span point to, and appends the blocks that were not marked before.
func (r *reach) scan(ctx context.Context, v *view, next []uint32, s span) ([]uint32, error) {
	size := uint64(r.word)
	at, end := (s.address+size-1)&^(size-1), s.end()
	for n := 0; at < end; n++ {
		if n%64 == 0 && ctx.Err() != nil {
			return next, fmt.Errorf("dump: %w", context.Cause(ctx))
		}
		b := v.bytes(at, end-at)
		if len(b) < r.word { // not in the dump: what follows may be
			at = r.following(at)
			continue
		}
		if r.scanned.Add(int64(len(b))) > r.most {
			return next, errEndless
		}
		b = b[:len(b)&^(r.word-1)]
		if r.word == 8 {
			for i := 0; i+8 <= len(b); i += 8 {
				if w := binary.LittleEndian.Uint64(b[i:]); w-r.low < r.width {
					next = v.pointers.add(r, next, w)
				}
			}
		} else {
			for i := 0; i+4 <= len(b); i += 4 {
				if w := uint64(binary.LittleEndian.Uint32(b[i:])); w-r.low < r.width {
					next = v.pointers.add(r, next, w)
				}
			}
		}
		at += uint64(len(b))
	}
	return v.pointers.mark(r, next), nil
}

// following is the next address with memory behind an address without; the end of all memory where there is none.
func (r *reach) following(at uint64) uint64 {
	at = at&^(pageBytes-1) + pageBytes
	i, ok := slices.BinarySearchFunc(r.ranges, at, func(s span, a uint64) int { return cmp.Compare(s.end()-1, a) })
	switch {
	case i == len(r.ranges):
		return ^uint64(0)
	case ok:
		return at
	}
	return max(at, r.ranges[i].address)
}

// A batch is a set of words that may be pointers and are looked up together. There are far more blocks than fit into
// the processor's caches. Lookups that do not depend on each other wait for memory at the same time.
type batch struct {
	words [128]uint64
	n     int
	met   uint64 // of what is read ahead, so that it is read
}

func (p *batch) add(r *reach, next []uint32, word uint64) []uint32 {
	p.words[p.n] = word
	if p.n++; p.n == len(p.words) {
		return p.mark(r, next)
	}
	return next
}

// mark looks all of them up.
func (p *batch) mark(r *reach, next []uint32) []uint32 {
	if p.n > 8 {
		for _, w := range p.words[:p.n] {
			p.met += r.blocks.ahead(w)
		}
	}
	for _, w := range p.words[:p.n] {
		next = r.mark(next, w)
	}
	p.n = 0
	return next
}

// mark marks the block that holds an address, if any, and appends it where it was not marked before.
func (r *reach) mark(next []uint32, address uint64) []uint32 {
	i := r.blocks.find(address)
	if i < 0 {
		return next
	}
	bit := uint64(1) << (i % 64)
	if atomic.OrUint64(&r.marked[i/64], bit)&bit == 0 {
		next = append(next, uint32(i))
	}
	return next
}

// isMarked reports whether anything points to a block.
func (r *reach) isMarked(ordinal int) bool { return r.marked[ordinal/64]>>(ordinal%64)&1 == 1 }

// pageBytes is the size of a page of memory.
const pageBytes = 4096

// A view reads memory through a window that grows while it is read in order, so that scattered reads cost little and
// long ones go in large pieces.
type view struct {
	memory
	buffer []byte
	at     uint64 // of buffer[0]
	have   int
	ahead  int // bytes to read at once

	pointers batch
}

const (
	leastAhead = 4 << 10
	mostAhead  = 256 << 10
)

// bytes returns what lies at an address, at most want bytes; of 4 KB or less all that the dump has, nothing where it
// has none. They are valid until the next call.
func (v *view) bytes(address, want uint64) []byte {
	if off := address - v.at; off < uint64(v.have) && uint64(v.have)-off >= min(want, leastAhead) {
		return v.buffer[off:min(uint64(v.have), off+want)]
	}
	if near := address - v.at; near <= uint64(v.have)+leastAhead {
		v.ahead = min(2*v.ahead, mostAhead)
	} else {
		v.ahead = leastAhead
	}
	v.ahead = max(v.ahead, leastAhead, int(min(want, mostAhead)))
	if len(v.buffer) < v.ahead {
		v.buffer = make([]byte, v.ahead)
	}
	v.at = address
	v.have, _ = v.ReadMemory(v.buffer[:v.ahead], address) // what is there; the rest is looked for page by page
	return v.buffer[:min(uint64(v.have), want)]
}
