package symbols

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/index"
)

// legible makes a name from a file fit for a line of text. Names are bytes of a compiler, and old compilers write them
// in the code page of their machine. Databases and terminals take UTF-8 only: other bytes become U+FFFD.
func legible(s string) string {
	if isPlain(s) {
		return s
	}
	for _, r := range s {
		if isIllegible(r) {
			return strings.Map(func(r rune) rune {
				if isIllegible(r) {
					return utf8.RuneError
				}
				return r
			}, s)
		}
	}
	return s
}

// isPlain reports whether a text is printable ASCII, as nearly all names are.
func isPlain(s string) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if (x|(x+each)|(x-each*' '))&high != 0 { // beyond ASCII, DEL, or below the blank; what carries into a neighbour does so from one of these
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isIllegible reports whether a character breaks lines, steers a terminal or turns the text behind it round.
func isIllegible(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// legibleImage does so for what a search says about a module; its frames are legible already.
func legibleImage(i *capture.Image) {
	i.PDB, i.Match = legible(i.PDB), legible(i.Match)
	for k := range i.Tried {
		i.Tried[k].Place, i.Tried[k].Detail = legible(i.Tried[k].Place), legible(i.Tried[k].Detail)
	}
}

func legibleLocation(l *index.Location) {
	l.Function, l.File = legible(l.Function), legible(l.File)
	for k := range l.Inlines {
		l.Inlines[k].Function, l.Inlines[k].File = legible(l.Inlines[k].Function), legible(l.Inlines[k].File)
	}
}
