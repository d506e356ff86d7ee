package pdb

import (
	"slices"
	"sort"
)

// A contribution is a piece of the image that came from one module. Contributions are sorted and do not overlap.
type contribution struct {
	start, end uint32 // in the source space
	module     uint32
}

// Versions of the section contributions (microsoft-pdb dbi.h): entries of 28 and of 32 bytes. Both begin alike:
// section 0 2, offset 4 4, bytes 8 4, module 16 2.
const (
	contributionsV60 = 0xF12EBA2D
	contributionsV2  = 0xF13151E4
)

func (f *File) readContributions() ([]contribution, error) {
	p := f.dbi.contributions
	if p.bytes < 4 {
		return nil, nil
	}
	s, err := f.c.open(streamDBI)
	if err != nil {
		return nil, err
	}
	b, err := s.view(p.at, int(p.bytes))
	if err != nil {
		return nil, err
	}
	stride := 0
	switch le.Uint32(b) {
	case contributionsV60:
		stride = 28
	case contributionsV2:
		stride = 32
	default:
		return nil, fail(CodeUnsupported, streamDBI, p.at, "section contributions of version %#x", le.Uint32(b))
	}
	b = b[4:]
	all := make([]contribution, 0, len(b)/stride)
	for e := range slices.Chunk(b[:len(b)/stride*stride], stride) {
		start, ok := f.rva(le.Uint16(e), le.Uint32(e[4:]))
		size, module := int32(le.Uint32(e[8:])), le.Uint16(e[16:])
		if !ok || size <= 0 || int64(start)+int64(size) >= 1<<32 || int(module) >= len(f.modules) {
			continue // of a section that the image does not have, or empty
		}
		all = append(all, contribution{start, start + uint32(size), uint32(module)})
	}
	byStart := func(a, b contribution) int { return compareUint32(a.start, b.start) }
	if !slices.IsSortedFunc(all, byStart) {
		slices.SortStableFunc(all, byStart)
	}
	for i := 1; i < len(all); i++ { // what begins later is what the linker put there last
		all[i-1].end = min(all[i-1].end, all[i].start)
	}
	return all, nil
}

// contributionAt returns the contribution that an address is in, or the number of the one before it and false.
func contributionAt(all []contribution, rva uint32) (int, bool) {
	i := sort.Search(len(all), func(i int) bool { return all[i].start > rva }) - 1
	return i, i >= 0 && rva < all[i].end
}
