package windbg

import "bytes"

// A paste takes off a line what pasting has put before and around it: marks of quotation and comment, bullets, times,
// the numbers of lines, fences and emphasis of markdown and wikis. Marks that no list knows are learned: where
// something that only the debugger writes stands behind other text, that text is taken off the lines that begin alike.
type paste struct {
	prefix []byte // learned; nil for none
	number int64  // of the line before, where the prefix is a number
	lines  []byte // scratch of table rows
	quoted bool   // the line had a mark of quotation, which new debuggers print as a prompt, too
}

// maxPrefix bounds a prefix that is learned, in bytes.
const maxPrefix = 80

// strip returns a line without what pasting has added.
func (p *paste) strip(text []byte) []byte {
	p.quoted = false
	text = bytes.Trim(text, blanks)
	if len(p.prefix) == 0 && isAddressRow(text) {
		return text
	}
	text = p.layers(text)
	if rest, ok := p.cutLearned(text); ok {
		text = p.layers(rest)
	}
	if at := anchorIn(text); at > 0 {
		if at <= maxPrefix {
			p.learn(text[:at])
		}
		text = text[at:]
	}
	return text
}

// isAddressRow reports whether a line begins with an address and a blank, as most rows do: nobody has put anything
// before it.
func isAddressRow(text []byte) bool {
	const least, most = 8, 17
	at := 0
	for at < len(text) && at < most && (hexValue[text[at]] >= 0 || text[at] == '`') {
		at++
	}
	return at >= least && at < len(text) && text[at] == ' ' && bytes.IndexByte(text, '>') < 0
}

// layers takes off marks, one after the other as long as there are any.
func (p *paste) layers(text []byte) []byte {
	const most = 8
	text = bytes.Trim(text, blanks)
	for range most {
		rest := p.layer(text)
		if len(rest) == len(text) {
			break
		}
		text = bytes.Trim(rest, blanks)
	}
	return text
}

// blanks are what a line has around it: blanks, padding, and the end of a file of DOS.
const blanks = " \t\x00\x1a\r\f\v"

// marks are what stands before a pasted line, where a blank or the text follows it at once.
var marks = [][]byte{[]byte("///"), []byte("//"), []byte("/*"), []byte("*/"), []byte("<!--"), []byte("-->"),
	[]byte("```"), []byte("~~~"), []byte("{{{"), []byte("}}}"),
	[]byte("{code}"), []byte("{noformat}"), []byte("[code]"), []byte("[/code]"), []byte("[quote]"), []byte("[/quote]"),
	[]byte("[pre]"), []byte("[/pre]"), []byte("[b]"), []byte("[/b]")}

// ends are those of marks that stand behind a line, too.
var ends = [][]byte{[]byte("*/"), []byte("-->"), []byte("```"), []byte("}}}"), []byte("{code}"), []byte("{noformat}"),
	[]byte("[/code]"), []byte("[/quote]"), []byte("[/pre]"), []byte("[/b]"), []byte(" *")}

// layer takes one mark off a line.
func (p *paste) layer(text []byte) []byte {
	if len(text) < 2 {
		if len(text) == 1 && (text[0] == '>' || text[0] == '|' || text[0] == '#' || text[0] == '*') {
			return nil
		}
		return text
	}
	for _, end := range ends {
		if len(text) > len(end) && text[len(text)-1] == end[len(end)-1] && bytes.HasSuffix(text, end) {
			text = bytes.TrimRight(text[:len(text)-len(end)], blanks)
			break
		}
	}
	if len(text) < 2 {
		return text
	}
	switch c := text[0]; {
	case c == '>':
		p.quoted = true
		return text[1:]
	case c == '|':
		return p.cells(text)
	case c == '#':
		return bytes.TrimLeft(text, "#")
	case c == '`' && text[1] != '`':
		return unfence(text)
	case c == '*' && text[1] == '*' && len(text) > 4 && text[2] != '*' && bytes.HasSuffix(text, []byte("**")):
		return text[2 : len(text)-2]
	case (c == '*' || c == '+' || c == '-' || c == ';' || c == '%') && (text[1] == ' ' || text[1] == '\t'):
		return text[2:]
	case c == '-' && text[1] == '-' && (len(text) == 2 || text[2] != '-'):
		return text[2:]
	case c == '[' || '0' <= c && c <= '9':
		if n := max(timeLength(text), numberLength(text)); n > 0 {
			return text[n:]
		}
	case len(text) > 4 && bytes.EqualFold(text[:4], []byte("rem ")):
		return text[4:]
	}
	for _, mark := range marks {
		if text[0] == mark[0] && bytes.HasPrefix(text, mark) {
			return text[len(mark):]
		}
	}
	return text
}

// numberLength is the length of the number of a line that a bar divides from the rest, "12 | "; 0 where there is none.
func numberLength(text []byte) int {
	const longest = 7
	at := 0
	for at < longest && digitsAt(text, at, 1) {
		at++
	}
	for end := at + 2; at > 0 && at < len(text) && at < end && text[at] == ' '; at++ {
	}
	for _, bar := range [...]string{"|", "\u2502", "\u00A6"} {
		if at > 0 && bytes.HasPrefix(text[at:], []byte(bar)) {
			return at + len(bar)
		}
	}
	return 0
}

// cells takes the bars off a row of a table. Protections have bars, too.
func (p *paste) cells(text []byte) []byte {
	text = text[1:]
	isRow := text[len(text)-1] == '|'
	text = bytes.TrimRight(text, "| \t")
	if !isRow && bytes.Count(text, []byte("|")) < 3 {
		return text
	}
	p.lines = append(p.lines[:0], text...)
	for i, c := range p.lines {
		if c == '|' {
			p.lines[i] = ' '
		}
	}
	return p.lines
}

// unfence takes backticks off a line that begins with one, but for those in numbers, which the debugger prints itself.
func unfence(text []byte) []byte {
	if n := bytes.Count(text, []byte("`")); n > 2 || bytes.IndexByte(text, '!') > 1 && n > 1 && text[len(text)-1] != '`' {
		out := bytes.Clone(text[1:])
		for i, c := range out {
			inNumber := i > 0 && i+1 < len(out) && hexValue[out[i-1]] >= 0 && hexValue[out[i+1]] >= 0
			if c == '`' && !inNumber {
				out[i] = ' '
			}
		}
		return out
	}
	return bytes.TrimSuffix(text[1:], []byte("`"))
}

// timeLength is the length of a time that a line begins with, with what divides it from the rest; 0 where there is
// none:
//
//	12:34:56.789  [12:34:56]  2024-03-05 10:20:30,123  2024-03-05T10:20:30.123Z  05.03.2024 10:20
func timeLength(text []byte) int {
	at := 0
	bracket := text[0] == '['
	if bracket {
		at++
	}
	if n := dateLength(text[at:]); n > 0 {
		at += n
	}
	n := clockLength(text[at:])
	if n == 0 {
		return 0
	}
	at += n
	for _, half := range []string{" AM", " PM", " am", " pm"} {
		if bytes.HasPrefix(text[at:], []byte(half)) {
			at += len(half)
		}
	}
	switch {
	case bracket && at < len(text) && text[at] == ']':
		return at + 1
	case bracket:
		return 0
	case at == len(text):
		return at
	case text[at] == ' ' || text[at] == '\t' || text[at] == '|':
		return at + 1
	case text[at] == '>' || text[at] == ':':
		if at+1 < len(text) && (text[at+1] == ' ' || text[at+1] == '\t') {
			return at + 2
		}
	}
	return 0
}

// digitsAt reports whether n digits stand at a place.
func digitsAt(b []byte, at, n int) bool {
	if at+n > len(b) {
		return false
	}
	for _, c := range b[at : at+n] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// dateLength is that of "2024-03-05 ", "2024-03-05T" or "05.03.2024 ".
func dateLength(b []byte) int {
	const length = len("2024-03-05 ")
	if len(b) < length || bytes.IndexByte([]byte(" T\t"), b[length-1]) < 0 {
		return 0
	}
	isBreak := func(c byte) bool { return c == '-' || c == '/' || c == '.' }
	if digitsAt(b, 0, 4) && isBreak(b[4]) && digitsAt(b, 5, 2) && isBreak(b[7]) && digitsAt(b, 8, 2) ||
		digitsAt(b, 0, 2) && isBreak(b[2]) && digitsAt(b, 3, 2) && isBreak(b[5]) && digitsAt(b, 6, 4) {
		return length
	}
	return 0
}

// clockLength is that of "12:34", "12:34:56", "12:34:56.789" and of what names the zone.
func clockLength(b []byte) int {
	if !digitsAt(b, 0, 2) || len(b) < 5 || b[2] != ':' || !digitsAt(b, 3, 2) || b[0] > '2' || b[3] > '5' {
		return 0
	}
	at := 5
	if at < len(b) && b[at] == ':' && digitsAt(b, at+1, 2) {
		at += 3
		if at+1 < len(b) && (b[at] == '.' || b[at] == ',') && digitsAt(b, at+1, 1) {
			for at++; digitsAt(b, at, 1); at++ {
			}
		}
	}
	if at < len(b) && b[at] == 'Z' {
		at++
	}
	if at < len(b) && (b[at] == '+' || b[at] == '-') && digitsAt(b, at+1, 2) {
		for at++; at < len(b) && (digitsAt(b, at, 1) || b[at] == ':'); at++ {
		}
	}
	return at
}

// learn keeps what stood before something that only the debugger writes.
func (p *paste) learn(prefix []byte) {
	p.prefix = append(p.prefix[:0], prefix...)
	p.number = -1
	if n, ok := decimal(bytes.TrimRight(bytes.TrimSpace(prefix), ".:)")); ok {
		p.number = n
	}
}

// cutLearned takes the prefix off a line that begins alike: digits stand for digits of any number, all else for itself.
// Where the prefix is nothing but a number, it must be the next one.
func (p *paste) cutLearned(text []byte) (rest []byte, ok bool) {
	if len(p.prefix) == 0 {
		return text, false
	}
	at := 0
	for i := 0; i < len(p.prefix); {
		c := p.prefix[i]
		isDigit := func(b []byte, at int) bool { return digitsAt(b, at, 1) }
		switch {
		case isDigit(p.prefix, i):
			from := at
			for ; i < len(p.prefix) && isDigit(p.prefix, i); i++ {
			}
			for ; isDigit(text, at); at++ {
			}
			if at == from {
				return text, false
			}
		case c == ' ' || c == '\t':
			for ; i < len(p.prefix) && (p.prefix[i] == ' ' || p.prefix[i] == '\t'); i++ {
			}
			if i == len(p.prefix) && at == len(text) {
				break
			}
			from := at
			for ; at < len(text) && (text[at] == ' ' || text[at] == '\t'); at++ {
			}
			if at == from {
				return text, false
			}
		case at < len(text) && text[at] == c:
			i, at = i+1, at+1
		default:
			return text, false
		}
	}
	if p.number < 0 {
		return text[at:], true
	}
	n, _ := decimal(bytes.TrimRight(bytes.TrimSpace(text[:at]), ".:)"))
	const gap = 8 // blank lines may be left out
	if n <= p.number || n > p.number+gap {
		return text, false
	}
	p.number = n
	return text[at:], true
}
