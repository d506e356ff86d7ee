package debugdiag

import "strings"

// block ends a paragraph. In a cell it is a blank.
func (p *page) block() {
	if t := p.top(); p.heading || t != nil && t.inCell {
		p.sink().blank = true
		return
	}
	p.paragraph()
}

// paragraph hands on the text outside of tables and headings.
func (p *page) paragraph() {
	if text := p.take(&p.text); text != "" {
		p.release()
		p.out.paragraph(text)
	}
}

// flush hands on all text that stands before what comes now, so that things come in the order of the page.
func (p *page) flush() {
	p.closeHeading()
	p.paragraph()
	for _, t := range p.tables {
		if !t.inCell || len(t.text.b) == 0 {
			continue
		}
		p.release()
		for line := range strings.SplitSeq(p.take(&t.text), "\n") {
			if line = strings.TrimSpace(line); line != "" {
				p.out.paragraph(line)
			}
		}
	}
}

func (p *page) closeHeading() {
	if !p.heading {
		return
	}
	p.heading = false
	text, name := p.take(&p.title), p.name
	if p.name = ""; text != "" {
		p.release()
		p.out.heading(text, name)
	}
}

// release hands on the tables that waited to become bar graphs: something else came between.
func (p *page) release() {
	for _, t := range p.tables {
		if held := t.held; held != nil {
			t.held = nil
			p.out.table(held)
		}
	}
}

func (p *page) startDiv() {
	var s section
	hooked, summary := false, false
	p.attributes(func(key, value string) {
		switch key {
		case "id":
			s.id = value
			summary = strings.HasSuffix(strings.ToLower(value), "analysissummarysection")
		case "class":
			hooked = hooked || strings.Contains(value, "analysisRuleSummarySection")
		case "data-debug-details":
			s.kind, hooked = value, true
		case "data-debug-dump":
			s.dump = value
		case "data-debug-rule":
			s.rule = value
		}
	})
	if !hooked && !summary || len(p.sections) == maxSections {
		return
	}
	p.flush()
	p.release()
	p.sections = append(p.sections, openSection{s, p.divs})
	p.out.startSection(s)
}

// endDiv closes a div, but never one that was open where the innermost cell began.
func (p *page) endDiv() {
	floor := 0
	if t := p.top(); t != nil && t.inCell {
		floor = t.divs
	}
	if p.divs <= floor {
		return
	}
	if n := len(p.sections); n > 0 && p.sections[n-1].divs == p.divs {
		p.flush()
		p.release()
		p.closeSection(true)
	}
	p.divs--
}

// closeSection ends the innermost section; whole is false where the page ended in it.
func (p *page) closeSection(whole bool) {
	last := len(p.sections) - 1
	s := p.sections[last].section
	p.sections = p.sections[:last]
	p.out.endSection(s, whole)
}

func (p *page) startTable() {
	if len(p.tables) == maxDepth {
		p.extra++
		p.out.cut++
		return
	}
	p.flush()
	if t := p.top(); t != nil {
		p.handOn(t)
	}
	p.tables = append(p.tables, &openTable{})
}

// handOn hands on the rows that a table has so far.
func (p *page) handOn(t *openTable) {
	if len(t.rows) == 0 {
		return
	}
	piece := t.table
	t.rows, t.cells, t.bytes = nil, 0, 0
	p.out.table(&piece)
}

// closeTable ends the innermost table, and hands it on unless it may be a part of a bar graph.
func (p *page) closeTable() {
	last := len(p.tables) - 1
	t := p.tables[last]
	p.closeRow(t)
	p.tables = p.tables[:last]
	around := p.top()
	switch {
	case around == nil || !around.inCell:
		p.handOn(t)
	case around.graphed:
	case around.held != nil && around.heldAt != around.place:
		captions := around.held
		around.held, around.graphed = nil, true
		p.out.graph(captions, &t.table)
	default:
		p.release()
		if len(t.rows) > 0 {
			around.held, around.heldAt = &t.table, around.place
		}
	}
}

func (p *page) openRow(t *openTable) {
	t.row, t.inRow, t.place, t.graphed = row{}, true, -1, false
}

func (p *page) openCell(t *openTable) {
	p.closeCell(t)
	if !t.inRow {
		p.openRow(t)
	}
	t.inCell, t.divs, t.name = true, p.divs, ""
	t.place++
}

func (p *page) closeCell(t *openTable) {
	if !t.inCell {
		return
	}
	p.closeHeading()
	t.inCell, p.divs = false, t.divs
	for n := len(p.sections); n > 0 && p.sections[n-1].divs > p.divs; n-- {
		p.closeSection(true)
	}
	text := p.take(&t.text)
	if t.full() {
		p.out.cut++
		return
	}
	t.cells++
	t.bytes += len(text) + len(t.name)
	t.row.cells = append(t.row.cells, cell{text, t.name})
}

func (p *page) closeRow(t *openTable) {
	if !t.inRow {
		return
	}
	p.closeCell(t)
	t.inRow = false
	if held := t.held; held != nil {
		t.held = nil
		p.out.table(held)
	}
	if len(t.row.cells) == 0 {
		return
	}
	if t.header.cells == nil {
		t.header = t.row
	}
	t.rows = append(t.rows, t.row)
}
