package capture

import (
	"cmp"
	"math"
	"slices"

	"heapdrift/ingest/sorting"
)

// A SpaceMap says what lies where in the address space, as finely as a picture needs it.
type SpaceMap struct {
	// Stretches are the ranges of addresses in use, by address; no two overlap. What lies between them is free, or not
	// known where the Space is Partial.
	Stretches []AddressRange `json:"stretches"`
	// Grain is 0 where every stretch has one use. Else it is a power of two in bytes: neighbours that begin in the same
	// Grain bytes are one stretch, whose use is that of most of its bytes.
	Grain int64 `json:"grain,omitempty"`
	// LeftOut says that the map was too large for the report: Stretches is empty there.
	LeftOut bool `json:"left_out,omitempty"`
}

// An AddressRange is a range of addresses of one use. Taken is how much of Size is not free: all of it, unless ranges
// were joined.
type AddressRange struct {
	Address   Address `json:"address"`
	Size      int64   `json:"size"` // bytes
	Use       UseName `json:"use"`
	Taken     int64   `json:"taken"`               // bytes of Size
	Committed int64   `json:"committed,omitempty"` // bytes of Taken
}

// End is the first address behind the range.
func (s *AddressRange) End() uint64 { return uint64(s.Address) + uint64(s.Size) }

// maxStretches bounds what a SpaceMap holds: some 80 KB as JSON. A picture has less room.
const maxStretches = 1024

// leastGrain is the granularity in which Windows reserves address space, in bytes.
const leastGrain = 64 << 10

// DrawSpaceMap makes the map of ranges, which come in any order, as coarse as a picture needs it. Impossible
// ranges are left out, and of two that overlap the one that begins first stays whole. It changes the list.
func DrawSpaceMap(list []AddressRange) *SpaceMap {
	m := &SpaceMap{Stretches: joinAlike(sound(list))}
	if len(m.Stretches) > maxStretches {
		m.Grain = grainOf(m.Stretches)
		m.Stretches = joinNear(m.Stretches, m.Grain)
	}
	m.Stretches = slices.Clone(m.Stretches) // the list may be long
	return m
}

// grainOf is the least grain that leaves so few stretches as a map holds. It ends: below 2^63 there are no more cells
// of 2^53 bytes.
func grainOf(list []AddressRange) int64 {
	for grain := int64(leastGrain); ; grain *= 2 {
		cells := 1
		for i := 1; i < len(list); i++ {
			if uint64(list[i].Address)/uint64(grain) != uint64(list[i-1].Address)/uint64(grain) {
				cells++
			}
		}
		if cells <= maxStretches {
			return grain
		}
	}
}

// sound sorts stretches and cuts those that overlap. Windows has no address above 2^63, so lengths fit in an int64.
func sound(list []AddressRange) []AddressRange {
	sorting.Stable(list, func(a, b AddressRange) int { return cmp.Compare(a.Address, b.Address) })
	kept, end := list[:0], uint64(0)
	for _, s := range list {
		if s.Size <= 0 || uint64(s.Address) > math.MaxInt64 || s.End() > math.MaxInt64 {
			continue
		}
		if uint64(s.Address) < end {
			s.Size = int64(s.End() - min(end, s.End()))
			s.Address = Address(end)
		}
		if s.Size == 0 {
			continue
		}
		s.Taken = s.Size
		s.Committed = min(max(0, s.Committed), s.Size)
		kept, end = append(kept, s), s.End()
	}
	return kept
}

// A commitment tells stretches apart that are committed to different degrees: those that are committed, those that are
// only reserved, and reservations of which the evidence counts the committed part and does not say where in them it
// lies.
func commitment(s *AddressRange) int {
	switch s.Committed {
	case 0:
		return 0
	case s.Taken:
		return 1
	}
	return 2
}

// joinAlike joins neighbours that touch and are alike.
func joinAlike(list []AddressRange) []AddressRange {
	joined := list[:0]
	for _, s := range list {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			if last.End() == uint64(s.Address) && last.Use == s.Use && commitment(last) == commitment(&s) && commitment(&s) < 2 {
				last.Size, last.Taken, last.Committed = last.Size+s.Size, last.Taken+s.Taken, last.Committed+s.Committed
				continue
			}
		}
		joined = append(joined, s)
	}
	return joined
}

// joinNear joins stretches that begin in the same grain, into a new list. The use of most bytes stands for all of them.
func joinNear(list []AddressRange, grain int64) []AddressRange {
	joined := make([]AddressRange, 0, maxStretches)
	for i := 0; i < len(list); {
		s, cell := list[i], uint64(list[i].Address)/uint64(grain)
		uses := map[UseName]int64{s.Use: s.Taken}
		for i++; i < len(list) && uint64(list[i].Address)/uint64(grain) == cell; i++ {
			next := &list[i]
			s.Size = int64(next.End() - uint64(s.Address))
			s.Taken, s.Committed = s.Taken+next.Taken, s.Committed+next.Committed
			uses[next.Use] += next.Taken
		}
		for _, name := range UseNames {
			if uses[name] > uses[s.Use] {
				s.Use = name
			}
		}
		joined = append(joined, s)
	}
	return joined
}
