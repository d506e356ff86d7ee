package debugdiagtest

import (
	"cmp"
	"fmt"
	"html"
	"slices"
)

func (p *page) space() {
	c, s := p.Culture, p.dump.Space
	p.part("Virtual Memory Analysis")
	if s != nil {
		p.section("VMSummary", "Virtual Memory Summary")
		share := func(n int64) string {
			return c.coloured(n) + " &nbsp;&nbsp;(" + c.percent(float64(n)/float64(max(s.Total, 1))) + " of Total Memory)"
		}
		p.facts("<b>Size of largest free VM block</b>", c.coloured(s.LargestFree),
			"<b>Free memory fragmentation</b>", c.percent(float64(s.Free-s.LargestFree)/float64(max(s.Free, 1))),
			"<b>Free Memory</b>", share(s.Free), "<b>Reserved Memory</b>", share(s.Reserved),
			"<b>Committed Memory</b>", share(s.Committed),
			"<b>Total Memory</b>", c.coloured(s.Total),
			"<b>Largest free block at</b>", fmt.Sprintf("0x%08x`%08x", s.LargestFreeAt>>32, uint32(s.LargestFreeAt)))
		p.endSection()
		if len(s.Uses) > 0 {
			p.section("VMDetails", "Virtual Memory Details")
			var bars []bar
			for _, u := range s.Uses {
				bars = append(bars, bar{"<b>" + u.Name + "</b>", c.coloured(u.Bytes), u.Bytes})
			}
			p.graph(4, "", bars)
			p.endSection()
			p.section("VADDetails", "Virtual Allocation Summary")
			p.facts("Reserved memory", c.coloured(s.VirtualReserved), "Committed memory", c.coloured(s.VirtualCommitted),
				"Mapped memory", c.coloured(s.Mapped),
				"Reserved block count", c.Count(s.VirtualBlocks/2)+" blocks", "Committed block count",
				c.Count(s.VirtualBlocks-s.VirtualBlocks/2)+" blocks", "Mapped block count", c.Count(s.MappedBlocks)+" blocks")
			p.endSection()
		}
	}
	if threads := p.dump.Threads; len(threads) > 0 {
		p.section("ThreadDetails", "Thread Summary")
		var reserved, committed int64
		for _, t := range threads {
			reserved, committed = reserved+t.Reserved, committed+t.Committed
		}
		p.facts("Number of Threads", c.Count(int64(len(threads)))+" Thread(s)", "Total reserved memory", c.coloured(reserved),
			"Total committed memory", c.coloured(committed))
		p.f("<table border=0><tr><th>Thread ID</th><th>System ID</th><th>EntryPoint</th><th>Reserved</th><th>Committed</th></tr>")
		for _, t := range threads {
			p.f("<tr><td>%d</td><td>%d</td><td>%s</td><td>%s</td><td>%s</td></tr>", t.ID, t.System, html.EscapeString(t.Entry),
				c.coloured(t.Reserved), c.coloured(t.Committed))
		}
		p.f("</table>")
		p.endSection()
	}
	p.end()
}

func (p *page) heaps() {
	c, heaps := p.Culture, p.dump.Heaps
	p.part("Heap Analysis")
	var reserved, committed int64
	var byReserved, byCommitted []bar
	for _, h := range heaps {
		reserved, committed = reserved+h.Reserved, committed+h.Committed
		caption := fmt.Sprintf("<a href='#Heap%d'><b>0x%016x</b></a>", h.Handle, h.Handle)
		byReserved = append(byReserved, bar{caption, c.coloured(h.Reserved), h.Reserved})
		byCommitted = append(byCommitted, bar{caption, c.coloured(h.Committed), h.Committed})
	}
	p.section("HeapSummary", "Heap Summary")
	p.facts("<b>Number of heaps</b>", fmt.Sprintf("%d Heaps", len(heaps)), "<b>Number of NT heaps</b>",
		fmt.Sprintf("%d Heaps", len(heaps)),
		"<b>Total reserved memory</b>", c.coloured(reserved), "<b>Total committed memory</b>", c.coloured(committed))
	p.endSection()
	p.section("TopReserved", fmt.Sprintf("Top %d heaps by reserved memory", len(heaps)))
	p.graph(4, "", byReserved)
	p.endSection()
	p.section("TopComitted", fmt.Sprintf("Top %d heaps by committed memory", len(heaps)))
	p.graph(4, "", byCommitted)
	p.endSection()
	p.section("HeapDetails", "Heap Details")
	for i, h := range heaps {
		p.begin("custom", fmt.Sprintf("%sE%dF%d", p.uid(), 1, i+1), 4,
			fmt.Sprintf("Heap %d - 0x%016x | %s", i+1, h.Handle, h.Kind))
		uncommitted := h.Reserved - h.Committed
		p.facts("Heap Name", h.Name, "Heap Description", h.Description, "Reserved memory", c.coloured(h.Reserved),
			"Committed memory", c.coloured(h.Committed)+" ("+c.percent(float64(h.Committed)/float64(max(h.Reserved, 1)))+
				" of reserved)", "Uncommitted memory", c.coloured(uncommitted),
			"Number of heap segments", c.Count(h.Segments)+" segments", "Number of uncommitted ranges",
			c.Count(h.Ranges)+" range(s)",
			"Size of largest uncommitted range", c.coloured(h.LargestRange), "Calculated heap fragmentation", "Unavailable")
		p.f("<table border=0><tr><th>Base Address</th><th>Reserved Size</th><th>Committed Size</th><th>Uncommitted Size</th></tr>")
		p.f("<tr><td>0x%016x</td><td>%s</td><td>%s</td><td>%s</td><td>&nbsp;</td></tr></table>", h.Handle,
			c.coloured(h.Reserved), c.coloured(h.Committed), c.coloured(uncommitted))
		if len(h.Sizes) > 0 {
			p.sizes(h.Sizes)
		}
		p.end()
	}
	p.endSection()
	p.end()
}

// sizes writes the graphs of the blocks of one size, by the bytes of all and by their count.
func (p *page) sizes(sizes []SizeCount) {
	c := p.Culture
	for _, by := range []struct {
		title string
		value func(SizeCount) int64
		text  func(SizeCount) string
	}{
		{"size", func(s SizeCount) int64 { return s.Bytes * s.Count },
			func(s SizeCount) string { return c.coloured(s.Bytes * s.Count) }},
		{"count", func(s SizeCount) int64 { return s.Count }, func(s SizeCount) string { return c.Count(s.Count) + " allocation(s)" }},
	} {
		sorted := slices.SortedStableFunc(slices.Values(sizes),
			func(a, b SizeCount) int { return cmp.Compare(by.value(b), by.value(a)) })
		var bars []bar
		for _, s := range sorted {
			bars = append(bars, bar{"<b>Allocation Size - " + c.Count(s.Bytes) + "</b>", by.text(s), by.value(s)})
		}
		p.graph(5, fmt.Sprintf("Top %d allocations by %s", len(sizes), by.title), bars)
	}
}
