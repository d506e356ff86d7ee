package ntheap

// chunkFields is where the parts of a _HEAP_VS_CHUNK_HEADER_SIZE lie in it, as shifts and widths in bits.
type chunkFields struct {
	size, previous, allocated             uint
	sizeBits, previousBits, allocatedBits uint
}

var (
	wideChunk   = chunkFields{16, 32, 48, 16, 16, 8} // MemoryCost 0:16
	narrowChunk = chunkFields{1, 16, 31, 15, 15, 1}  // MemoryCost 0:1
)

func (t *segmentLayout) chunkFields() *chunkFields {
	if t.wide {
		return &wideChunk
	}
	return &narrowChunk
}

func part(v uint64, shift, bits uint) uint64 { return v >> shift & (1<<bits - 1) }

// mostChainKeys bounds how many keys are taken from one subsegment.
const mostChainKeys = 64

// chainKey infers the key of chunks from chunks alone: in 15063 and before the signatures of segments do not give it
// away. The first chunk of a subsegment has none before it, and the one behind says how long it is; whatever length
// leads to a chunk that says so is tried. That most subsegments agree decides. One that gives many keys tells nothing.
func (s *keySearch) chainKey() error {
	votes := map[uint64]int{}
	asked := s.vs[:min(len(s.vs), followed)]
	for _, v := range asked {
		seen := map[uint64]bool{}
		at, end, _ := v.layout.vsChunks(s.w.near, v.at, v.size)
		f, g := v.layout.chunkFields(), v.layout.granule
		first, ok := v.layout.rawChunk(s.w.near, at)
		if !ok {
			continue
		}
		previous := part(first, f.previous, f.previousBits)
		for size := uint64(1); size < 1<<f.sizeBits && at+size*g < end && len(seen) < mostChainKeys; size++ {
			if err := s.w.step(); err != nil {
				return err
			}
			next, ok := v.layout.rawChunk(s.w.near, at+size*g)
			if !ok || part(next, f.previous, f.previousBits)^previous != size {
				continue
			}
			key := (part(first, f.size, f.sizeBits)^size)<<f.size | previous<<f.previous
			if !seen[key] && s.chunksFollow(v, key) {
				seen[key] = true
				votes[key]++
			}
		}
	}
	best := 0
	for key, n := range votes {
		if n > best || n == best && key < s.heap {
			best, s.heap = n, key
		}
	}
	if s.heapKnown = 2*best > len(asked); s.heapKnown {
		s.heap |= s.allocatedKey(asked)
	}
	return nil
}

// rawChunk is a header with its address taken out.
func (t *segmentLayout) rawChunk(w *window, at uint64) (uint64, bool) {
	if t.wide {
		v, ok := w.u64(at)
		return v ^ at, ok
	}
	v, ok := w.u32(at)
	return uint64(v ^ uint32(at)), ok
}

// chunksFollow says whether chunks follow each other with a key whose bit of allocated chunks is not known.
func (s *keySearch) chunksFollow(v keySample, key uint64) bool {
	at, end, _ := v.layout.vsChunks(s.w.near, v.at, v.size)
	f := v.layout.chunkFields()
	previous := uint64(0)
	for n := 0; n < 2*fewChunks && at < end; n++ {
		raw, ok := v.layout.rawChunk(s.w.near, at)
		size := part(raw^key, f.size, f.sizeBits) * v.layout.granule
		if !ok || part(raw^key, f.previous, f.previousBits)*v.layout.granule != previous || size == 0 || size > end-at {
			return n >= fewChunks && !ok
		}
		at, previous = at+size, size
	}
	return true
}

// allocatedKey is the part of the key that says which chunks are busy: two free ones never follow each other, so the
// reading with fewer of those is right.
func (s *keySearch) allocatedKey(asked []keySample) uint64 {
	var beside [2]int
	bases := map[uint64]int{} // what is above the bit, by how many chunks have it
	for _, v := range asked {
		at, end, _ := v.layout.vsChunks(s.w.near, v.at, v.size)
		f := v.layout.chunkFields()
		previous := uint64(0)
		for before, n := uint64(2), 0; at < end && n < 1<<10; n++ {
			raw, ok := v.layout.rawChunk(s.w.near, at)
			size := part(raw^s.heap, f.size, f.sizeBits) * v.layout.granule
			if !ok || size == 0 || size > end-at || part(raw^s.heap, f.previous, f.previousBits)*v.layout.granule != previous {
				break
			}
			state := part(raw, f.allocated, f.allocatedBits)
			bases[state&^1]++
			if state&1 == before {
				beside[state&1]++ // two of a kind: if that is free, it is wrong
			}
			before, previous, at = state&1, size, at+size
		}
	}
	f, base := asked[0].layout.chunkFields(), uint64(0)
	for b, n := range bases {
		if n > bases[base] || n == bases[base] && b < base {
			base = b
		}
	}
	base <<= f.allocated
	if beside[1] < beside[0] { // chunks with the bit are never beside each other: they are the free ones
		return base | 1<<f.allocated
	}
	return base
}
