package umdh

import (
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// An encoding is how a log's characters are stored. Bytes of an ANSI code page pass as UTF-8 does: everything
// the format itself consists of is ASCII.
type encoding uint8

const (
	utf8Text encoding = iota
	utf16LE
	utf16BE
)

// detect says how the text that begins with head is stored, and how many bytes of head are its byte order mark.
// Without a mark, text whose every other byte is NUL is UTF-16, and guessed is true.
func detect(head []byte) (e encoding, mark int, guessed bool) {
	switch {
	case len(head) >= 3 && head[0] == 0xEF && head[1] == 0xBB && head[2] == 0xBF:
		return utf8Text, 3, false
	case len(head) >= 2 && head[0] == 0xFF && head[1] == 0xFE:
		return utf16LE, 2, false
	case len(head) >= 2 && head[0] == 0xFE && head[1] == 0xFF:
		return utf16BE, 2, false
	}
	var le, be, pairs int
	for i := 0; i+1 < len(head); i += 2 {
		switch low, high := head[i] == 0, head[i+1] == 0; {
		case low && high: // padding
			continue
		case high:
			le++
		case low:
			be++
		}
		pairs++
	}
	switch {
	case pairs >= 2 && le*4 >= pairs*3:
		return utf16LE, 0, true
	case pairs >= 2 && be*4 >= pairs*3:
		return utf16BE, 0, true
	}
	return utf8Text, 0, false
}

// transcodeBlock is how many bytes of UTF-16 are taken at once; it is a power of two.
const transcodeBlock = 64 << 10

// textDecoder reads a log as UTF-8, or as the ANSI bytes it has.
type textDecoder struct {
	src     io.Reader
	enc     encoding
	guessed bool
	torn    bool  // the source ended inside a character
	offset  int64 // bytes taken from the source

	raw      []byte // what detection read, later a block of UTF-16
	at, have int    // raw[at:have] is still to be passed on
	err      error  // of the source; given once raw is used up
	out      []byte // transcoded, to be passed on
	outBlock []byte
}

// newTextDecoder looks at the beginning of the source. What failed there is given by Read.
func newTextDecoder(src io.Reader) *textDecoder {
	d := &textDecoder{src: src, raw: make([]byte, 2<<10)}
	for d.err == nil {
		if d.have == len(d.raw) {
			if d.have == transcodeBlock {
				break
			}
			d.raw = append(d.raw, make([]byte, len(d.raw))...) // most logs that are read are small
		}
		d.fill()
	}
	d.enc, d.at, d.guessed = detect(d.raw[:d.have])
	return d
}

// most bounds what is still to come as text, in bytes, where the source has ended already; else it is −1.
func (d *textDecoder) most() int {
	if d.err == nil {
		return -1
	}
	return (d.have - d.at) / 2 * 3 // two bytes of UTF-16 are three of UTF-8 at most
}

// fill reads once into the free part of raw.
func (d *textDecoder) fill() {
	for range 100 {
		n, err := d.src.Read(d.raw[d.have:])
		d.have += n
		d.offset += int64(n)
		if d.err = err; n > 0 || err != nil {
			return
		}
	}
	d.err = io.ErrNoProgress
}

// Read gives the next bytes of the text.
func (d *textDecoder) Read(p []byte) (int, error) {
	if d.enc == utf8Text {
		if d.at < d.have {
			n := copy(p, d.raw[d.at:d.have])
			d.at += n
			return n, nil
		}
		if d.err != nil {
			return 0, d.err
		}
		n, err := d.src.Read(p)
		d.offset += int64(n)
		return n, err
	}
	for len(d.out) == 0 {
		if d.have-d.at < 4 && d.err == nil { // a surrogate pair may need four
			d.have = copy(d.raw, d.raw[d.at:d.have])
			d.at = 0
			d.fill()
			continue
		}
		if d.have-d.at < 2 {
			d.torn = d.torn || d.have > d.at
			return 0, d.err
		}
		d.transcode()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// transcode turns what raw holds into out. A high surrogate at its end waits for what comes.
func (d *textDecoder) transcode() {
	if d.outBlock == nil {
		d.outBlock = make([]byte, 0, len(d.raw)/2*3)
	}
	whole := (d.have - d.at) &^ 1
	out, raw := d.outBlock[:0], d.raw[d.at:d.at+whole]
	wide, shift := uint64(0xFF80FF80FF80FF80), 0 // bits that no ASCII character has, and where it lies in its unit
	if d.enc == utf16BE {
		wide, shift = 0x80FF80FF80FF80FF, 8
	}
	for len(raw) >= 2 {
		if len(raw) >= 8 {
			if x := binary.LittleEndian.Uint64(raw); x&wide == 0 { // four ASCII characters
				x = x>>shift | x>>shift>>8
				x &= evenFours
				out = binary.LittleEndian.AppendUint32(out, uint32(x|x>>16))
				raw = raw[8:]
				continue
			}
		}
		r := rune(d.unit(raw))
		if utf16.IsSurrogate(r) {
			if len(raw) < 4 && d.err == nil {
				break
			}
			r = utf8.RuneError
			if len(raw) >= 4 {
				if r = utf16.DecodeRune(rune(d.unit(raw)), rune(d.unit(raw[2:]))); r != utf8.RuneError {
					raw = raw[2:]
				}
			}
		}
		out, raw = utf8.AppendRune(out, r), raw[2:]
	}
	d.at += whole - len(raw)
	d.out, d.outBlock = out, out
}

func (d *textDecoder) unit(b []byte) uint16 {
	if d.enc == utf16LE {
		return binary.LittleEndian.Uint16(b)
	}
	return binary.BigEndian.Uint16(b)
}

// validText makes a string of bytes. Bytes that are not UTF-8 are of an unknown code page: each becomes U+FFFD,
// and valid is false.
func validText(b []byte) (s string, valid bool) {
	if utf8.Valid(b) {
		return string(b), true
	}
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String(), false
}
