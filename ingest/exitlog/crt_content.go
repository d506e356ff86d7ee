package exitlog

import "bytes"

const (
	// leastText is how many characters a block must begin with to be told by them. A pointer may look like four
	// letters.
	leastText    = 6
	leastLetters = 4
	// shownContent is how many bytes of a block the debug CRT prints.
	shownContent = 16
)

// content notes how a block begins, where that is text: of other content, addresses and counters change with each
// run. The bytes tell, because the characters before them show a blank for each that cannot be printed:
//
//	Data: <session 17 of 3 > 73 65 73 73 69 6F 6E 20 31 37 20 6F 66 20 33 20
func (p *crtParser) content(text []byte) {
	if !p.has || p.last.file != 0 {
		return
	}
	end := bytes.LastIndexByte(text, '>')
	if end < 0 {
		return
	}
	var shown [shownContent]byte
	start := textOf(hexBytes(shown[:0], text[end+1:]))
	letters := 0
	for i, c := range start {
		switch {
		case c >= '0' && c <= '9':
			start[i] = '#' // a number that changes with each run
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		}
	}
	if len(start) >= leastText && letters >= leastLetters {
		p.last.start = p.out.crt.text(string(bytes.TrimRight(start, " .")))
	}
}

// hexBytes appends bytes that are printed as "73 65 ", up to the first that is none.
func hexBytes(to, text []byte) []byte {
	for len(to) < cap(to) {
		text = bytes.TrimLeft(text, " ")
		if len(text) < 2 {
			break
		}
		v, ok := hexNumber(text[:2])
		if !ok {
			break
		}
		to, text = append(to, byte(v)), text[2:]
	}
	return to
}

// textOf is the text that bytes begin with and that ends with a zero, with memory that nobody has written to, or with
// the bytes: in ASCII, or in UTF-16 with characters of ASCII alone. It is none where other bytes follow.
func textOf(b []byte) []byte {
	step := 1
	if len(b) > 1 && b[1] == 0 {
		step = 2
	}
	n := 0
	for at := 0; at < len(b); at += step {
		if step == 2 && at+1 < len(b) && b[at+1] != 0 {
			return nil
		}
		switch c := b[at]; {
		case c >= ' ' && c <= '~':
			b[n] = c
		case c == '\t', c == '\r', c == '\n':
			b[n] = ' '
		case c == 0, c == 0xCD, c == 0xFD: // not written, or behind the block
			return b[:n]
		default:
			return nil
		}
		n++
	}
	return b[:n]
}
