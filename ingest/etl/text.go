package etl

import (
	"strings"
	"unicode/utf16"
)

// maxText is how many units of a string are kept: the longest path that Windows allows.
const maxText = 32767

// validText is b as a string; what is not UTF-8 is replaced.
func validText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// utf16z reads a string up to its zero, or to the end of b. It returns how many bytes it took, the zero included.
func utf16z(b []byte) (string, int) {
	units, n := make([]uint16, 0, 32), 0
	for n+2 <= len(b) {
		u := le.Uint16(b[n:])
		n += 2
		if u == 0 {
			break
		}
		if len(units) < maxText {
			units = append(units, u)
		}
	}
	return string(utf16.Decode(units)), n
}

// asciiz reads bytes up to a zero or the end of b, and returns how many it took. Bytes beyond ASCII are of an unknown
// code page and become U+FFFD, unless together they are UTF-8.
func asciiz(b []byte) (string, int) {
	end := 0
	for end < len(b) && b[end] != 0 {
		end++
	}
	return validText(b[:min(end, maxText)]), min(end+1, len(b))
}
