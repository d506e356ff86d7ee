package windbg

import "bytes"

// numberLength is the length of the number of a line that a bar divides from the rest, "12 | "; 0 where there is none.
func numberLength(text []byte) int {
	const longest = 7
	at := runLength(text[:min(longest, len(text))], isDigit)
	for end := at + 2; at > 0 && at < len(text) && at < end && text[at] == ' '; at++ {
	}
	for _, bar := range [...]string{"|", "\u2502", "\u00A6"} {
		if at > 0 && bytes.HasPrefix(text[at:], []byte(bar)) {
			return at + len(bar)
		}
	}
	return 0
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
			at++
			at += runLength(b[at:], isDigit)
		}
	}
	return at + zoneLength(b[at:])
}

// zoneLength is that of "Z", "+01:00", "-0800" or both.
func zoneLength(b []byte) (at int) {
	if len(b) > 0 && b[0] == 'Z' {
		at++
	}
	if at < len(b) && (b[at] == '+' || b[at] == '-') && digitsAt(b, at+1, 2) {
		at++
		at += runLength(b[at:], func(c byte) bool { return isDigit(c) || c == ':' })
	}
	return at
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// runLength is how many of the first bytes are of a kind.
func runLength(b []byte, is func(byte) bool) int {
	for i, c := range b {
		if !is(c) {
			return i
		}
	}
	return len(b)
}
