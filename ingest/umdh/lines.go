package umdh

import (
	"bytes"
	"context"
	"io"
)

const (
	pieceSize = 256 << 10
	// maxLine bounds a line in bytes. UMDH's own are shorter than 40 KiB even where a path is as long as Windows allows.
	maxLine = 64 << 10
)

// lines cuts a log into lines that end with LF, CR LF, CR CR LF or CR. It holds a few pieces and no more of the log.
type lines struct {
	src    *textDecoder
	pieces *pieces
	piece  *piece // that buf is the text of, nil where it begins with the end of the one before
	buf    []byte
	glued  []byte
	at     int   // buf[at:] is still to be read
	number int64 // of the line read last, from 1
	end    bool  // of the source
	err    error // why the source ended, if not because it is over
	long   tally // lines that were too long and are left out
}

func newLines(ctx context.Context, r io.Reader, size int) *lines {
	src := newTextDecoder(r)
	return &lines{src: src, pieces: newPieces(ctx, src, size)}
}

// close ends the reading of the source.
func (l *lines) close() { l.pieces.close() }

// rest is what is left of the buffer.
func (l *lines) rest() []byte { return l.buf[l.at:] }

// pass skips what was understood of the buffer.
func (l *lines) pass(n int, lines int64) {
	l.at += n
	l.number += lines
}

// run is the run that the place to be read is in or begins, nil where it is in none.
func (l *lines) run() *run {
	if l.piece == nil {
		return nil
	}
	for len(l.piece.runs) > 0 {
		r := &l.piece.runs[0]
		if l.at < r.to {
			if l.at < r.from {
				return nil
			}
			return r
		}
		l.piece.runs = l.piece.runs[1:]
	}
	return nil
}

// fill takes the next piece behind what is left of the last.
func (l *lines) fill() {
	rest := l.rest()
	if len(rest) > 0 { // not behind a line end
		l.glued = append(l.glued[:0], rest...)
	}
	next := l.pieces.next()
	if l.piece, l.buf = next, next.text; len(rest) > 0 {
		l.glued = append(l.glued, next.text...)
		l.piece, l.buf = nil, l.glued
	}
	l.at, l.end, l.err = 0, next.last, next.err
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
