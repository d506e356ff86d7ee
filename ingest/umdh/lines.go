package umdh

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	bufferSize = 256 << 10
	// maxLine bounds a line in bytes. UMDH's own are shorter than 40 KiB even where a path is as long as Windows allows.
	maxLine = 64 << 10
)

// lines cuts a log into lines that end with LF, CR LF, CR CR LF or CR. It holds one buffer and no more of the log.
type lines struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Read
	src    *decoded
	buf    []byte
	at     int   // buf[at:] is still to be read
	number int64 // of the line read last, from 1
	end    bool  // of the source
	err    error // why the source ended, if not because it is over
	long   tally // lines that were too long and are left out
}

func newLines(ctx context.Context, r io.Reader) *lines {
	l, size := &lines{ctx: ctx, src: newDecoded(r)}, bufferSize
	if most := l.src.most(); most >= 0 {
		size = min(size, most+16) // never full, so that the end is seen
	}
	l.buf = make([]byte, 0, size)
	return l
}

// rest is what the buffer still holds, to be looked at without a copy; pass skips what was understood of it.
func (l *lines) rest() []byte { return l.buf[l.at:] }

func (l *lines) pass(n int, lines int64) {
	l.at += n
	l.number += lines
}

// fill moves what is left to the front of the buffer and reads behind it.
func (l *lines) fill() {
	l.buf = l.buf[:copy(l.buf, l.buf[l.at:])]
	l.at = 0
	for tries := 0; !l.end && len(l.buf) < cap(l.buf); tries++ {
		if l.ctx.Err() != nil {
			l.end, l.err = true, context.Cause(l.ctx)
			return
		}
		n, err := l.src.Read(l.buf[len(l.buf):cap(l.buf)])
		l.buf = l.buf[:len(l.buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			l.end = true
		case err != nil:
			l.end, l.err = true, err
		case n == 0 && tries == 100:
			l.end, l.err = true, io.ErrNoProgress
		}
		if n > 0 {
			return
		}
	}
}

// next returns the next line without its end, good until the call after. ended is false for a last line that the
// log breaks off in; ok is false when there are no more lines.
func (l *lines) next() (line []byte, ended, ok bool) {
	tooLong, padding := false, true
	for from := 0; ; {
		rest := l.rest()
		text, whole := lineEnd(rest, from, l.end)
		switch {
		case whole > 0:
		case !l.end:
			from = max(0, len(rest)-2) // CR CR may be the beginning of an end
			if from > maxLine {
				padding = padding && len(bytes.Trim(rest[:from], "\x00")) == 0
				l.at += from
				tooLong, from = true, 0
			}
			l.fill()
			continue
		case len(rest) == 0 && !tooLong:
			return nil, false, false
		default:
			text, whole = len(rest), len(rest)
		}
		l.pass(whole, 1)
		if tooLong || text > maxLine {
			if !padding || len(bytes.Trim(rest[:text], "\x00")) > 0 {
				l.long.add(l.number)
			}
			tooLong, padding, from = false, true, 0
			continue
		}
		return rest[:text], whole > text, true
	}
}

// lineEnd finds the first line end in b, from the given place on: the line's length without it and with it.
// whole is 0 where b holds none, or where what follows b may belong to it and atEnd does not say that nothing does.
func lineEnd(b []byte, from int, atEnd bool) (text, whole int) {
	const window = 256 // a file with no LF must not be searched for one again and again
	for ; from < len(b); from += window {
		part := b[from:min(from+window, len(b))]
		lf := bytes.IndexByte(part, '\n')
		if lf >= 0 {
			part = part[:lf]
		}
		cr := bytes.IndexByte(part, '\r')
		switch {
		case cr < 0 && lf < 0:
			continue
		case cr < 0:
			return from + lf, from + lf + 1
		}
		text = from + cr
		switch tail := b[text+1:]; {
		case len(tail) > 0 && tail[0] == '\n':
			return text, text + 2
		case len(tail) > 1 && tail[0] == '\r' && tail[1] == '\n':
			return text, text + 3
		case len(tail) > 1, len(tail) == 1 && tail[0] != '\r', atEnd:
			return text, text + 1
		}
		return 0, 0
	}
	return 0, 0
}
