package lifetimes

import "heapdrift/ingest/capture/allocations"

// A commit is what one call committed and is committed still.
type commit struct {
	time   int64
	bytes  int64
	site   uint32
	thread uint32
	pieces uint32 // intervals in process.committed
}

// commitArena numbers commits; numbers that become free are used again.
type commitArena struct {
	commits []commit
	free    []uint32
}

func (a *commitArena) add(c commit) uint32 {
	if n := len(a.free); n > 0 {
		id := a.free[n-1]
		a.free = a.free[:n-1]
		a.commits[id] = c
		return id
	}
	a.commits = append(a.commits, c)
	return uint32(len(a.commits) - 1)
}

// commit commits what of [base, end) is not committed yet, and reports how many bytes that were.
func (t *Tracker) commit(pid uint32, base, end uint64, since int64, e *Event) (bytes int64) {
	p := t.processes.at(pid)
	t.gaps = t.gaps[:0]
	at := base
	p.committed.overlapping(base, end, func(v *interval) {
		if v.base > at {
			t.gaps = append(t.gaps, interval{base: at, end: v.base})
		}
		at = v.end
	})
	if at < end {
		t.gaps = append(t.gaps, interval{base: at, end: end})
	}
	if len(t.gaps) == 0 {
		return 0
	}
	kind := allocations.KindVirtual
	if r, ok := p.regions.find(base); ok && r.value == heapRegion {
		kind = allocations.KindHeapVirtual
	}
	site := t.sites.of(pid, e.Stack, kind)
	id := t.commits.add(commit{time: since, site: site, thread: e.Thread, pieces: uint32(len(t.gaps))})
	for _, g := range t.gaps {
		g.value = id
		p.committed.insert(g)
		bytes += int64(g.end - g.base)
	}
	t.commits.commits[id].bytes = bytes
	account := p.account(kind)
	if since == allocations.BeforeTrace {
		t.sites.at(site).adopt(e.Time, bytes)
		account.adopt(e.Time, bytes)
		if kind == allocations.KindVirtual {
			p.virtualLine.adopt(e.Time, bytes, account.live.Bytes)
		}
		return bytes
	}
	t.sites.at(site).grow(e.Time, 1, bytes)
	account.grow(e.Time, 1, bytes)
	p.drawVirtual(e.Time, kind)
	return bytes
}

// account is that of one of the two kinds of virtual memory.
func (p *process) account(kind allocations.Kind) *account {
	if kind == allocations.KindHeapVirtual {
		return &p.heapVirtual
	}
	return &p.virtual
}

// drawVirtual adds the present to the timeline, if the kind is the one it shows.
func (p *process) drawVirtual(at int64, kind allocations.Kind) {
	if kind == allocations.KindVirtual {
		p.virtualLine.add(at, p.virtual.live.Bytes)
	}
}

// decommit ends what of [base, end) is committed, and reports whether anything was.
func (t *Tracker) decommit(pid uint32, base, end uint64, at int64, how allocations.End, freeStack uint32) bool {
	p := t.processes.at(pid)
	return p.committed.remove(base, end, func(piece interval, change int) {
		t.endPiece(p, piece, change, at, how, freeStack)
	})
}

// endPiece writes the row of an interval that has gone, and takes it out of the accounts.
func (t *Tracker) endPiece(p *process, piece interval, change int, at int64, how allocations.End, freeStack uint32) {
	c := &t.commits.commits[piece.value]
	s := t.sites.at(c.site)
	size := piece.end - piece.base
	c.bytes -= int64(size)
	c.pieces = uint32(int(c.pieces) + change)
	*t.rows.next() = allocations.Row{
		AllocTime: c.time, FreeTime: max(at, c.time), Address: piece.base, Size: size, Site: c.site,
		Process: p.instance, Thread: c.thread, Stack: s.stack, FreeStack: freeStack, Kind: s.kind, End: how,
		Part: c.pieces > 0,
	}
	if how != allocations.EndNone {
		u := allocations.Usage{Count: 0, Bytes: int64(size)}
		if c.pieces == 0 {
			u.Count = 1
		}
		s.end(u, c.time == allocations.BeforeTrace, how)
		p.account(s.kind).end(u, c.time == allocations.BeforeTrace, how)
		p.drawVirtual(at, s.kind)
	}
	if c.pieces == 0 {
		t.commits.free = append(t.commits.free, piece.value)
	}
}

// endVirtual ends everything a process has committed. With EndNone it stays in the accounts, and only the rows are
// written.
func (t *Tracker) endVirtual(pid uint32, at int64, how allocations.End) {
	p := t.processes.at(pid)
	if p.virtualMemory == nil {
		return
	}
	for _, run := range p.committed.runs {
		for _, piece := range run {
			t.endPiece(p, piece, -1, at, how, 0)
		}
	}
	p.committed, p.regions = intervals{}, intervals{}
}
