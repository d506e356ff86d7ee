package lifetimes

import "heapdrift/ingest/capture/allocations"
import "sort"

// The model's virtual memory: a table of pages, each with its commit and its region.

// touch says that a heap has something at the address.
func (m *model) touch(process uint32, address uint64) {
	p := m.process(process)
	if r := p.regions[address/modelPage]; r != nil {
		if !r.heap {
			r.heap = true
			m.give(p, r.base, r.end)
		}
	} else {
		granule := address >> 16 << 16
		m.give(p, granule, granule+0x10000)
	}
}

func (m *model) give(p *modelProcess, base, end uint64) {
	for page, c := range p.pages {
		if page*modelPage < end && page*modelPage >= base {
			c.row.Kind = allocations.KindHeapVirtual
		}
	}
}

func (m *model) heapRange(e Event) {
	p, known := m.process(e.Process), false
	for _, r := range p.regions {
		if r.base < e.Address+e.Size && r.end > e.Address {
			r.heap, known = true, true
		}
	}
	if !known {
		m.reserve(p, e.Address, e.Address+e.Size, true)
	}
	m.give(p, e.Address, e.Address+e.Size)
}

// reserve makes a region; what is left of others on either side goes on as regions of its own.
func (m *model) reserve(p *modelProcess, base, end uint64, heap bool) {
	m.unreserve(p, base, end)
	r := &modelRegion{base, end, heap}
	for page := base / modelPage; page < end/modelPage; page++ {
		p.regions[page] = r
	}
}

func (m *model) unreserve(p *modelProcess, base, end uint64) (known bool) {
	for page := base / modelPage; page < end/modelPage; page++ {
		r := p.regions[page]
		if r == nil {
			continue
		}
		known = true
		delete(p.regions, page)
		head := &modelRegion{r.base, page * modelPage, r.heap}
		tail := &modelRegion{(page + 1) * modelPage, r.end, r.heap}
		for q := r.base / modelPage; q < page; q++ {
			p.regions[q] = head
		}
		for q := page + 1; q < r.end/modelPage; q++ {
			p.regions[q] = tail
		}
	}
	return known
}

func (m *model) commit(p *modelProcess, base, end uint64, since int64, e Event) bool {
	c := &modelCommit{row: allocations.Row{AllocTime: since, Process: e.Process, Thread: e.Thread, Stack: e.Stack,
		Kind: allocations.KindVirtual}}
	if r := p.regions[base/modelPage]; r != nil && r.heap {
		c.row.Kind = allocations.KindHeapVirtual
	}
	for page := base / modelPage; page < end/modelPage; page++ {
		if p.pages[page] == nil {
			p.pages[page] = c
			c.pages++
		}
	}
	return c.pages > 0
}

// endPages gives a row a page.
func (m *model) endPages(p *modelProcess, base, end uint64, at int64, how allocations.End, stack uint32) (known bool) {
	var pages []uint64
	for page := range p.pages {
		if page*modelPage >= base && page*modelPage < end {
			pages = append(pages, page)
		}
	}
	sort.Slice(pages, func(i, j int) bool { return pages[i] < pages[j] })
	for _, page := range pages {
		c := p.pages[page]
		c.pages--
		r := c.row
		r.Address, r.Size = page*modelPage, modelPage
		r.FreeTime, r.End, r.FreeStack = max(at, r.AllocTime), how, stack
		r.Part = c.pages > 0
		m.rows = append(m.rows, r)
		delete(p.pages, page)
	}
	return len(pages) > 0
}

func (m *model) virtualAlloc(e Event) {
	p, base, end := m.process(e.Process), e.Address, e.Address+e.Size
	if e.Size == 0 {
		return
	}
	if e.Flags&MemReserve != 0 {
		if m.endPages(p, base, end, e.Time, allocations.EndLost, 0) {
			m.an.LostReleases++
		}
		m.reserve(p, base, end, false)
	}
	if e.Flags&MemCommit != 0 && !m.commit(p, base, end, e.Time, e) {
		m.an.Recommits++
	}
}

func (m *model) virtualFree(e Event) {
	p, base, end := m.process(e.Process), e.Address, e.Address+e.Size
	if e.Flags&(MemDecommit|MemRelease) == 0 {
		return
	}
	r := p.regions[base/modelPage]
	if e.Size == 0 && r != nil && r.base == base {
		end = r.end
	} else if c := p.pages[base/modelPage]; e.Size == 0 && c != nil && p.pages[base/modelPage-1] != c {
		for p.pages[end/modelPage] == c {
			end += modelPage
		}
	}
	known := m.endPages(p, base, end, e.Time, allocations.EndFree, e.Stack)
	if e.Flags&MemRelease != 0 {
		known = m.unreserve(p, base, end) || known
	} else {
		known = known || r != nil
	}
	if !known {
		m.an.UnknownVirtualFrees++
	}
}

func (m *model) rundown(e Event) {
	p, base, end := m.process(e.Process), e.Address, e.Address+e.Size
	var bytes uint64
	reserved := false
	for page := base / modelPage; page < end/modelPage; page++ {
		if p.pages[page] != nil {
			bytes += modelPage
		}
		reserved = reserved || p.regions[page] != nil
	}
	switch {
	case base == end:
	case bytes == 0 && (e.Op == VirtualRundownStart || !reserved):
		m.reserve(p, base, end, false)
		since := allocations.BeforeTrace
		if p.started {
			since = e.Time
		}
		if e.Committed > 0 {
			m.commit(p, base, base+min(e.Committed, e.Size), since, e)
		}
	case e.Op == VirtualRundownEnd && bytes != min(e.Committed, e.Size):
		m.an.RundownMismatches++
	}
}
