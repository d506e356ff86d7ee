package debugdiagtest

import (
	"cmp"
	"fmt"
	"html"
	"slices"
)

// leaks writes the part "Leak analysis": the summary of what is not freed, and the details of each module.
func (p *page) leaks() {
	c, d := p.Culture, p.dump
	p.part("Leak analysis")
	p.f("<div class=\"mt10 ml15 normalText\"><b>LeakTrack Version Loaded: %s</b>\r\n</div>", d.LeakTrack)
	var count, bytes, handles int64
	for _, m := range d.Modules {
		count, bytes = count+m.count(), bytes+m.bytes()
	}
	for _, m := range d.Handles {
		handles += m.count()
	}
	p.section("AllocSummary", "Outstanding allocation summary")
	p.facts("Number of allocations", c.Count(count)+" allocations", "Total outstanding handle count",
		c.Count(handles)+" handles",
		"Total size of allocations", c.coloured(bytes), "Tracking duration", Duration(d.Tracked))
	if len(d.Modules) > 0 {
		p.modules("allocation count", "", d.Modules, (*Module).count, p.allocations)
		p.modules("allocation size", "", d.Modules, (*Module).bytes, c.coloured)
		p.managers("Memory manager statistics by allocation count", d.Modules, func(f *Function) int64 { return f.Count },
			p.allocations)
		p.managers("Memory manager statistics by allocation size", d.Modules,
			func(f *Function) int64 { return f.Bytes }, c.coloured)
	}
	if len(d.Handles) > 0 {
		opened := func(n int64) string { return c.Count(n) + " handle(s)" }
		p.modules("handle count", "Handle", d.Handles, (*Module).count, opened)
		p.managers("Handle type statistics by handle count", d.Handles, func(f *Function) int64 { return f.Count }, opened)
	}
	p.endSection()
	if len(d.Modules) > 0 {
		p.section("ModReportMem", "Detailed module report(Memory)")
		for i := range d.Modules {
			p.module(&d.Modules[i], "")
		}
		p.endSection()
	}
	if len(d.Handles) > 0 {
		p.section("ModReportHandle", "Detailed module report(Handles)")
		for i := range d.Handles {
			p.module(&d.Handles[i], "Handle")
		}
		p.endSection()
	}
	p.end()
}

// allocations is a number of allocations as a report prints it.
func (p *page) allocations(n int64) string { return p.Culture.Count(n) + " allocation(s)" }

// modules writes a graph with a bar for each module, the longest first.
func (p *page) modules(by, prefix string, modules []Module, value func(*Module) int64, text func(int64) string) {
	var bars []bar
	for i := range modules {
		m := &modules[i]
		bars = append(bars, bar{fmt.Sprintf("<a href='#%s%sModule%s'><b>%s</b></a> \r\n", p.dump.Name, prefix, anchor(m.Base),
			m.Name), text(value(m)), value(m)})
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(b.length, a.length) })
	p.graph(4, fmt.Sprintf("Top %d modules by %s", len(bars), by), bars)
}

// managers writes a graph with a bar for each memory manager or type of handle, the longest first.
func (p *page) managers(title string, modules []Module, value func(*Function) int64, text func(int64) string) {
	sums, names := map[string]int64{}, []string{}
	for i := range modules {
		for j := range modules[i].Functions {
			f := &modules[i].Functions[j]
			if _, known := sums[f.Manager]; !known {
				names = append(names, f.Manager)
			}
			sums[f.Manager] += value(f)
		}
	}
	var bars []bar
	for _, name := range names {
		bars = append(bars, bar{"<b>" + name + "</b>", text(sums[name]), sums[name]})
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(b.length, a.length) })
	p.graph(4, title, bars)
}

// module writes the details of a module and of its functions. prefix is "Handle" in the part about handles.
func (p *page) module(m *Module, prefix string) {
	c := p.Culture
	p.f("<a name='#%s%sModule%s'><h4>Module details for <b>%s</b></h4></a>\r\n", p.dump.Name,
		prefix, anchor(m.Base), m.Name)
	pairs := []string{"Module Name", "<b>" + m.Name + "</b>"}
	if prefix == "" {
		pairs = append(pairs, "Allocation Count", fmt.Sprintf("%d allocation(s)", m.count()),
			"Allocation Size", c.coloured(m.bytes()))
	} else {
		pairs = append(pairs, "Handle Count", fmt.Sprintf("%d handle(s)", m.count()))
	}
	for _, f := range m.Facts {
		pairs = append(pairs, f[0], html.EscapeString(f[1]))
	}
	p.facts(pairs...)
	var bars []bar
	for _, f := range m.Functions { // the captions are not escaped
		bars = append(bars, bar{fmt.Sprintf("<a href='#%s%sFunction%s'><b>%s</b></a> \r\n", p.dump.Name, prefix,
			anchor(f.Address), f.Name), p.allocations(f.Count), f.Count})
	}
	p.graph(5, fmt.Sprintf("Top %d functions by allocation count", len(bars)), bars)
	p.f("<br><br><h5>Function details</h5>")
	for i := range m.Functions {
		p.function(&m.Functions[i], prefix)
	}
	p.f("<a href='#'>Back to Top</a>")
}

// function writes the details of a function: its sums, the sizes of its blocks and sampled call stacks.
func (p *page) function(f *Function, prefix string) {
	row := func(label, value string) { p.f("\t<tr>\r\n<td>%s</td>\r\n<td>%s</td>\r\n</tr>\r\n", label, value) }
	p.f("<table border=0 cellpadding=0 cellspacing=0 class='myCustomText'>\r\n")
	row("Function", fmt.Sprintf("<a name='#%s%sFunction%s'>&nbsp;&nbsp;<b>%s</b></a>", p.dump.Name, prefix,
		anchor(f.Address), html.EscapeString(f.Name)))
	if f.Source != "" {
		row("Source Line", "&nbsp;&nbsp;"+html.EscapeString(f.Source))
	}
	row("Allocation type", "&nbsp;&nbsp;"+f.Type)
	if f.Heap != 0 {
		row("Heap handle", fmt.Sprintf("&nbsp;&nbsp;0x%016x", f.Heap))
	}
	if prefix == "" {
		row("Allocation Count", fmt.Sprintf("&nbsp;&nbsp;<b>%d allocation(s)</b>", f.Count))
		row("Allocation Size", "&nbsp;&nbsp;<b>"+p.Culture.coloured(f.Bytes)+"</b>")
	} else {
		row("Handle Count", fmt.Sprintf("&nbsp;&nbsp;<b>%d handle(s)</b>", f.Count))
	}
	if f.Percent >= 0 {
		row("Leak Probability", fmt.Sprintf("&nbsp;&nbsp;<b>%d%%</b>", f.Percent))
	}
	p.f("</table><br><br>")
	if len(f.Sizes) > 0 {
		p.sizes(f.Sizes)
	}
	for i, s := range f.Samples {
		where := "Address"
		if prefix != "" {
			where = "Handle"
		}
		p.f("<p><b>Call stack sample %d</b></p>\r\n<table border=0 class='myCustomText' ID=\"Table3\"><tr><td>%s</td><td>&nbsp;&nbsp;0x%016x</td></tr>", i+1, where, s.Address)
		p.f("<tr><td>Allocation Time</td><td>&nbsp;&nbsp;%s since tracking started</td></tr>", Duration(s.After))
		if prefix == "" {
			p.f("<tr><td>Allocation Size</td><td>&nbsp;&nbsp;%s</td></tr>", p.Culture.coloured(s.Bytes))
		}
		p.f("</table><br><br>\r\n<table border=0 class=myCustomText ID=\"Table2\"><tr><th>Function</th><th>&nbsp;&nbsp;Source</th><th>&nbsp;&nbsp;Destination</th></tr>\r\n")
		for j, frame := range s.Frames {
			called := ""
			if j+1 < len(s.Frames) {
				called = s.Frames[j+1].Name // not escaped
			}
			p.f("<tr><td nowrap>%s</td><td nowrap>&nbsp;&nbsp;%s</td><td nowrap>&nbsp;&nbsp;%s</td></tr>",
				html.EscapeString(frame.Name), html.EscapeString(frame.Source), called)
		}
		p.f("</table><br><br>")
	}
}
