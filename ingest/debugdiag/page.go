package debugdiag

import (
	"io"

	"golang.org/x/net/html"
)

const (
	// maxToken bounds one tag or text: pages saved from a browser may have pictures and scripts in them.
	maxToken    = 16 << 20
	maxSections = 64 // in each other
)

// A page takes the markup apart and hands on what it is made of, in order: sections, headings, paragraphs, tables, bar
// graphs. It repairs what browsers repair: ends that are missing, cells without rows, template arguments that were
// printed as they are.
type page struct {
	out      *report
	z        *html.Tokenizer
	tables   []*openTable
	extra    int // open tables beyond maxDepth
	divs     int
	sections []openSection
	heading  bool // inside of one
	title    prose
	text     prose  // outside of tables and headings
	name     string // of the last anchor there
	skip     string // the element whose text is no text
	ended    bool   // </html> was met
	raw      []byte // the tag as it is spelled
}

// An openSection is a section and the number of divs around it.
type openSection struct {
	section
	divs int
}

// A section is a div with hooks.
type section struct {
	id, kind, dump, rule string
}

// read reads a page to its end, or as far as it goes.
func (p *page) read(r io.Reader) {
	p.z = html.NewTokenizer(r)
	p.z.SetMaxBuf(maxToken)
	for {
		switch p.z.Next() {
		case html.ErrorToken:
			p.close()
			return
		case html.TextToken:
			if p.skip == "" {
				p.add(p.z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start()
		case html.EndTagToken:
			p.end()
		}
	}
}

// close ends what is open. Where the page was cut, the last text is not told: half a number is another number.
func (p *page) close() {
	if !p.ended {
		p.heading, p.title, p.text = false, prose{}, prose{}
		if t := p.top(); t != nil {
			t.inRow, t.inCell = false, false
		}
	}
	for len(p.tables) > 0 {
		p.closeTable()
	}
	p.flush()
	for len(p.sections) > 0 {
		p.closeSection(p.ended)
	}
}

func (p *page) top() *openTable {
	if len(p.tables) == 0 {
		return nil
	}
	return p.tables[len(p.tables)-1]
}

// sink is where text goes.
func (p *page) sink() *prose {
	t := p.top()
	switch {
	case p.heading:
		return &p.title
	case t != nil && t.inCell:
		return &t.text
	}
	return &p.text
}

func (p *page) add(text []byte) {
	s := p.sink()
	if cut := s.cut; !cut {
		s.add(text)
		if s.cut {
			p.out.cut++
		}
	}
}

func (p *page) take(s *prose) string {
	text, valid := s.take()
	if !valid {
		p.out.foreign++
	}
	return text
}

// A tag says what an element does.
type tag uint8

const (
	tagText tag = iota // no element of a page: text in angle brackets, as the int of Cache::Add<int>
	tagInline
	tagBlock
	tagBreak
	tagDiv
	tagAnchor
	tagHeading
	tagTable
	tagRow
	tagCell
	tagSkip
	tagHTML
)

var tags = map[string]tag{
	"html": tagHTML, "body": tagBlock, "head": tagBlock, "p": tagBlock, "hr": tagBlock, "ul": tagBlock, "ol": tagBlock,
	"li": tagBlock, "pre": tagBlock,
	"center": tagBlock, "form": tagBlock, "section": tagBlock, "main": tagBlock, "header": tagBlock, "footer": tagBlock,
	"dl": tagBlock, "dt": tagBlock, "dd": tagBlock, "caption": tagBlock, "blockquote": tagBlock,
	"br": tagBreak, "div": tagDiv, "a": tagAnchor,
	"h1": tagHeading, "h2": tagHeading, "h3": tagHeading, "h4": tagHeading, "h5": tagHeading, "h6": tagHeading,
	"table": tagTable, "tr": tagRow, "td": tagCell, "th": tagCell,
	"script": tagSkip, "style": tagSkip, "title": tagSkip, "textarea": tagSkip, "noscript": tagSkip,
	"iframe": tagSkip, "xml": tagSkip,
	"thead": tagInline, "tbody": tagInline, "tfoot": tagInline, "colgroup": tagInline, "col": tagInline,
	"b": tagInline, "i": tagInline, "u": tagInline, "em": tagInline, "strong": tagInline, "small": tagInline,
	"big": tagInline, "sup": tagInline, "sub": tagInline,
	"font": tagInline, "span": tagInline, "img": tagInline, "nobr": tagInline, "wbr": tagInline, "meta": tagInline,
	"link": tagInline, "base": tagInline,
	"input": tagInline, "button": tagInline, "label": tagInline, "code": tagInline, "tt": tagInline, "o:p": tagInline,
	"svg": tagInline, "path": tagInline,
}

// start takes a start tag.
func (p *page) start() {
	if p.skip != "" {
		return
	}
	p.raw = append(p.raw[:0], p.z.Raw()...) // TagName writes to it
	name, attributes := p.z.TagName()
	switch tags[string(name)] {
	case tagText:
		p.add(p.raw)
	case tagBlock:
		p.block()
	case tagBreak:
		p.lineBreak()
	case tagDiv:
		p.block()
		p.divs++
		if attributes {
			p.startDiv()
		}
	case tagAnchor:
		if attributes {
			p.anchor()
		}
	case tagHeading:
		p.flush()
		p.heading = true
	case tagTable:
		p.startTable()
	case tagRow:
		if t := p.top(); t != nil {
			p.startRow(t, attributes)
		}
	case tagCell:
		if t := p.top(); t != nil {
			p.openCell(t)
		}
	case tagSkip:
		p.skip = string(name)
	case tagInline, tagHTML:
	}
}

func (p *page) lineBreak() {
	if t := p.top(); !p.heading && (t == nil || !t.inCell) {
		p.paragraph()
	} else {
		p.sink().line()
	}
}

// startRow begins a row of a table, and keeps what its attributes say of it.
func (p *page) startRow(t *openTable, attributes bool) {
	p.closeRow(t)
	p.openRow(t)
	if !attributes {
		return
	}
	p.attributes(func(key, value string) {
		switch key {
		case "data-debug-dump":
			t.row.dump = value
		case "data-debug-rule":
			t.row.rule = value
		}
	})
}

// end takes an end tag. Those of elements that no page has close template arguments that a browser took for elements.
func (p *page) end() {
	spelled, _ := p.z.TagName()
	if p.skip != "" {
		if p.skip == string(spelled) {
			p.skip = ""
		}
		return
	}
	t := p.top()
	switch tags[string(spelled)] {
	case tagHTML:
		p.ended = true
	case tagBlock:
		p.block()
	case tagDiv:
		p.block()
		p.endDiv()
	case tagHeading:
		p.closeHeading()
	case tagTable:
		switch {
		case p.extra > 0:
			p.extra--
		case t != nil:
			p.closeTable()
		}
	case tagRow:
		if t != nil {
			p.closeRow(t)
		}
	case tagCell:
		if t != nil {
			p.closeCell(t)
		}
	case tagText, tagInline, tagBreak, tagAnchor, tagSkip:
	}
}

// attributes calls f for each attribute of the tag.
func (p *page) attributes(f func(key, value string)) {
	for more := true; more; {
		var key, value []byte
		key, value, more = p.z.TagAttr()
		if len(value) <= maxText {
			f(string(key), string(value))
		}
	}
}

func (p *page) anchor() {
	p.attributes(func(key, value string) {
		if key != "name" && key != "id" {
			return
		}
		if t := p.top(); t != nil && t.inCell {
			t.name = value
		} else {
			p.name = value
		}
	})
}
