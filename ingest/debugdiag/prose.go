package debugdiag

import "strings"

// maxText bounds the text of one cell, heading or paragraph, in bytes.
const maxText = 64 << 10

// A prose collects text as a page shows it: runs of blanks, also of those that do not break, are one, and <br> ends a
// line.
type prose struct {
	b     []byte
	blank bool // before what comes next
	cut   bool // at maxText
}

func (p *prose) add(text []byte) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			p.blank = true
			continue
		case c == 0xC2 && i+1 < len(text) && text[i+1] == 0xA0: // U+00A0, &nbsp;
			p.blank = true
			i++
			continue
		case c == 0:
			continue
		}
		if len(p.b) >= maxText {
			p.cut = true
			return
		}
		if p.blank && len(p.b) > 0 && p.b[len(p.b)-1] != '\n' {
			p.b = append(p.b, ' ')
		}
		p.blank = false
		p.b = append(p.b, c)
	}
}

func (p *prose) line() {
	if len(p.b) > 0 && len(p.b) < maxText {
		p.b, p.blank = append(p.b, '\n'), false
	}
}

// take returns the text and begins anew. valid is false where bytes of an unknown code page were replaced by U+FFFD.
func (p *prose) take() (text string, valid bool) {
	text = strings.TrimSpace(string(p.b))
	p.b, p.blank, p.cut = p.b[:0], false, false
	whole := strings.ToValidUTF8(text, "\uFFFD")
	return whole, len(whole) == len(text) && whole == text
}
