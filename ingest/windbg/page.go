package windbg

import (
	"bufio"
	"bytes"
	"context"
	"io"
)

// pageHead is how much of a text tells whether it is a page.
const pageHead = 64 << 10

// A page reads the text of a page in HTML: a line for each line that a browser shows, as far as that matters to output
// of a debugger. Tags that HTML does not have stay: templates of C++ and the debugger's own markup have angle brackets,
// too. Entities stay as well, for unmark.
type page struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Read
	src   io.Reader
	whole bool // it is a document: scripts are hidden, and lines may be broken inside of paragraphs
	raw   []byte
	out   []byte
	at    int // out[at:] is still to be passed on
	err   error

	tag   []byte // the tag at hand, from its bracket on; empty outside of tags
	quote byte   // the quotation mark inside of the tag, 0 for none
	skip  string // what ends the part that is left out, "" in text
	row   bool   // inside of a paragraph or a row of a table
	lines int    // that were joined in it
	pre   int    // inside of how many elements that keep their lines
}

// openPage returns a reader of what text shows: itself, or what a browser makes of it.
func openPage(ctx context.Context, text io.Reader) io.Reader {
	src := bufio.NewReaderSize(text, pageHead)
	head, _ := src.Peek(pageHead) // an error comes again when it is read
	whole := isDocument(head)
	if !whole && !isFragment(head) {
		return src
	}
	return &page{ctx: ctx, src: src, whole: whole, raw: make([]byte, 16<<10)}
}

// isDocument reports whether a text begins as a page does.
func isDocument(head []byte) bool {
	start := bytes.ToLower(bytes.TrimLeft(head[:min(len(head), 1024)], " \t\r\n"))
	for _, markup := range []string{"<!doctype html", "<html", "<head", "<body", "<!doctype"} {
		if bytes.HasPrefix(start, []byte(markup)) {
			return true
		}
	}
	return bytes.HasPrefix(start, []byte("<?xml")) && bytes.Contains(start, []byte("<html"))
}

// isFragment reports whether a text has tags of a page that no debugger writes.
func isFragment(head []byte) bool {
	lower := bytes.ToLower(head)
	for _, tag := range []string{"<br>", "<br/>", "<br />", "</p>", "</div>", "</pre>", "</td>",
		"</tr>", "</li>", "</span>"} {
		if bytes.Contains(lower, []byte(tag)) {
			return true
		}
	}
	return false
}

// The effects of a tag on the text.
const (
	inline = iota
	breaks // begins a line
	cell   // begins a cell
	hides  // its content is no text
)

var pageTags = map[string]int{
	"br": breaks, "p": breaks, "div": breaks, "tr": breaks, "li": breaks, "ul": breaks, "ol": breaks, "table": breaks,
	"pre": breaks, "hr": breaks,
	"h1": breaks, "h2": breaks, "h3": breaks, "h4": breaks, "h5": breaks, "h6": breaks, "blockquote": breaks,
	"section": breaks, "article": breaks,
	"dd": breaks, "dt": breaks, "dl": breaks, "body": breaks, "html": breaks, "head": breaks, "textarea": breaks,
	"details": breaks, "summary": breaks,
	"tbody": breaks, "thead": breaks, "main": breaks, "header": breaks, "footer": breaks, "nav": breaks, "form": breaks,
	"title": breaks, "figure": breaks,
	"td": cell, "th": cell, "script": hides, "style": hides, "!--": hides,
	"span": inline, "a": inline, "b": inline, "i": inline, "u": inline, "em": inline, "strong": inline, "code": inline,
	"font": inline, "tt": inline, "samp": inline, "kbd": inline,
	"small": inline, "img": inline, "meta": inline, "link": inline, "input": inline, "button": inline, "svg": inline,
	"path": inline, "label": inline, "sub": inline, "sup": inline,
	"center": inline, "wbr": inline, "colgroup": inline, "col": inline, "o:p": inline, "mark": inline, "ins": inline,
	"del": inline, "!doctype": inline, "?xml": inline, "base": inline,
}

// keepsLines are the elements inside of which the ends of lines are those of the text.
var keepsLines = map[string]bool{"pre": true, "code": true, "textarea": true, "samp": true}

// Read implements io.Reader.
func (g *page) Read(b []byte) (int, error) {
	for g.at == len(g.out) {
		if g.err != nil {
			return 0, g.err
		}
		if g.ctx.Err() != nil {
			return 0, context.Cause(g.ctx)
		}
		n, err := g.src.Read(g.raw)
		g.out, g.at, g.err = g.out[:0], 0, err
		for _, c := range g.raw[:n] {
			g.char(c)
		}
		if err != nil && len(g.tag) > 0 { // a page that ends inside of a tag
			g.out, g.tag = append(g.out, g.tag...), g.tag[:0]
		}
	}
	n := copy(b, g.out[g.at:])
	g.at += n
	return n, nil
}

// maxTag bounds a tag in bytes. One that is longer is text.
const maxTag = 8 << 10

func (g *page) char(c byte) {
	switch {
	case g.skip != "":
		g.hidden(c)
	case len(g.tag) > 0:
		g.inTag(c)
	case c == '<':
		g.tag, g.quote = append(g.tag[:0], c), 0
	case c == '\n' && g.row && g.pre == 0:
		g.join()
	case c == '\r':
	default:
		g.out = append(g.out, c)
	}
}

// mostJoined is how many lines of a row or a paragraph are one. More are no row: strings of a program may hold markup
// that nobody closes.
const mostJoined = 64

// join makes a blank of the end of a line.
func (g *page) join() {
	if g.lines++; g.lines > mostJoined {
		g.row = false
		g.out = append(g.out, '\n')
		return
	}
	g.out = append(g.out, ' ')
}

// hidden passes over what is no text until its end has come.
func (g *page) hidden(c byte) {
	g.tag = append(g.tag, c|0x20*isUpper(c))
	if n := len(g.tag) - len(g.skip); n > 0 {
		g.tag = append(g.tag[:0], g.tag[n:]...)
	}
	if string(g.tag) == g.skip {
		g.skip, g.tag = "", g.tag[:0]
	}
}

func isUpper(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return 1
	}
	return 0
}

// inTag takes a character behind a bracket.
func (g *page) inTag(c byte) {
	if c == '<' && g.quote == 0 { // what came was none
		g.out = append(g.out, g.tag...)
		g.tag = append(g.tag[:0], c)
		return
	}
	g.tag = append(g.tag, c)
	name, named := g.name()
	what, known := pageTags[name]
	switch {
	case name == "!--" && g.whole:
		g.skip, g.tag = "-->", g.tag[:0]
	case named && (!known || what == hides && !g.whole), len(g.tag) > maxTag, !named && len(g.tag) > 16:
		g.out, g.tag = append(g.out, g.tag...), g.tag[:0]
		if c == '\n' && g.row && g.pre == 0 {
			g.out = g.out[:len(g.out)-1]
			g.join()
		}
	case g.quote != 0:
		if c == g.quote {
			g.quote = 0
		}
	case c == '>':
		g.close(name, what)
	case (c == '"' || c == '\'') && g.tag[len(g.tag)-2] == '=':
		g.quote = c
	}
}

// name is that of the tag at hand, in lower case; named says that it is over.
func (g *page) name() (name string, named bool) {
	b := g.tag[1:]
	b = bytes.TrimPrefix(b, []byte("/"))
	for i, c := range b[:min(len(b), 16)] {
		switch {
		case c == ' ' || c == '>' || c == '/' || c == '\t' || c == '\n' || c == '\r':
			return string(bytes.ToLower(b[:i])), true
		case i == 2 && b[0] == '!' && b[1] == '-' && c == '-':
			return "!--", true
		}
	}
	return "", false
}

// close does what a tag says.
func (g *page) close(name string, what int) {
	ends := g.tag[1] == '/'
	g.tag = g.tag[:0]
	switch what {
	case hides:
		if !ends {
			g.skip = "</" + name + ">"
		}
		return
	case breaks:
		g.out = append(g.out, '\n')
	case cell:
		g.out = append(g.out, ' ', ' ')
	}
	switch {
	case keepsLines[name] && ends:
		g.pre = max(0, g.pre-1)
	case keepsLines[name]:
		g.pre++
	case name == "tr" || name == "p" && g.whole:
		g.row, g.lines = !ends, 0
	case what == breaks && name != "br":
		g.row = false
	}
}
