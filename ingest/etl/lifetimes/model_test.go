package lifetimes

import "heapdrift/ingest/capture/allocations"

// model is the obvious way to follow memory: Go maps, a page table, one row at a time. It shares no code with Tracker
// but the types, and spells the rules again.
type model struct {
	an      Anomalies
	last    int64
	rows    []allocations.Row
	procs   map[uint32]*modelProcess
	blocks  map[modelKey]*modelBlock
	created map[modelKey]bool
	nt      map[modelKey]bool // created, and no segment heap
	segment map[modelKey]bool
	seen    map[modelKey]bool
}

type modelKey struct {
	process       uint32
	heap, address uint64
}

type modelBlock struct {
	allocations.Row
}

type modelProcess struct {
	started, ended bool
	pages          map[uint64]*modelCommit
	regions        map[uint64]*modelRegion // by page
}

type modelRegion struct {
	base, end uint64
	heap      bool
}

type modelCommit struct {
	row   allocations.Row
	pages int
}

const modelPage = 0x1000

func newModel() *model {
	return &model{procs: map[uint32]*modelProcess{}, blocks: map[modelKey]*modelBlock{}, created: map[modelKey]bool{},
		nt: map[modelKey]bool{}, segment: map[modelKey]bool{}, seen: map[modelKey]bool{}, last: allocations.BeforeTrace}
}

func (m *model) process(id uint32) *modelProcess {
	if m.procs[id] == nil {
		m.procs[id] = &modelProcess{pages: map[uint64]*modelCommit{}, regions: map[uint64]*modelRegion{}}
	}
	return m.procs[id]
}

func (m *model) add(e Event) {
	if e.Time < m.last {
		m.an.Disordered++
	}
	m.last = max(m.last, e.Time)
	p := m.process(e.Process)
	key := modelKey{e.Process, e.Heap, e.Address}
	switch { // what is dropped before the process is looked at
	case (e.Op == HeapAlloc || e.Op == HeapRealloc) && (e.Address == 0 || e.Size > maxSize):
		m.an.Malformed++
		return
	case e.Op == HeapFree && e.Address == 0:
		return
	case p.ended:
		m.an.AfterExit++
		return
	}
	if k := (modelKey{e.Process, e.Heap, 0}); e.Op <= HeapRangeEnd && !m.seen[k] {
		m.seen[k] = true
		m.touch(e.Process, e.Heap)
	}
	switch e.Op {
	case HeapCreate:
		for k := range m.blocks {
			if k.process == e.Process && k.heap == e.Heap {
				m.an.LostFrees++
				m.end(k, e.Time, allocations.EndLost, 0)
			}
		}
		m.created[modelKey{e.Process, e.Heap, 0}] = true
		m.nt[modelKey{e.Process, e.Heap, 0}] = e.Size > 0 && e.Size%0x10000 == 0
		m.segment[modelKey{e.Process, e.Heap, 0}] = e.Size%0x10000 != 0
	case HeapAlloc:
		if m.blocks[key] != nil {
			m.an.LostFrees++
			m.end(key, e.Time, allocations.EndLost, 0)
		}
		m.begin(e, e.Time)
	case HeapFree:
		if m.blocks[key] != nil {
			m.end(key, e.Time, allocations.EndFree, e.Stack)
			return
		}
		m.an.UnknownFrees++
		if k := (modelKey{e.Process, e.Heap, 0}); m.inside(e) && (m.nt[k] || !m.segment[k] && e.Address%4096 != 0) {
			m.an.LostAllocations++
		}
		m.rows = append(m.rows,
			allocations.Row{AllocTime: allocations.BeforeTrace, FreeTime: e.Time, Address: e.Address, Heap: e.Heap,
				Process: e.Process, FreeStack: e.Stack, End: allocations.EndFree, UnknownFree: true})
	case HeapRealloc:
		m.realloc(e, key)
	case HeapDestroy:
		m.endAll(func(k modelKey) bool { return k.process == e.Process && k.heap == e.Heap }, e.Time, allocations.EndDestroy)
	case HeapRange:
		m.heapRange(e)
	case HeapRangeEnd:
		for page := range p.regions {
			if r := p.regions[page]; r.base < e.Address+e.Size && r.end > e.Address {
				r.heap = false
			}
		}
	case VirtualAlloc:
		m.virtualAlloc(e)
	case VirtualFree:
		m.virtualFree(e)
	case VirtualRundownStart, VirtualRundownEnd:
		m.rundown(e)
	case ProcessStart:
		p.started = true
	case ProcessEnd:
		m.endAll(func(k modelKey) bool { return k.process == e.Process }, e.Time, allocations.EndExit)
		m.endPages(p, 0, maxSize, e.Time, allocations.EndExit, 0)
		p.regions = map[uint64]*modelRegion{}
		p.ended = true
	}
}

func (m *model) inside(e Event) bool {
	return m.created[modelKey{e.Process, e.Heap, 0}] || m.procs[e.Process].started
}

func (m *model) begin(e Event, since int64) {
	m.blocks[modelKey{e.Process, e.Heap, e.Address}] = &modelBlock{allocations.Row{
		AllocTime: since, Address: e.Address, Size: e.Size, Heap: e.Heap, Process: e.Process,
		Thread: e.Thread, Stack: e.Stack,
	}}
	m.touch(e.Process, e.Address)
}

func (m *model) end(k modelKey, at int64, how allocations.End, stack uint32) {
	r := m.blocks[k].Row
	r.FreeTime, r.End, r.FreeStack = max(at, r.AllocTime), how, stack
	m.rows = append(m.rows, r)
	delete(m.blocks, k)
}

func (m *model) endAll(which func(modelKey) bool, at int64, how allocations.End) {
	for k := range m.blocks {
		if which(k) {
			m.end(k, at, how, 0)
		}
	}
}

func (m *model) realloc(e Event, key modelKey) {
	b := m.blocks[key]
	if e.Address == e.OldAddress {
		if b == nil {
			m.an.AdoptedBlocks++
			since := allocations.BeforeTrace
			if m.inside(e) {
				since = e.Time
			}
			m.begin(e, since)
			return
		}
		b.Size = e.Size
		return
	}
	old := modelKey{e.Process, e.Heap, e.OldAddress}
	if o := m.blocks[old]; o != nil && (b == nil || o.AllocTime < b.AllocTime) {
		m.end(old, e.Time, allocations.EndRealloc, e.Stack)
	}
	if b == nil {
		m.begin(e, e.Time)
		return
	}
	b.Size = e.Size
	if e.Stack != 0 {
		b.Stack = e.Stack
	}
}

func (m *model) finish() {
	m.endAll(func(modelKey) bool { return true }, allocations.Never, allocations.EndNone)
	for _, p := range m.procs {
		m.endPages(p, 0, maxSize, allocations.Never, allocations.EndNone, 0)
	}
}
