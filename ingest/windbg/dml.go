package windbg

import "bytes"

// dmlTags are the elements of the debugger markup language, of which logs and pasted text keep remains.
var dmlTags = []string{"exec", "link", "altlink", "col", "b", "i", "u"}

var dmlEntities = []struct {
	entity string
	char   byte
}{{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&nbsp;", ' '}, {noBreak, ' '}}

// noBreak is the blank that pages put where the debugger aligns columns.
const noBreak = "\u00A0"

// unmark takes markup off a line. The outcome lies in scratch, or is the line itself where it has none.
func unmark(line, scratch []byte) (text, used []byte) {
	if bytes.IndexByte(line, '<') < 0 && bytes.IndexByte(line, '&') < 0 && bytes.IndexByte(line, noBreak[0]) < 0 {
		return line, scratch
	}
	out, changed := scratch[:0], false
	for i := 0; i < len(line); {
		switch line[i] {
		case '<':
			if n := tagLength(line[i:]); n > 0 {
				i, changed = i+n, true
				continue
			}
		case '&', noBreak[0]:
			if n, char := entityAt(line[i:]); n > 0 {
				out = append(out, char)
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

// tagLength is the length of the tag that b begins with, 0 where it is none: templates have angle brackets, too.
func tagLength(b []byte) int {
	name := b[1:]
	if len(name) > 0 && name[0] == '/' {
		name = name[1:]
	}
	for _, tag := range dmlTags {
		if rest, ok := bytes.CutPrefix(name, []byte(tag)); ok && len(rest) > 0 && (rest[0] == '>' || rest[0] == ' ') {
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
	quoted := false
	for i, c := range b {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '>' && !quoted:
			return i + 1
		}
	}
	return -1
}

func entityAt(b []byte) (length int, char byte) {
	for _, e := range dmlEntities {
		if bytes.HasPrefix(b, []byte(e.entity)) {
			return len(e.entity), e.char
		}
	}
	return 0, 0
}
