package lifetimes

import "heapdrift/ingest/capture/allocations"

// A Site is all memory of one kind that one stack allocated from one heap of one process.
type Site struct {
	Process uint32 // process instance, as Event.Process
	Heap    uint64 // handle; 0 for virtual memory
	Stack   uint32 // id of the stack; 0 for none
	Kind    allocations.Kind
	// Usage is what the site allocated and freed in the whole trace.
	Usage allocations.WindowUsage
	Peak  allocations.Peak // most bytes held at once
}

// A site is a Site as it grows: 128 bytes, of which the first half holds all that most events touch. owner is the
// number of a heap, or of a process for virtual memory.
type site struct {
	stack, owner uint32
	account
	kind allocations.Kind
}

// siteTable numbers sites, which are never removed.
type siteTable struct {
	list[site]
	kinds [allocations.KindHeapVirtual + 1]siteIndex
}

// A siteIndex finds the sites of one kind: open addressing over numbers plus one.
type siteIndex struct {
	slots []uint32
	n     int
}

// of is the number of a site, which is new if need be.
func (t *siteTable) of(owner, stack uint32, kind allocations.Kind) uint32 {
	x := &t.kinds[kind]
	if 4*(x.n+1) > 3*len(x.slots) {
		t.grow(kind)
	}
	mask := uint32(len(x.slots) - 1)
	i := siteHash(owner, stack) & mask
	for x.slots[i] != 0 {
		id := x.slots[i] - 1
		if s := t.at(id); s.stack == stack && s.owner == owner {
			return id
		}
		i = (i + 1) & mask
	}
	t.add(site{owner: owner, stack: stack, kind: kind})
	x.slots[i] = uint32(t.len())
	x.n++
	return uint32(t.len() - 1)
}

func (t *siteTable) grow(kind allocations.Kind) {
	x := &t.kinds[kind]
	x.slots = make([]uint32, max(64, 2*len(x.slots)))
	mask := uint32(len(x.slots) - 1)
	for id := range uint32(t.len()) {
		s := t.at(id)
		if s.kind != kind {
			continue
		}
		i := siteHash(s.owner, s.stack) & mask
		for x.slots[i] != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = id + 1
	}
}
