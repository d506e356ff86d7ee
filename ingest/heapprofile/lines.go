package heapprofile

import (
	"bytes"
	"context"
	"errors"
	"io"

	"heapdrift/ingest/plaintext"
)

// maxLine bounds a line in bytes, and is the size of the buffer. A stack of jemalloc has up to 1024 addresses of 19
// bytes.
const maxLine = 256 << 10

// lines gives the lines of a profile. It holds one buffer.
type lines struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Read
	src    *plaintext.Decoder
	buf    []byte
	at     int   // buf[at:] is still to be read
	number int64 // of the line read last, from 1
	long   bool  // the line read last is longer than maxLine: its rest is passed over
	cut    bool  // the line read last has no end
	end    bool  // of the source
	err    error // why the source ended, if not because it is over
}

func newLines(ctx context.Context, r io.Reader) *lines {
	return &lines{ctx: ctx, src: plaintext.NewDecoder(r), buf: make([]byte, 0, maxLine)}
}

// fill moves what is left to the front of the buffer and reads behind it.
func (l *lines) fill() {
	l.buf = l.buf[:copy(l.buf, l.buf[l.at:])]
	l.at = 0
	const mostEmpty = 100 // reads of nothing before the source counts as stuck
	for range mostEmpty {
		if l.ctx.Err() != nil {
			l.end, l.err = true, context.Cause(l.ctx)
			return
		}
		n, err := l.src.Read(l.buf[len(l.buf):cap(l.buf)])
		l.buf = l.buf[:len(l.buf)+n]
		if err != nil {
			l.end = true
			if !errors.Is(err, io.EOF) {
				l.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	l.end, l.err = true, io.ErrNoProgress
}

// next returns the next line without its end, good until the call after; ok is false when there are no more.
func (l *lines) next() (line []byte, ok bool) {
	for {
		rest := l.buf[l.at:]
		n := bytes.IndexByte(rest, '\n')
		switch {
		case l.long && n >= 0:
			l.at += n + 1
			l.long = false
		case l.long && !l.end:
			l.at = len(l.buf)
			l.fill()
		case l.long || n < 0 && l.end && len(rest) == 0:
			return nil, false
		case n >= 0:
			l.at += n + 1
			l.number++
			return rest[:n], true
		case len(rest) >= maxLine:
			l.at += maxLine
			l.number++
			l.long = true
			return rest[:maxLine], true
		case !l.end:
			l.fill()
		default:
			l.at = len(l.buf)
			l.number++
			l.cut = true
			return rest, true
		}
	}
}

// trim takes blanks off both ends of a line.
func trim(line []byte) []byte {
	for len(line) > 0 && isBlank(line[0]) {
		line = line[1:]
	}
	for len(line) > 0 && isBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// cutNumber reads a decimal number at the front of a text. Numbers of more than 18 digits are none.
func cutNumber(text []byte) (v int64, rest []byte, ok bool) {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		v = v*10 + int64(text[n]-'0')
		n++
	}
	const widest = 18
	return v, text[n:], n > 0 && n <= widest
}

// hexDigit is the value of a hexadecimal digit; noDigit of other bytes.
var hexDigit = func() (t [256]byte) {
	for i := range t {
		t[i] = noDigit
	}
	for i := range 10 {
		t['0'+i] = byte(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = byte(10+i), byte(10+i)
	}
	return t
}()

const noDigit = 0xFF

// cutHex reads a hexadecimal number of up to 16 digits at the front of a text, with or without 0x.
func cutHex(text []byte) (v uint64, rest []byte, ok bool) {
	if len(text) > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		text = text[2:]
	}
	n := 0
	for n < len(text) {
		d := hexDigit[text[n]]
		if d == noDigit {
			break
		}
		v = v<<4 | uint64(d)
		n++
	}
	const widest = 16
	return v, text[n:], n > 0 && n <= widest
}
