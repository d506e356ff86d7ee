package windbg

import (
	"bytes"
	"context"
	"errors"
	"io"

	"heapdrift/ingest/plaintext"
)

const (
	bufferSize = 256 << 10
	// maxLine bounds a line in bytes. The longest that matter are frames, whose names are shorter than 4 KiB.
	maxLine = 64 << 10
)

// lines cuts a log into lines that end with LF or CR LF. It holds one buffer and no more of the log.
type lines struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Read
	src    *plaintext.Decoder
	text   io.Reader // of src, what a browser shows of it
	buf    []byte
	at     int   // buf[at:] is still to be read
	number int64 // of the line read last, from 1
	end    bool  // of the source
	err    error // why the source ended, if not because it is over
	long   tally // lines that were too long and are left out
}

func newLines(ctx context.Context, r io.Reader) *lines {
	src := plaintext.NewDecoder(r)
	return &lines{ctx: ctx, src: src, text: openPage(ctx, src), buf: make([]byte, 0, bufferSize)}
}

// fill moves what is left to the front of the buffer and reads behind it.
func (l *lines) fill() {
	l.buf = l.buf[:copy(l.buf, l.buf[l.at:])]
	l.at = 0
	for range 100 {
		if l.ctx.Err() != nil {
			l.end, l.err = true, context.Cause(l.ctx)
			return
		}
		n, err := l.text.Read(l.buf[len(l.buf):cap(l.buf)])
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

// next returns the next line without its end, which is valid until the next call. closed is false for a last line
// without an end. ok is false if there are no more lines.
func (l *lines) next() (line []byte, closed, ok bool) {
	tooLong := false
	for from := 0; ; {
		rest := l.buf[l.at:]
		n := bytes.IndexByte(rest[from:], '\n')
		switch {
		case n >= 0:
			n += from
			l.at += n + 1
			closed = true
		case !l.end:
			if from = len(rest); from > maxLine {
				l.at += from
				tooLong, from = true, 0
			}
			l.fill()
			continue
		case len(rest) == 0 && !tooLong:
			return nil, false, false
		default:
			n, closed = len(rest), false
			l.at += n
		}
		l.number++
		if tooLong || n > maxLine {
			l.long.add(l.number)
			tooLong, from = false, 0
			continue
		}
		return bytes.TrimRight(rest[:n], "\r"), closed, true
	}
}

// A tally counts something and remembers the line of the first.
type tally struct{ n, line int64 }

func (t *tally) add(line int64) {
	if t.n++; t.n == 1 {
		t.line = line
	}
}
