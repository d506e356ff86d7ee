// Package plaintext decodes the texts that programs print, for readers of logs. They come as UTF-8, in an ANSI code
// page, or as UTF-16 with or without a byte order mark: PowerShell redirects to UTF-16, and some tools write nothing
// else.
package plaintext

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeBlock is how many bytes are taken from the source at once.
const decodeBlock = 64 << 10

// A Decoder reads a text as UTF-8. The bytes of an ANSI code page pass as they are: all that readers look for is ASCII.
type Decoder struct {
	src     io.Reader
	order   binary.ByteOrder // of UTF-16; nil for bytes
	guessed bool             // there is no byte order mark
	raw     []byte
	at      int // raw[at:] is still to be passed on
	err     error
	out     []byte // transcoded, still to be passed on
	block   []byte // what out lies in
}

// NewDecoder looks at the beginning of src to find its encoding. An error of that is given by Read.
func NewDecoder(src io.Reader) *Decoder {
	d := &Decoder{src: src, raw: make([]byte, 0, decodeBlock)}
	for len(d.raw) < 1<<10 && d.err == nil {
		d.fill()
	}
	head := d.raw[:len(d.raw)&^1]
	switch {
	case bytes.HasPrefix(d.raw, []byte("\xEF\xBB\xBF")):
		d.at = 3
	case bytes.HasPrefix(d.raw, []byte("\xFF\xFE")):
		d.order, d.at = binary.LittleEndian, 2
	case bytes.HasPrefix(d.raw, []byte("\xFE\xFF")):
		d.order, d.at = binary.BigEndian, 2
	case len(head) >= 8 && zeros(head, 1)*4 >= len(head)/2*3:
		d.order, d.guessed = binary.LittleEndian, true
	case len(head) >= 8 && zeros(head, 0)*4 >= len(head)/2*3:
		d.order, d.guessed = binary.BigEndian, true
	}
	return d
}

// zeros counts the pairs of bytes whose zero is at the given place and whose other byte is none.
func zeros(b []byte, place int) (n int) {
	for i := 0; i+1 < len(b); i += 2 {
		if b[i+place] == 0 && b[i+1-place] != 0 {
			n++
		}
	}
	return n
}

// fill reads once behind what raw holds.
func (d *Decoder) fill() {
	for range 100 {
		n, err := d.src.Read(d.raw[len(d.raw):cap(d.raw)])
		d.raw = d.raw[:len(d.raw)+n]
		if d.err = err; n > 0 || err != nil {
			return
		}
	}
	d.err = io.ErrNoProgress
}

// Read gives the next bytes of the text.
func (d *Decoder) Read(p []byte) (int, error) {
	if d.order == nil {
		if d.at < len(d.raw) {
			n := copy(p, d.raw[d.at:])
			d.at += n
			return n, nil
		}
		if d.err != nil {
			return 0, d.err
		}
		return d.src.Read(p)
	}
	for len(d.out) == 0 {
		if len(d.raw)-d.at < 4 && d.err == nil { // a surrogate pair needs four
			d.raw = d.raw[:copy(d.raw, d.raw[d.at:])]
			d.at = 0
			d.fill()
			continue
		}
		if len(d.raw)-d.at < 2 {
			return 0, d.err
		}
		d.transcode()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// transcode turns what raw holds into out. A high surrogate at its end waits for what comes.
func (d *Decoder) transcode() {
	out := d.block[:0]
	for len(d.raw)-d.at >= 2 {
		r := rune(d.order.Uint16(d.raw[d.at:]))
		if utf16.IsSurrogate(r) {
			if len(d.raw)-d.at < 4 && d.err == nil {
				break
			}
			r = utf8.RuneError
			if len(d.raw)-d.at >= 4 {
				if r = utf16.DecodeRune(rune(d.order.Uint16(d.raw[d.at:])),
					rune(d.order.Uint16(d.raw[d.at+2:]))); r != utf8.RuneError {
					d.at += 2
				}
			}
		}
		d.at += 2
		out = utf8.AppendRune(out, r)
	}
	d.out, d.block = out, out
}

// Guessed reports whether the text is taken for UTF-16 although it has no byte order mark.
func (d *Decoder) Guessed() bool { return d.guessed }
