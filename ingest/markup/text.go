package markup

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A UTF8Reader reads a file as valid UTF-8, whatever it is stored in: UTF-16 is transcoded, and bytes of a code page,
// which stand in paths only, become U+FFFD each.
type UTF8Reader struct {
	src   io.Reader
	order binary.ByteOrder // of UTF-16; nil for bytes
	raw   []byte
	at    int // raw[at:] is still to be transcoded
	err   error
	out   []byte // still to be passed on
	block []byte // what out lies in
}

// textBlock is how many bytes are taken from the source at once.
const textBlock = 32 << 10

// NewUTF8Reader looks at the beginning of src to find its encoding. An error of that is given by Read.
func NewUTF8Reader(src io.Reader) *UTF8Reader {
	t := &UTF8Reader{src: src, raw: make([]byte, 0, textBlock)}
	for len(t.raw) < 4 && t.err == nil {
		t.fill()
	}
	switch {
	case bytes.HasPrefix(t.raw, []byte("\xEF\xBB\xBF")):
		t.at = 3
	case bytes.HasPrefix(t.raw, []byte("\xFF\xFE")):
		t.order, t.at = binary.LittleEndian, 2
	case bytes.HasPrefix(t.raw, []byte("\xFE\xFF")):
		t.order, t.at = binary.BigEndian, 2
	case bytes.HasPrefix(t.raw, []byte("<\x00")):
		t.order = binary.LittleEndian
	case bytes.HasPrefix(t.raw, []byte("\x00<")):
		t.order = binary.BigEndian
	}
	return t
}

// fill reads once behind what raw holds.
func (t *UTF8Reader) fill() {
	t.raw = t.raw[:copy(t.raw, t.raw[t.at:])]
	t.at = 0
	for range 100 {
		n, err := t.src.Read(t.raw[len(t.raw):cap(t.raw)])
		t.raw = t.raw[:len(t.raw)+n]
		if t.err = err; n > 0 || err != nil {
			return
		}
	}
	t.err = io.ErrNoProgress
}

// Read gives the next bytes of the text.
func (t *UTF8Reader) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		t.out = t.block[:0]
		for t.at < len(t.raw) {
			r, n := t.next()
			if n == 0 {
				break
			}
			t.out = utf8.AppendRune(t.out, r)
			t.at += n
		}
		t.block = t.out
		if len(t.out) == 0 {
			if t.err != nil {
				return 0, t.err
			}
			t.fill()
		}
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

// next reads the character at the front of raw, of n bytes; n is 0 where the rest of it is still to come.
func (t *UTF8Reader) next() (r rune, n int) {
	rest, final := t.raw[t.at:], t.err != nil
	if t.order == nil {
		if !final && !utf8.FullRune(rest) {
			return 0, 0
		}
		return utf8.DecodeRune(rest)
	}
	if len(rest) < 2 {
		if final {
			return utf8.RuneError, len(rest)
		}
		return 0, 0
	}
	r = rune(t.order.Uint16(rest))
	switch {
	case !utf16.IsSurrogate(r):
		return r, 2
	case len(rest) < 4 && !final:
		return 0, 0
	case len(rest) >= 4:
		if pair := utf16.DecodeRune(r, rune(t.order.Uint16(rest[2:]))); pair != utf8.RuneError {
			return pair, 4
		}
	}
	return utf8.RuneError, 2
}
