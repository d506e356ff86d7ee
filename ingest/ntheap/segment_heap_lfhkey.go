package ntheap

// A keyVote counts how often a key came up: at all, and where the blocks begin as early and fill as much as they can.
type keyVote struct{ all, exact int }

// firstSlack is how far behind their bitmap blocks may begin: other fields may lie between.
const firstSlack = 8

// mostSizes bounds how many sizes of blocks are tried for one beginning: a subsegment of a few large blocks tells little.
const mostSizes = 64

// lfhKey takes the key that most subsegments agree with. Of each the number of blocks is known and the room they have, so few sizes
// are possible; each with each beginning gives a key.
func (s *keySearch) lfhKey() error {
	votes := map[uint32]keyVote{}
	for _, v := range s.lfhs {
		h, ok := v.layout.readLFH(s.w.near, v.at, v.size)
		if !ok {
			continue
		}
		s.lfhAsked++
		behind, g := v.layout.leastFirst(h.count), v.layout.granule
		for first := behind; first <= behind+firstSlack*g && first < v.size; first += g {
			room := v.size - first
			largest := min(room/h.count, 0xFFFF) &^ (g - 1)
			least := largest - min(largest, mostSizes*g)
			for stride := largest; stride > least && room-h.count*stride < max(stride+g, room/8); stride -= g {
				if err := s.w.step(); err != nil {
					return err
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
			best, second, s.lfh = v, best, key
		} else if v.all > second.all || v.all == second.all && v.exact > second.exact {
			second = v
		}
	}
	s.lfhVotes = best.all
	s.lfhKnown = 2*best.all > s.lfhAsked && best != second
	return nil
}

// sampledBlocks is how many blocks of a subsegment are asked for a size.
const sampledBlocks = 64

// plausible says whether the ends of busy blocks look as ends do, were the blocks of that size: what is unused of one is less than
// all, and more than the two bytes that say so.
func (s *keySearch) plausible(v keySample, h lfhHeader, first, stride uint64) bool {
	good, bad := 0, 0
	for i := range min(h.count, sampledBlocks) {
		bits, ok := s.w.near.u8(v.at + v.layout.lfhBits + i/4)
		if !ok || bits>>(i%4*2)&(lfhBlockBusy|lfhBlockUnused) != lfhBlockBusy|lfhBlockUnused {
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
