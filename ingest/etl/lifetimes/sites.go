package lifetimes

import "heapdrift/ingest/capture/allocations"

// A Site is all memory of one kind that one stack allocated from one heap of one process.
type Site struct {
	Process uint32
	Heap    uint64 // handle; 0 for virtual memory
	Stack   uint32
	Kind    allocations.Kind
	// Classes are those of the whole trace.
	Classes allocations.Classes
	Peak    allocations.Peak
}

// A site is a Site as it grows. owner is the number of a heap, or of a process for virtual memory.
type site struct {
	account
	owner uint32
	stack uint32
	kind  allocations.Kind
}

// siteTable numbers sites. The index is open addressing over numbers plus one; sites are never removed.
type siteTable struct {
	list[site]
	index []uint32
}

// of is the number of a site, which is new if need be.
func (t *siteTable) of(owner, stack uint32, kind allocations.Kind) uint32 {
	if 4*(t.len()+1) > 3*len(t.index) {
		t.grow()
	}
	mask := uint32(len(t.index) - 1)
	i := siteHash(owner, stack, kind) & mask
	for t.index[i] != 0 {
		id := t.index[i] - 1
		if s := t.at(id); s.stack == stack && s.owner == owner && s.kind == kind {
			return id
		}
		i = (i + 1) & mask
	}
	t.add(site{owner: owner, stack: stack, kind: kind})
	t.index[i] = uint32(t.len())
	return uint32(t.len() - 1)
}

func (t *siteTable) grow() {
	t.index = make([]uint32, max(64, 2*len(t.index)))
	mask := uint32(len(t.index) - 1)
	for id := range uint32(t.len()) {
		s := t.at(id)
		i := siteHash(s.owner, s.stack, s.kind) & mask
		for t.index[i] != 0 {
			i = (i + 1) & mask
		}
		t.index[i] = id + 1
	}
}
