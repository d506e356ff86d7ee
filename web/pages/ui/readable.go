package ui

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// readable marks the characters of a page that would turn the text behind them round, U+202E and its like, in place:
// names of functions and files come from evidence, and nobody is to read another name than there is.
func readable(page []byte) []byte {
	replaceTurning(page, 0xE2, "\uFFFD") // all of them but one begin with this byte, and take three
	replaceTurning(page, 0xD8, "¿")      // U+061C takes two
	return page
}

// replaceTurning puts a sign in the place of characters that begin with a byte and take as many bytes as the sign.
func replaceTurning(page []byte, first byte, sign string) {
	for {
		at := bytes.IndexByte(page, first)
		if at < 0 {
			return
		}
		page = page[at:]
		r, size := utf8.DecodeRune(page)
		if size == len(sign) && unicode.Is(unicode.Bidi_Control, r) {
			copy(page, sign)
		}
		page = page[size:]
	}
}
