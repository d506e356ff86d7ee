package etltest

// A record is an event that happens: when, where, to whom.
type record struct {
	raw      int64
	cpu      int
	pid, tid uint32
	event    Event
	heap     bool  // logged by the session of the heap, not by the kernel's
	stack    int   // index into Scenario.Stacks plus one
	late     int64 // raw units until the stack is delivered
	roams    bool
}

// A recording turns a scenario into records.
type recording struct {
	s   *Scenario
	f   Format
	all []record
}

// add notes an event at a time; nudge is in units of the clock.
func (r *recording) add(ns, nudge int64, by Caller, pid uint32, e Event) {
	raw := r.f.raw(ns, r.s.Start)
	r.all = append(r.all, record{
		raw: raw + nudge, cpu: by.CPU % r.s.CPUs, pid: pid, tid: by.Thread, event: e,
		heap:  e.Envelope == SystemHeader && (e.Group == groupHeap || e.Group == groupMemory),
		stack: by.Stack, late: r.f.raw(ns+by.Late, r.s.Start) - raw, roams: by.Roams,
	})
}

// records lists all events of the scenario in order of time, stacks among them.
func (s *Scenario) records(f Format) []record {
	r := &recording{s: s, f: f}
	events := len(s.Heaps) + len(s.Regions) + len(s.Extras)
	for i := range s.Blocks {
		events += 2 + len(s.Blocks[i].Resizes)
	}
	r.all = make([]record, 0, events+events/8) // growing copies what it is to hold several times over
	for i := range s.Processes {
		r.process(&s.Processes[i])
	}
	if !f.Native {
		for _, e := range f.system(s.Volumes) {
			r.add(0, 0, Caller{}, 0, e)
		}
	}
	for i := range s.Heaps {
		r.heap(&s.Heaps[i])
	}
	for i := range s.Blocks {
		r.block(&s.Blocks[i])
	}
	for i := range s.Regions {
		r.region(&s.Regions[i])
	}
	for _, x := range s.Extras {
		r.add(x.Time, 0, x.By, s.Processes[x.Process].PID, x.Event)
	}
	raw := func(r *record) int64 { return r.raw }
	r.all = inOrder(r.all, raw)
	r.stacks()
	return inOrder(r.all, raw)
}

// begin adds what a session logs where something starts to live, or was there before.
func (r *recording) begin(from int64, start, there byte, event func(op byte) Event, by Caller, pid uint32) {
	if from != 0 {
		r.add(from, 0, by, pid, event(start))
	} else if !r.f.NoStartRundown {
		at, by := r.inventory(by)
		r.add(at, 0, by, pid, event(there))
	}
}

// finish adds what a session logs where something stops to live, or is left at the end.
func (r *recording) finish(to int64, end, left byte, event func(op byte) Event, by Caller, pid uint32) {
	if to != 0 {
		r.add(to, 0, by, pid, event(end))
	} else if !r.f.NoEndRundown {
		r.add(r.s.End, 0, by, pid, event(left))
	}
}

// inventory returns when the inventory of the start is made, and by whom: it is older than the file's header, but for
// the header's own CPU, where time only goes on.
func (r *recording) inventory(by Caller) (int64, Caller) {
	if r.s.CPUs == 1 || r.f.OneStream {
		return 0, by
	}
	by.CPU = 1
	return -1000, by
}

// process adds a process with its threads and images. What it did not unload or end itself goes when it does.
func (r *recording) process(p *Process) {
	event := func(op byte) Event { return r.f.ProcessEvent(op, p) }
	r.begin(p.Started, opStart, opDCStart, event, Caller{}, p.PID)
	for i := range p.Threads {
		t := &p.Threads[i]
		event, by := func(op byte) Event { return r.f.ThreadEvent(op, p.PID, t) }, Caller{Thread: t.TID}
		r.begin(max(t.Started, p.Started), opStart, opDCStart, event, by, p.PID)
		r.finish(earlier(t.Ended, p.Ended), opEnd, opDCEnd, event, by, p.PID)
	}
	for i := range p.Images {
		m := &p.Images[i]
		event, loaded := func(op byte) Event { return r.f.ImageEvent(op, p.PID, m) }, max(m.Loaded, p.Started)
		r.begin(loaded, opcodeImageLoad, imageDCStart, event, Caller{}, p.PID)
		r.finish(earlier(m.Unloaded, p.Ended), imageUnload, imageDCEnd, event, Caller{}, p.PID)
		if !r.f.Native {
			r.identify(p, m, loaded)
		}
	}
	if p.Ended != 0 {
		r.add(p.Ended, 0, Caller{}, p.PID, r.f.PerfCountersEvent(p.PID, 0))
	}
	r.finish(p.Ended, opEnd, opDCEnd, event, Caller{}, p.PID)
}

// identify adds what a merge says of an image, at the time of the first event about it that there is.
func (r *recording) identify(p *Process, m *Image, loaded int64) {
	by := Caller{Thread: ^uint32(0)}
	switch {
	case loaded != 0:
	case !r.f.NoStartRundown:
		loaded, by = r.inventory(by)
	case !r.f.NoEndRundown && m.Unloaded == 0 && p.Ended == 0:
		loaded = r.s.End
	default:
		return
	}
	for _, e := range r.f.identities(p.PID, m) {
		r.add(loaded, 0, by, p.PID, e)
	}
}

// earlier ends a part's life within the whole's; 0 is behind the trace.
func earlier(part, whole int64) int64 {
	if part == 0 || whole == 0 {
		return max(part, whole)
	}
	return min(part, whole)
}

func (r *recording) heap(h *Heap) {
	p := &r.s.Processes[h.Process]
	if h.Created != 0 {
		r.add(h.Created, 0, h.By, p.PID, HeapCreateEvent(p.Bits, r.f.HeapVersion, h.Handle, h.Flags))
	}
	if h.Destroyed != 0 {
		r.add(h.Destroyed, 0, h.By, p.PID, HeapEvent(p.Bits, HeapDestroy, []uint64{h.Handle}))
	}
}

// block adds a block's allocation, resizes and free. A move is logged as an allocation, a free, and then the
// reallocation.
func (r *recording) block(b *Block) {
	h, p := r.s.Heaps[b.Heap].Handle, r.s.process(b)
	if b.Allocated != 0 && !b.Unlogged {
		r.add(b.Allocated, 0, b.By, p.PID, HeapEvent(p.Bits, HeapAlloc, []uint64{h, b.Size, b.Address}, b.Source))
	}
	if b.MovedFrom != 0 {
		old := &r.s.Blocks[b.MovedFrom-1]
		r.add(max(old.Freed, b.Allocated), 1, b.By, p.PID,
			HeapEvent(p.Bits, HeapReAlloc, []uint64{h, b.Address, old.Address, b.Size, old.size()}, b.Source))
	}
	size := b.Size
	for _, z := range b.Resizes {
		r.add(z.Time, 0, z.By, p.PID,
			HeapEvent(p.Bits, HeapReAlloc, []uint64{h, b.Address, b.Address, z.Size, size}, b.Source))
		size = z.Size
	}
	if b.Freed != 0 && !b.FreedUnlogged {
		r.add(b.Freed, 0, b.FreedBy, p.PID, HeapEvent(p.Bits, HeapFree, []uint64{h, b.Address}, b.Source))
	}
}

// size is a block's at its end.
func (b *Block) size() uint64 {
	if n := len(b.Resizes); n > 0 {
		return b.Resizes[n-1].Size
	}
	return b.Size
}

// region adds a region's reservation, commits, decommits and release, or its place in the inventories.
func (r *recording) region(g *Region) {
	p := &r.s.Processes[g.Process]
	at := func(ns int64, by Caller, op byte, base, size uint64, flags uint32) {
		r.add(ns, 0, by, p.PID, VirtualEvent(r.f.Bits, op, base, size, p.PID, flags))
	}
	together := func(c *Commit) bool {
		return c.Committed == g.Reserved && c.Base == g.Base && c.Size == g.Size
	}
	var first, after uint64 // committed bytes of the inventories
	flags := uint32(MemReserve)
	for i := range g.Commits {
		c := &g.Commits[i]
		switch {
		case c.Committed == 0:
			first += c.Size
		case together(c):
			flags |= MemCommit
		default:
			at(c.Committed, c.By, VirtualAlloc, c.Base, c.Size, MemCommit)
		}
		if c.Decommitted != 0 {
			at(c.Decommitted, c.DecommittedBy, VirtualFree, c.Base, c.Size, MemDecommit)
		} else {
			after += c.Size
		}
	}
	if g.Reserved != 0 {
		at(g.Reserved, g.By, VirtualAlloc, g.Base, g.Size, flags)
	} else if r.f.MemoryRundown {
		start, by := r.inventory(Caller{})
		r.add(start, 0, by, p.PID,
			VirtualRundownEvent(r.f.Bits, VirtualAllocDCStart, g.Base, g.Size, p.PID, MemReserve, first))
	}
	if g.Released != 0 {
		at(g.Released, g.ReleasedBy, VirtualFree, g.Base, g.Size, MemRelease)
	} else if r.f.MemoryRundown && p.Ended == 0 {
		r.add(r.s.End, 0, Caller{}, p.PID,
			VirtualRundownEvent(r.f.Bits, VirtualAllocDCEnd, g.Base, g.Size, p.PID, MemReserve, after))
	}
}
