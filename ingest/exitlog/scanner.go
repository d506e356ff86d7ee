package exitlog

import (
	"bytes"
	"context"
	"errors"
	"io"

	"heapdrift/ingest/plaintext"
)

const (
	bufferSize = 256 << 10
	// maxLine bounds a line in bytes; what is behind is another line. The longest that matter are frames of templates.
	maxLine = 64 << 10
)

// A scanner gives the lines of a log: all of them, or the next that holds a trigger. It holds one buffer of the log.
type scanner struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Read
	words  *triggerSet
	src    *plaintext.Decoder
	buf    []byte
	at     int   // buf[at:] is still to be read
	whole  int   // behind the last line of buf that ends in it
	number int64 // of the line read last, from 1
	broken bool  // the line read last goes on behind what was given
	end    bool  // of the source
	err    error // why the source ended, if not because it is over
}

func newScanner(ctx context.Context, r io.Reader, words *triggerSet) *scanner {
	return &scanner{ctx: ctx, words: words, src: plaintext.NewDecoder(r), buf: make([]byte, 0, bufferSize)}
}

// fill moves what is left to the front of the buffer and reads behind it.
func (s *scanner) fill() {
	s.buf = s.buf[:copy(s.buf, s.buf[s.at:])]
	s.at = 0
	const mostEmpty = 100 // reads of nothing before the source counts as stuck
	for range mostEmpty {
		if s.ctx.Err() != nil {
			s.end, s.err = true, context.Cause(s.ctx)
			return
		}
		n, err := s.src.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.whole = bytes.LastIndexByte(s.buf, '\n') + 1
		if err != nil {
			s.end = true
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			return
		}
		if n > 0 {
			return
		}
	}
	s.end, s.err = true, io.ErrNoProgress
}

// next returns the next line without its end, good until the call after; of those with a trigger alone where skip is
// set. ok is false when there are no more.
func (s *scanner) next(skip bool) (line []byte, ok bool) {
	if skip && !s.skip() {
		return nil, false
	}
	for {
		rest := s.buf[s.at:]
		n := bytes.IndexByte(rest, '\n')
		switch {
		case n >= 0:
			s.at += n + 1
		case len(rest) >= maxLine:
			n = maxLine
			s.at += n
			s.count()
			s.broken = true
			return rest[:n], true
		case !s.end:
			s.fill()
			continue
		case len(rest) == 0:
			return nil, false
		default:
			n = len(rest)
			s.at += n
		}
		s.count()
		return rest[:n], true
	}
}

// count counts the line that is read, unless it is the rest of one that was too long.
func (s *scanner) count() {
	if !s.broken {
		s.number++
	}
	s.broken = false
}

// skip goes to the beginning of the next line with a trigger, and reports false where there is none.
func (s *scanner) skip() bool {
	for {
		rest := s.buf[s.at:]
		whole := max(0, s.whole-s.at)
		if s.end || whole == 0 && len(rest) >= maxLine {
			whole = len(rest)
		}
		if at := s.words.find(rest[:whole]); at >= 0 {
			s.pass(bytes.LastIndexByte(rest[:at], '\n') + 1)
			return true
		}
		s.pass(whole)
		if s.end {
			return false
		}
		s.fill()
	}
}

// pass goes over bytes that are read by nobody.
func (s *scanner) pass(n int) {
	passed := s.buf[s.at : s.at+n]
	s.at += n
	if lines := bytes.Count(passed, newline); lines > 0 {
		s.number += int64(lines)
		if s.broken { // the first of them was counted when it began
			s.number--
		}
		s.broken = false
	}
	if n > 0 && passed[n-1] != '\n' {
		if !s.broken {
			s.number++
		}
		s.broken = true
	}
}

var newline = []byte{'\n'}
