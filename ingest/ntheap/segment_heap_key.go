package ntheap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// segmentMark is a constant in the signature of segments, by DbgHelpUtils and MemProcFS. In builds from 26100 on it is
// said to be 0.
const segmentMark = 0xA2E64EADA2E64EAD

// segmentKeys are the numbers with which a process disguises sizes and offsets in its segment heaps,
// RtlpHpHeapGlobals.HeapKey and LfhKey. They are inferred from what they disguise, once for all heaps of the process.
//
//	signature of a segment = segment ^ context ^ HeapKey ^ segmentMark; before 16299 segment>>20 ^ heap ^ another number
//	BlockOffsets           = (first<<16 | size) ^ subsegment>>12 ^ LfhKey, the lower 32 bits of each
type segmentKeys struct {
	build uint32
	heaps []*segmentHeap

	solving             sync.Mutex
	solved              bool
	base                uint64 // what signatures have beside what they are of
	signed              bool   // most signatures have it
	heap                uint64
	heapKnown, unmasked bool
	lfh                 lfhKey
	lfhOf               map[uint64]lfhKey // by heap: from 24H2 on each may have one of its own
	strange             string            // why nothing in these heaps is believed
}

// A keySearch is one call of solve.
type keySearch struct {
	*segmentKeys
	w              *walk
	votes          map[uint64]int
	signatures     int
	vs             []keySample // of ranges that say that they have chunks
	ranges, marked int         // how many of them there are, and have the mark
	lfhs           []keySample
	chunks         int
}

// A keySample is a subsegment.
type keySample struct {
	layout   *segmentLayout
	heap     uint64
	at, size uint64
}

// solve infers the keys, if that was not done.
func (k *segmentKeys) solve(w *walk) error {
	k.solving.Lock()
	defer k.solving.Unlock()
	if k.solved {
		return nil
	}
	s := &keySearch{segmentKeys: k, w: w, votes: map[uint64]int{}}
	for _, h := range k.heaps {
		if err := s.collect(h); err != nil {
			return err
		}
	}
	if known := k.build >= firstSegmentHeapBuild && k.build <= lastSegmentHeapBuild; !known && 2*s.marked < s.ranges {
		k.strange = fmt.Sprintf("only %[2]d of %[1]d page ranges have valid chunks: this build of Windows has another page layout (its ntdll.pdb may help)", s.ranges, s.marked)
	}
	s.heapKey()
	if !s.heapKnown && len(s.vs) > 0 {
		if err := s.chainKey(); err != nil {
			return err
		}
	}
	if err := s.collectChunks(); err != nil {
		return err
	}
	if err := s.lfhKeys(); err != nil {
		return err
	}
	k.solved = true
	return nil
}

// collect looks at the segments of a heap.
func (s *keySearch) collect(h *segmentHeap) error {
	segments, err := h.segments(s.w, nil)
	if err != nil {
		return err
	}
	var all [descriptorCount]unitDescriptor
	for i := range segments {
		if err := s.w.step(); err != nil {
			return err
		}
		p := &segments[i]
		if signature, ok := s.w.near.pointer(p.at + h.layout.signature); ok {
			s.votes[h.layout.base(signature, p)]++
			s.signatures++
		}
		if len(s.vs) >= keySamples && len(s.lfhs) >= keySamples {
			continue
		}
		h.readDescriptors(s.w.near, p, &all)
		err := p.context.ranges(&all, func(i, units int, whole bool) error {
			sample := keySample{h.layout, h.handle, p.at + uint64(i)<<p.context.unitShift, uint64(units) << p.context.unitShift}
			switch d := &all[i]; {
			case !whole || d.flags&unitAllocated == 0:
			case d.kind() == rangeLFH && len(s.lfhs) < keySamples:
				s.lfhs = append(s.lfhs, sample)
			case d.kind() == rangeVS && len(s.vs) < keySamples && s.w.near.readable(sample.at):
				s.ranges++
				if _, _, ok := h.layout.vsChunks(s.w.near, sample.at, sample.size); ok {
					s.marked++
					s.vs = append(s.vs, sample)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// base is what the signature of a segment has beside what it is of.
func (t *segmentLayout) base(signature uint64, p *pageSegment) uint64 {
	if t.old {
		return signature ^ p.at>>20 ^ p.context.at
	}
	return signature ^ p.at ^ p.context.at
}

// fewChunks is how many chunks must follow each other for a key to be believed.
const fewChunks = 4

// fewBases is how many numbers are tried as the key.
const fewBases = 4

// heapKey takes the number that most segments give: with the constant, or without it if chunks can be read only so.
// Where chunks can be read with neither, the numbers that fewer segments give are tried.
func (s *keySearch) heapKey() {
	bases := slices.SortedFunc(maps.Keys(s.votes),
		func(a, b uint64) int { return cmp.Or(cmp.Compare(s.votes[b], s.votes[a]), cmp.Compare(a, b)) })
	if len(bases) == 0 {
		return
	}
	mark := uint64(segmentMark)
	if !s.w.near.wide {
		mark &= 1<<32 - 1
	}
	s.base, s.heap = bases[0], bases[0]^mark
	defer func() { s.signed = 2*s.votes[s.base] > s.signatures }()
	most := 0
	for _, base := range bases[:min(len(bases), fewBases)] {
		for _, mark := range [2]uint64{mark, 0} {
			if fit := s.follow(base ^ mark); fit > most {
				most, s.base, s.heap, s.unmasked = fit, base, base^mark, mark == 0
			}
		}
	}
	s.heapKnown = 2*most > min(len(s.vs), followed)
}

// followed is how many subsegments are asked whether a key fits.
const followed = 32

// follow counts the subsegments whose first chunks follow each other with a key.
func (s *keySearch) follow(key uint64) (fit int) {
	for _, v := range s.vs[:min(len(s.vs), followed)] {
		at, end, _ := v.layout.vsChunks(s.w.near, v.at, v.size)
		previous, n := uint64(0), 0
		for ; n < fewChunks && at < end; n++ {
			c, ok := v.layout.readChunk(s.w.near, at, end, key)
			if !ok || c.previous != previous {
				break
			}
			at, previous = at+c.size, c.size
		}
		if n == fewChunks || at == end {
			fit++
		}
	}
	return fit
}

// mostKeyChunks bounds how many chunks are looked at for subsegments of the LFH that lie in them.
const mostKeyChunks = 1 << 16

// collectChunks looks for subsegments of the LFH that are chunks.
func (s *keySearch) collectChunks() error {
	if !s.heapKnown {
		return nil
	}
	for _, v := range s.vs {
		at, end, _ := v.layout.vsChunks(s.w.near, v.at, v.size)
		for at < end && s.chunks < mostKeyChunks && len(s.lfhs) < keySamples {
			if err := s.w.step(); err != nil {
				return err
			}
			c, ok := v.layout.readChunk(s.w.near, at, end, s.heap)
			if !ok {
				break
			}
			s.chunks++
			user, size := at+v.layout.chunk, c.size-v.layout.chunk
			if info, ok := s.w.near.u16(user + size - 2); ok && c.busy && c.bits&chunkUnused != 0 && size >= 2 && isLFH(info) {
				s.lfhs = append(s.lfhs, keySample{v.layout, v.heap, user, size})
			}
			at += c.size
		}
	}
	return nil
}
