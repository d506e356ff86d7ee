package minidump

import (
	"cmp"
	"slices"

	"heapdrift/ingest/sorting"
)

// A Region is pages of the address space that are alike, as VirtualQuery tells them (MINIDUMP_MEMORY_INFO, 48 bytes):
//
//	BaseAddress u64        0x00
//	AllocationBase u64     0x08
//	AllocationProtect u32  0x10
//	RegionSize u64         0x18
//	State u32              0x20
//	Protect u32            0x24
//	Type u32               0x28
type Region struct {
	Base, Size     uint64
	AllocationBase uint64 // start of the reservation that it is part of
	State          State
	Protect        Protection // 0 of what is not committed
	// AllocationProtect is what the reservation was made with.
	AllocationProtect Protection
	Type              MemoryType // 0 of what is free
}

const (
	regionHeader = 16
	regionSize   = 48
)

// Regions reads the address space, by address; a dump without such a list has no regions.
func (d *Dump) Regions() ([]Region, error) {
	s, ok := d.stream(StreamMemoryInfoList)
	if !ok {
		return nil, nil
	}
	p := &problems{stream: StreamMemoryInfoList}
	l := d.sizedList(s, regionHeader, regionSize, maxRegions, p)
	regions := make([]Region, 0, l.count)
	for i, e := range d.entries(l, p) {
		r := Region{
			Base:              le.Uint64(e),
			AllocationBase:    le.Uint64(e[0x08:]),
			AllocationProtect: Protection(le.Uint32(e[0x10:])),
			Size:              le.Uint64(e[0x18:]),
			State:             State(le.Uint32(e[0x20:])),
			Protect:           Protection(le.Uint32(e[0x24:])),
			Type:              MemoryType(le.Uint32(e[0x28:])),
		}
		if r.Size == 0 || r.Base+(r.Size-1) < r.Base {
			p.add(CodeBadEntry, i, l.at+i*l.stride, 1, "a region of %#x bytes at %#x cannot be; it is left out", r.Size, r.Base)
			continue
		}
		regions = append(regions, r)
	}
	byBase := func(a, b Region) int { return cmp.Compare(a.Base, b.Base) }
	if !slices.IsSortedFunc(regions, byBase) {
		sorting.Stable(regions, byBase)
	}
	return withoutOverlap(regions, s, p), p.err()
}

// withoutOverlap keeps of regions that overlap the lower one, so that sums of sizes stay within the address space.
func withoutOverlap(regions []Region, s Stream, p *problems) []Region {
	kept := regions[:0]
	for _, r := range regions {
		if n := len(kept); n > 0 && r.Base <= kept[n-1].Base+(kept[n-1].Size-1) {
			p.add(CodeOverlap, -1, s.Offset, 1,
				"regions overlap: one at %#x begins inside the one before; it is left out", r.Base)
			continue
		}
		kept = append(kept, r)
	}
	return kept
}
