package debugdiag

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// digits is a printed number taken apart: the groups of digits between separators, and the separators.
type digits struct {
	groups     []string
	separators []rune
}

// scanDigits takes a number off the front of text. The separators are those of the cultures of Windows: DebugDiag
// prints numbers as its machine does. A blank separates only before a group of three.
func scanDigits(text string) (d digits, rest string) {
	text = strings.TrimSpace(text)
	for len(d.groups) < 16 {
		n := digitsAt(text)
		if n == 0 {
			break
		}
		d.groups = append(d.groups, text[:n])
		text = text[n:]
		separator, size := utf8.DecodeRuneInString(text)
		following := digitsAt(text[size:])
		switch separator {
		case '.', ',', '\'', '\u2019', '\u066B', '\u066C':
		case ' ', '\u00A0', '\u202F':
			if following != 3 {
				following = 0
			}
		default:
			following = 0
		}
		if following == 0 {
			break
		}
		d.separators = append(d.separators, separator)
		text = text[size:]
	}
	return d, text
}

func digitsAt(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// parseCount reads a count: an integer of two digits at least, with thousands separators, "05" or "1,024
// allocation(s)".
func parseCount(text string) (n int64, rest string, ok bool) {
	d, rest := scanDigits(text)
	if len(d.groups) == 0 {
		return 0, text, false
	}
	n, err := strconv.ParseInt(strings.Join(d.groups, ""), 10, 64)
	return n, rest, err == nil && n <= maxCount
}

// split tells the decimals of a number from its thousands. Two decimals are printed at most, so that a last group of
// three belongs to the integer, unless nothing or another separator stands before it.
func (d digits) split() (whole, decimals string) {
	last := len(d.groups) - 1
	if last == 0 {
		return d.groups[0], ""
	}
	other := last > 1 && d.separators[last-1] != d.separators[0]
	if len(d.groups[last]) == 3 && !other && strings.TrimLeft(d.groups[0], "0") != "" {
		return strings.Join(d.groups, ""), ""
	}
	return strings.Join(d.groups[:last], ""), d.groups[last]
}

// A span is a size as it is printed, and the sizes in bytes that would be printed so.
type span struct {
	at, low, high int64
}

// margin is by how many bytes the size may be wrong.
func (s span) margin() int64 { return max(s.at-s.low, s.high-s.at) }

// maxSize bounds sizes that are believed at all, in bytes, so that sums of them do not overflow soon.
const maxSize = 1 << 57

// maxCount bounds counts that are believed.
const maxCount = 1 << 40

// units are the units of sizes. Those of DebugDiag begin above their threshold: 1024 bytes are "1024 Bytes".
var units = []struct {
	names []string
	bytes int64
}{
	{[]string{"bytes", "byte"}, 1},
	{[]string{"kbytes", "kbyte", "kb"}, 1 << 10},
	{[]string{"mbytes", "mbyte", "mb"}, 1 << 20},
	{[]string{"gbytes", "gbyte", "gb"}, 1 << 30},
	{[]string{"tbytes", "tbyte", "tb"}, 1 << 40},
}

// parseSize reads a size, "3.58 MBytes" or "1024 Bytes" in any culture.
func parseSize(text string) (s span, ok bool) {
	d, after := scanDigits(text)
	if len(d.groups) == 0 {
		return span{}, false
	}
	after = strings.TrimSpace(after)
	word := after
	if end := strings.IndexFunc(after, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }); end >= 0 {
		word = after[:end]
	}
	for i, u := range units {
		for _, name := range u.names {
			if strings.EqualFold(word, name) {
				return d.size(u.bytes, i)
			}
		}
	}
	return span{}, false
}

func (d digits) size(unit int64, at int) (s span, ok bool) {
	whole, decimals := d.split()
	decimals = decimals[:min(len(decimals), 6)]
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > maxSize/unit {
		return span{}, false
	}
	part, scale := int64(0), int64(1)
	if decimals != "" {
		part, _ = strconv.ParseInt(decimals, 10, 64) // at most six digits
		scale = int64(math.Pow10(len(decimals)))
	}
	s.at = n*unit + (part*unit+scale/2)/scale
	if unit == 1 {
		return span{s.at, s.at, s.at}, true
	}
	half := (unit + 2*max(scale, 100) - 1) / (2 * max(scale, 100)) // of the last digit that is printed, and zeros are not
	s.low, s.high = max(s.at-half, unit+1), s.at+half
	if at+1 < len(units) {
		s.high = min(s.high, units[at+1].bytes)
	}
	if s.low > s.high { // 0.5 KBytes: another tool's way to print
		s.low, s.high = max(s.at-half, 0), s.at+half
	}
	s.at = min(max(s.at, s.low), s.high)
	return s, true
}

// parseAddress reads an address, "0x00000000`7fff0000". width is the number of its digits.
func parseAddress(text string) (address uint64, width int, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) < 3 || text[0] != '0' || text[1]|0x20 != 'x' {
		return 0, 0, false
	}
	text = text[2:]
	if end := strings.IndexAny(text, " \t\n|,;"); end >= 0 {
		text = text[:end]
	}
	plain := strings.Replace(text, "`", "", 1)
	address, err := strconv.ParseUint(plain, 16, 64)
	return address, len(plain), err == nil
}

// parsePercent reads "97%", whatever decimals follow; −1 where there is none.
func parsePercent(text string) int {
	d, rest := scanDigits(text)
	if len(d.groups) == 0 || !strings.HasPrefix(strings.TrimSpace(rest), "%") {
		return -1
	}
	whole, _ := d.split()
	n, err := strconv.Atoi(whole)
	if err != nil || n > 100 {
		return -1
	}
	return n
}
