package lifetimes

import "heapdrift/ingest/capture/allocations"

// BatchSize is how many events AddAll looks up at once. The processor then waits for many places in memory at a time,
// and what it has fetched is still in its first cache when the events are processed.
const BatchSize = 32

// AddAll is Add for each event in turn, faster: what costs time is waiting for memory, for each block freed the index
// of addresses, the block and its site, and those waits overlap here.
func (t *Tracker) AddAll(events []Event) error {
	for len(events) > 0 {
		n := min(len(events), BatchSize)
		t.touch(events[:n])
		for i := range events[:n] {
			if err := t.Add(&events[i]); err != nil {
				return err
			}
		}
		events = events[n:]
	}
	return t.failure()
}

// A lookup is where an event will look, as far as is known before its turn.
type lookup struct {
	slots []uint64 // the addresses of its heap
	at    int      // the first of them to look at
	hash  uint32   // of the address
	id    uint32   // of the block or of the site plus one, or of the slot in the index of sites
}

// block is the number plus one of the block that the address most likely has, or 0.
func (l *lookup) block() uint32 {
	for i := l.at; ; i = (i + 1) & (len(l.slots) - 1) {
		if s := l.slots[i]; s == 0 || uint32(s>>32) == l.hash {
			return uint32(s)
		}
	}
}

// touch reads what the events will read, each step for all of them, and changes nothing. That a hash collides, or an
// event before changes what is found, only costs time. Loops that wait for memory do nothing else, as a processor looks
// only so far ahead, and less far where it cannot guess what comes.
func (t *Tracker) touch(events []Event) {
	var allocs, frees [BatchSize]lookup
	nAllocs, nFrees, sum := 0, 0, uint64(0)
	places := t.sites.kinds[allocations.KindHeap].slots
	for i := range events {
		e := &events[i]
		if e.Op != HeapAlloc && e.Op != HeapFree {
			continue
		}
		p, ok := t.processes.known(e.Process)
		if !ok {
			continue
		}
		id, ok := t.heaps.known(p, e.Heap)
		if !ok || t.heaps.at(id).index.n == 0 {
			continue
		}
		var l *lookup
		if e.Op == HeapAlloc {
			l = &allocs[nAllocs]
			l.id = siteHash(id, e.Stack) & uint32(len(places)-1)
			nAllocs++
		} else {
			l = &frees[nFrees]
			nFrees++
		}
		l.slots, l.hash = t.heaps.at(id).index.slots, hash(e.Address)
		l.at = int(l.hash) & (len(l.slots) - 1)
	}
	for i := range frees[:nFrees] {
		sum += frees[i].slots[frees[i].at]
	}
	for i := range allocs[:nAllocs] {
		sum += allocs[i].slots[allocs[i].at]
	}
	for i := range frees[:nFrees] {
		frees[i].id = frees[i].block()
	}
	for i := range frees[:nFrees] {
		if l := &frees[i]; l.id != 0 {
			l.id = t.blocks.at(l.id-1).site + 1
		}
	}
	for i := range allocs[:nAllocs] {
		allocs[i].id = places[allocs[i].id]
	}
	t.touched += sum + t.touchSites(frees[:nFrees]) + t.touchSites(allocs[:nAllocs])
}

// touchSites reads the sites of lookups.
func (t *Tracker) touchSites(list []lookup) (sum uint64) {
	for i := range list {
		if id := list[i].id; id != 0 {
			sum += uint64(t.sites.at(id - 1).live.Bytes)
		}
	}
	return sum
}

// known is the number of a heap that was met before.
func (t *heapTable) known(process uint32, handle uint64) (id uint32, ok bool) {
	if t.recent != 0 {
		if h := t.at(t.recent - 1); h.handle == handle && h.process == process {
			return t.recent - 1, true
		}
	}
	if len(t.index) == 0 {
		return 0, false
	}
	mask := uint32(len(t.index) - 1)
	for i := heapHash(process, handle) & mask; t.index[i] != 0; i = (i + 1) & mask {
		if h := t.at(t.index[i] - 1); h.handle == handle && h.process == process {
			return t.index[i] - 1, true
		}
	}
	return 0, false
}
