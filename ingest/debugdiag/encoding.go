package debugdiag

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeText takes off the byte order mark and turns UTF-16 into UTF-8; browsers save pages as "Unicode" too. Bytes of
// other code pages pass as they are, because all that the hooks consist of is ASCII.
func decodeText(in *bufio.Reader) io.Reader {
	head, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		_, _ = in.Discard(3) // they were just seen
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("<\x00")):
		return &utf16Decoder{in: in, order: binary.LittleEndian}
	case bytes.HasPrefix(head, []byte("\xFE\xFF")), bytes.HasPrefix(head, []byte("\x00<")):
		return &utf16Decoder{in: in, order: binary.BigEndian}
	}
	return in
}

// utf16Decoder reads UTF-16 as UTF-8.
type utf16Decoder struct {
	in    *bufio.Reader
	order binary.ByteOrder
	out   []byte
	err   error
}

func (w *utf16Decoder) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		if w.err != nil {
			return 0, w.err
		}
		w.fill()
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// fill takes what is buffered, at least one unit.
func (w *utf16Decoder) fill() {
	w.out = w.out[:0]
	for range sourceBlock / 4 {
		unit, err := w.in.Peek(2)
		if len(unit) < 2 {
			w.err = err
			return
		}
		r, taken := rune(w.order.Uint16(unit)), 2
		if utf16.IsSurrogate(r) {
			pair, _ := w.in.Peek(4)
			low := rune(0)
			if len(pair) == 4 {
				low = rune(w.order.Uint16(pair[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				taken = 4
			}
		}
		_, _ = w.in.Discard(taken) // it was just seen
		if r != '\uFEFF' {
			w.out = utf8.AppendRune(w.out, r)
		}
	}
}
