package windbg

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"
)

// A row is a line as its words, without a copy.
type row struct {
	words [16][]byte
	n     int // words there are; 17 where there are more than fit
}

// split cuts a line at blanks.
func split(text []byte) (r row) {
	for i := 0; i < len(text); {
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		start := i
		for i < len(text) && text[i] != ' ' && text[i] != '\t' {
			i++
		}
		if i == start {
			break
		}
		if r.n == len(r.words) {
			r.n++
			return r
		}
		r.words[r.n] = text[start:i]
		r.n++
	}
	return r
}

// hexValue is the value of each digit, and −1 of all other characters.
var hexValue = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i := range 10 {
		t['0'+i] = int8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = int8(10+i), int8(10+i)
	}
	return t
}()

// hex reads a hexadecimal number of at most 64 bits. The debugger puts a grave accent between the halves of wide ones,
// and some versions 0x before them.
func hex(b []byte) (v uint64, ok bool) {
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		b = b[2:]
	}
	digits := 0
	for _, c := range b {
		d := hexValue[c]
		if d < 0 {
			if c == '`' && digits > 0 {
				continue
			}
			return 0, false
		}
		if v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
		digits++
	}
	return v, digits > 0
}

// size reads a hexadecimal number of bytes.
func size(b []byte) (int64, bool) {
	v, ok := hex(b)
	return int64(v), ok && v <= math.MaxInt64
}

// decimal reads a decimal number.
func decimal(b []byte) (v int64, ok bool) {
	for _, c := range b {
		d := int64(c - '0')
		if c < '0' || c > '9' || v > (math.MaxInt64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, len(b) > 0
}

// scaled reads a decimal number of units as bytes.
func scaled(b []byte, unit int64) (int64, bool) {
	v, ok := decimal(b)
	if !ok || v > math.MaxInt64/unit {
		return 0, false
	}
	return v * unit, true
}

// grouped reads a decimal number whose digits may be grouped as the locale of the machine does.
func grouped(b []byte) (v int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			continue
		}
		d := int64(c - '0')
		if v > (math.MaxInt64-d)/10 {
			return 0, false
		}
		v, ok = v*10+d, true
	}
	return v, ok
}

// sum adds sizes, none of which is negative, and stops at the largest number there is.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// wide is the bits of a process by the digits that the debugger prints of an address, 0 where they do not tell.
func wide(address []byte) uint8 {
	switch len(address) - bytes.Count(address, []byte("`")) {
	case 8:
		return 32
	case 16:
		return 64
	}
	return 0
}

// maxText bounds what is kept of a line, in bytes.
const maxText = 1 << 10

// plain makes a string of a line. Letters of an unknown code page are replaced.
func plain(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) > maxText {
		b = b[:maxText]
	}
	return strings.ToValidUTF8(string(b), string(utf8.RuneError))
}
