package ntheap

// A keyVote counts how often a key came up: at all, and where the blocks begin as early and fill as much as they can.
type keyVote struct{ all, exact int }

// firstSlack is how far behind their bitmap blocks may begin: other fields may lie between.
const firstSlack = 8

// mostSizes bounds how many sizes of blocks are tried for one beginning: a subsegment of a few large blocks tells
// little.
const mostSizes = 64

// An lfhKey is what disguises where the blocks of LFH subsegments lie.
type lfhKey struct {
	key          uint32
	known        bool
	votes, asked int // subsegments that agree with it, of so many
}

// lfhKeyOf is the key of a heap.
func (k *segmentKeys) lfhKeyOf(heap uint64) lfhKey {
	if own := k.lfhOf[heap]; own.known {
		return own
	}
	return k.lfh
}

// lfhKeys finds the key of the process, and those of heaps that may have their own.
func (s *keySearch) lfhKeys() (err error) {
	if s.lfh, err = s.lfhKey(s.lfhs); err != nil || len(s.heaps) < 2 {
		return err
	}
	byHeap := map[uint64][]keySample{}
	for _, v := range s.lfhs {
		if v.layout.lfhApart {
			byHeap[v.heap] = append(byHeap[v.heap], v)
		}
	}
	s.lfhOf = map[uint64]lfhKey{}
	for heap, samples := range byHeap {
		if s.lfhOf[heap], err = s.lfhKey(samples); err != nil {
			return err
		}
	}
	return nil
}

// lfhKey takes the key that most subsegments agree with. Of each the number of blocks is known and the room they have,
// so few sizes are possible; each with each beginning gives a key.
func (s *keySearch) lfhKey(samples []keySample) (found lfhKey, err error) {
	votes := map[uint32]keyVote{}
	for _, v := range samples {
		h, ok := v.layout.readLFH(s.w.near, v.at, v.size)
		if !ok {
			continue
		}
		found.asked++
		behind, g := v.layout.leastFirst(h.count), v.layout.granule
		for first := behind; first <= behind+firstSlack*g && first < v.size; first += g {
			room := v.size - first
			largest := min(room/h.count, 0xFFFF) &^ (g - 1)
			least := largest - min(largest, mostSizes*g)
			for stride := largest; stride > least && room-h.count*stride < max(stride+g, room/8); stride -= g {
				if err := s.w.step(); err != nil {
					return found, err
				}
				if first > 0xFFFF || !s.plausible(v, h, first, stride) {
					continue
				}
				key := h.encoded ^ uint32(first<<16|stride)
				vote := votes[key]
				vote.all++
				if first == behind && room-h.count*stride < stride+g {
					vote.exact++
				}
				votes[key] = vote
			}
		}
	}
	var best, second keyVote
	for key, v := range votes {
		if v.all > best.all || v.all == best.all && v.exact > best.exact {
			best, second, found.key = v, best, key
		} else if v.all > second.all || v.all == second.all && v.exact > second.exact {
			second = v
		}
	}
	found.votes = best.all
	found.known = 2*best.all > found.asked && best != second
	return found, nil
}

// sampledBlocks is how many blocks of a subsegment are asked for a size.
const sampledBlocks = 64

// plausible says whether the ends of busy blocks look as ends do, were the blocks of that size: what is unused of one
// is less than all, and more than the two bytes that say so.
func (s *keySearch) plausible(v keySample, h lfhHeader, first, stride uint64) bool {
	good, bad := 0, 0
	var bits uint64
	known := false
	for i := range min(h.count, sampledBlocks) {
		if i%32 == 0 {
			bits, known = v.layout.busyBits(s.w.near, v.at, i)
		}
		if !known || v.layout.blockState(bits, i) != lfhBlockBusy|lfhBlockUnused {
			continue
		}
		info, ok := s.w.seq.u16(v.at + first + (i+1)*stride - 2)
		switch unused := uint64(info & unusedLFHMask); {
		case !ok:
		case info&unusedOne != 0 && info&^0xFF == unusedOne, info&unusedOne == 0 && unused >= 2 && unused <= stride:
			good++
		default:
			bad++
		}
	}
	return bad*8 <= good
}
