package ntheap

import (
	"encoding/binary"
	"testing"
)

// chainMemory is 1 MB with a subsegment of chunks in it.
type chainMemory []byte

const chainBase = 0x10_0000

func (m chainMemory) ReadMemory(p []byte, addr uint64) (int, error) {
	if addr < chainBase || addr-chainBase >= uint64(len(m)) {
		return 0, errNoWord
	}
	return copy(p, m[addr-chainBase:]), nil
}

// newChainSearch looks at one subsegment that fills the memory.
func newChainSearch(t *testing.T, m chainMemory) (*keySearch, keySample) {
	t.Helper()
	layout := &segmentLayout{wide: true, granule: 16, vsUnits: 0x20, vsSignature: 0x22, vsFirst: 0x30,
		chunk: 16, chunkBits: 8}
	units := uint16(min(len(m)/16, 0xFFFF))
	binary.LittleEndian.PutUint16(m[0x20:], units)
	binary.LittleEndian.PutUint16(m[0x22:], units&0x7FFF^vsMark)
	w := &walk{ctx: t.Context(), heaps: &SideHeaps{}, heap: &Heap{}, out: &WalkResult{},
		near: newWindow(m, true, randomWindow), seq: newWindow(m, true, sequentialWindow)}
	sample := keySample{layout, 1, chainBase, uint64(len(m))}
	return &keySearch{segmentKeys: &segmentKeys{}, w: w, vs: []keySample{sample}}, sample
}

// putChunk writes the header of a chunk; state says whether the chunk is busy.
func putChunk(m chainMemory, off, size, previous, state, key uint64) {
	sizes := size/16<<16 | previous/16<<32 | state<<48
	binary.LittleEndian.PutUint64(m[off:], sizes^(chainBase+off)^key)
}

// putChunks fills the subsegment with chunks of changing sizes; every third is free.
func putChunks(m chainMemory, key uint64) {
	previous, n := uint64(0), uint64(0)
	for off := uint64(0x30); off < uint64(len(m)); n++ {
		size := min(0x40+n*0x30%0x500, uint64(len(m))-off)
		if uint64(len(m))-off-size < 0x40 {
			size = uint64(len(m)) - off
		}
		putChunk(m, off, size, previous, min(n%3, 1), key)
		off, previous = off+size, size
	}
}

// TestChainKey infers the key from chunks, and reads with it whether a chunk is busy.
func TestChainKey(t *testing.T) {
	for _, key := range []uint64{0, 0x0123_4567_89AB_CDEF, 1 << 48, ^uint64(0)} {
		m := make(chainMemory, 0x2000)
		putChunks(m, key)
		s, v := newChainSearch(t, m)
		if err := s.chainKey(); err != nil || !s.heapKnown || s.heap>>16&0xFF_FFFF_FFFF != key>>16&0xFF_FFFF_FFFF {
			t.Errorf("key %#x, want %#x; %v, known %t", s.heap, key, err, s.heapKnown)
		}
		if c, ok := v.layout.readChunk(s.w.near, chainBase+0x30, chainBase+0x2000, s.heap); !ok || c.busy || c.size != 0x40 {
			t.Errorf("key %#x: first chunk %+v %t", key, c, ok)
		}
	}
}

// TestChainKeyOfGarbage takes no key from bytes that are no chunks, nor from one subsegment of two.
func TestChainKeyOfGarbage(t *testing.T) {
	zeros := make(chainMemory, 0x2000)
	s, _ := newChainSearch(t, zeros)
	if err := s.chainKey(); err != nil {
		t.Error(err)
	}
	m := make(chainMemory, 0x2000)
	putChunks(m, 0x55_0000)
	s, v := newChainSearch(t, m)
	s.vs = append(s.vs, keySample{v.layout, 1, chainBase + 0x100_0000, 0x1000}) // one of two is no majority
	if err := s.chainKey(); err != nil || s.heapKnown {
		t.Errorf("%v, known %t", err, s.heapKnown)
	}
}

// TestChainKeyOfManyKeys bounds the search in memory where every length leads to a chunk that fits a key of its own.
func TestChainKeyOfManyKeys(t *testing.T) {
	const end = 0x10_0000
	m := make(chainMemory, end)
	for off := uint64(0x40); off < end; off += 16 { // the chunk that begins there reaches to the end, with the key that its length gives
		length := (off - 0x30) / 16
		putChunk(m, off, end-off, 0, 0, length<<16)
		binary.LittleEndian.PutUint64(m[off:], binary.LittleEndian.Uint64(m[off:])^length<<32)
	}
	putChunk(m, 0x30, 0, 0, 0, 0)
	s, _ := newChainSearch(t, m)
	if err := s.chainKey(); err != nil || s.w.steps > 2*mostChainKeys {
		t.Errorf("%v after %d steps", err, s.w.steps)
	}
}

// Which bit means busy is told by neighbours: free chunks are never side by side. Chunks behind the first that is
// damaged tell nothing, and one that ends with the subsegment tells as much as any other.
func TestAllocatedKey(t *testing.T) {
	type chunk struct{ size, previous, state uint64 }
	const busy, free, end = 1, 0, 0x200
	for name, test := range map[string]struct {
		chunks   []chunk
		inverted bool // a raw bit of 1 is what free chunks have
	}{
		"two busy":                        {[]chunk{{0x40, 0, busy}, {0x40, 0x40, busy}}, false},
		"the last two":                    {[]chunk{{0x40, 0, free}, {0x40, 0x40, busy}, {end - 0xb0, 0x40, busy}}, false},
		"the last two, inverted":          {[]chunk{{0x40, 0, busy}, {0x40, 0x40, free}, {end - 0xb0, 0x40, free}}, true},
		"as many of both":                 {[]chunk{{0x40, 0, busy}, {0x40, 0x40, busy}, {0x40, 0x40, free}, {0x40, 0x40, free}}, false},
		"more of the other":               {[]chunk{{0x40, 0, busy}, {0x40, 0x40, busy}, {0x40, 0x40, free}, {0x40, 0x40, free}, {0x40, 0x40, free}}, true},
		"never side by side":              {[]chunk{{0x40, 0, busy}, {0x40, 0x40, free}, {0x40, 0x40, busy}}, false},
		"damaged: behind the subsegment":  {[]chunk{{0x40, 0, busy}, {0x40, 0x40, free}, {end, 0x40, free}}, false},
		"damaged: one granule too long":   {[]chunk{{0x40, 0, busy}, {0x40, 0x40, free}, {end - 0xa0, 0x40, free}}, false},
		"damaged: no size":                {[]chunk{{0x40, 0, busy}, {0x40, 0x40, free}, {0, 0x40, free}}, false},
		"damaged: another one before":     {[]chunk{{0x40, 0, busy}, {0x40, 0x40, free}, {0x40, 0x50, free}}, false},
		"damaged: something before first": {[]chunk{{0x40, 0x10, free}, {0x40, 0x40, free}}, false},
	} {
		const key = 0x0123_4567_0000 // sizes; the bit stays to be found
		m := make(chainMemory, end)
		off := uint64(0x30)
		for _, c := range test.chunks {
			putChunk(m, off, c.size, c.previous, c.state, key)
			off += c.size
		}
		if off < end { // what follows is no chunk
			putChunk(m, off, end, 0, 0, key)
		}
		s, v := newChainSearch(t, m)
		s.heap = key
		if got := s.allocatedKey([]keySample{v}); got != 0 != test.inverted {
			t.Errorf("%s: key %#x", name, got)
		}
	}
}
