package windbg

import "bytes"

// dmlTags are the elements of the debugger markup language, and of the languages of pages, of which logs and pasted
// text keep remains.
var dmlTags = []string{"exec", "link", "altlink", "col", "b", "i", "u", "pre", "code", "span", "font", "br",
	"blockquote", "details", "summary", "strong", "em", "nowiki"}

// replaced are characters that pages and word processors put in place of others, and what stands for characters in
// markup. The zero is nothing at all.
var replaced = []struct {
	text string
	char byte
}{
	{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&nbsp;", ' '},
	{"\u00A0", ' '}, {"\u2007", ' '}, {"\u202F", ' '}, {"\u3000", ' '}, // where the debugger aligns columns
	{"\u2010", '-'}, {"\u2011", '-'}, {"\u2012", '-'}, {"\u2013", '-'}, {"\u2014", '-'}, {"\u2212", '-'}, // dashes of options and rows
	{"\u00AD", 0}, {"\u200B", 0}, {"\u200C", 0}, {"\u200D", 0}, {"\u2060", 0}, {"\uFEFF", 0}, // invisible
	{"&ZeroWidthSpace;", 0}, {"&NoBreak;", 0}, {"&zwj;", 0}, {"&zwnj;", 0}, {"&shy;", 0},
	{`\(`, '('}, {`\)`, ')'}, {`\-`, '-'}, {`\+`, '+'}, {`\.`, '.'}, {`\!`, '!'}, {`\{`, '{'}, {`\}`, '}'}, {"\\`", '`'}, {`\~`, '~'}, {`\=`, '='},
	{`\_`, '_'}, {`\*`, '*'}, {`\>`, '>'}, {`\<`, '<'}, {`\|`, '|'}, {`\#`, '#'}, {`\[`, '['}, {`\]`, ']'}, // markdown
}

// isMarked are the bytes that something to be replaced begins with.
var isMarked = func() (t [256]bool) {
	for _, r := range replaced {
		t[r.text[0]] = true
	}
	t['<'], t[escape] = true, true
	return t
}()

// escape begins the codes of colours of a terminal.
const escape = '\x1b'

// unmark takes markup off a line, twice where a page has escaped what was escaped already. The outcome lies in scratch,
// or is the line itself where it has none.
func unmark(line, scratch []byte) (text, used []byte) {
	text, scratch = unmarkOnce(line, scratch)
	if len(text) < len(line) && (bytes.IndexByte(text, '&') >= 0 || bytes.IndexByte(text, '<') >= 0) {
		text, _ = unmarkOnce(text, nil)
	}
	return text, scratch
}

func unmarkOnce(line, scratch []byte) (text, used []byte) {
	first := 0
	for first < len(line) && !isMarked[line[first]] {
		first++
	}
	if first == len(line) {
		return line, scratch
	}
	out, changed := scratch[:0], false
	out = append(out, line[:first]...)
	for i := first; i < len(line); {
		if c := line[i]; isMarked[c] {
			if n, char := markAt(line, i); n > 0 {
				if char != 0 {
					out = append(out, char)
				}
				i, changed = i+n, true
				continue
			}
		}
		out = append(out, line[i])
		i++
	}
	if !changed {
		return line, out
	}
	return out, out
}

// inPaths are characters that names of files have, so that a backslash before one may be that of a path.
var inPaths = []byte("_[]#()-+.!{}`~=")

// isInvisible reports whether a character takes no room: pages put some where a long word may break.
func isInvisible(v int64) bool {
	switch v {
	case 0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF:
		return true
	}
	return false
}

// markAt is the length of the mark at a place of a line, and what stands for it; 0 where there is none.
func markAt(line []byte, at int) (length int, char byte) {
	b := line[at:]
	switch b[0] {
	case '<':
		return tagLength(b), 0
	case escape:
		return colourLength(b), 0
	case '&':
		if n, char := numberedAt(b); n > 0 {
			return n, char
		}
	case '\\': // paths have them, too
		if len(b) > 1 && bytes.IndexByte(inPaths, b[1]) >= 0 && bytes.Contains(line[:at], []byte(`:\`)) {
			return 0, 0
		}
	}
	for _, r := range replaced {
		if b[0] == r.text[0] && bytes.HasPrefix(b, []byte(r.text)) {
			return len(r.text), r.char
		}
	}
	return 0, 0
}

// numberedAt reads a character that is written as its number, "&#160;" or "&#xA0;".
func numberedAt(b []byte) (length int, char byte) {
	const longest = 10
	if len(b) < 4 || b[1] != '#' {
		return 0, 0
	}
	end := bytes.IndexByte(b[:min(len(b), longest)], ';')
	if end < 0 {
		return 0, 0
	}
	v, ok := int64(0), false
	if b[2]|0x20 == 'x' {
		v, ok = size(b[3:end])
	} else {
		v, ok = decimal(b[2:end])
	}
	switch {
	case !ok || v == 0:
		return 0, 0
	case v < 0x80:
		return end + 1, byte(v)
	case isInvisible(v):
		return end + 1, 0
	case isDash(rune(v & 0xFFFF)):
		return end + 1, '-'
	}
	return end + 1, ' '
}

// colourLength is the length of the code that b begins with, "\x1b[1;31m".
func colourLength(b []byte) int {
	const longest = 20
	if len(b) < 3 || b[1] != '[' {
		return 1
	}
	for i := 2; i < min(len(b), longest); i++ {
		if c := b[i]; (c < '0' || c > '9') && c != ';' {
			return i + 1
		}
	}
	return 1
}

// tagLength is the length of the tag that b begins with, 0 where it is none: templates have angle brackets, too.
func tagLength(b []byte) int {
	name := b[1:]
	if len(name) > 0 && name[0] == '/' {
		name = name[1:]
	}
	for _, tag := range dmlTags {
		if rest, ok := bytes.CutPrefix(name, []byte(tag)); ok && len(rest) > 0 &&
			(rest[0] == '>' || rest[0] == ' ' || rest[0] == '/' || rest[0] == '\\') {
			end := tagEnd(rest)
			if end < 0 {
				return 0
			}
			return len(b) - len(rest) + end
		}
	}
	return 0
}

// tagEnd is the place behind the bracket that closes a tag; brackets in quotes do not. It is −1 where there is none.
func tagEnd(b []byte) int {
	const longest = 4 << 10
	quoted := false
	for i, c := range b[:min(len(b), longest)] {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '>' && !quoted:
			return i + 1
		}
	}
	return -1
}
