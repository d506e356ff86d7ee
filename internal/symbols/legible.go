package symbols

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols/index"
)

// legible makes a name that a file gives fit for a line of text: names are bytes of a compiler, old ones write them in
// the code page of their machine, and databases and terminals take text only. What is none becomes U+FFFD.
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
	for i := range len(s) {
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
