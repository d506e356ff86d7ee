package etl

import (
	"context"
	"errors"
	"io"

	"heapdrift/ingest/evidence"
)

// A ref places one buffer and says enough of it to put the buffers of a trace in order without reading them.
type ref struct {
	first    int64 // time stamp of its first event
	sequence int64
	offset   int64
	size     uint32 // of the buffer in the file
	filled   uint32 // end of its events once decoded, header included
	cpu      uint16
	logger   uint16
	source   uint16
	flags    bufferFlag
	cut      bool // the file ends inside it
}

// peek is how much of a buffer is read to index it: the header and enough of the first event to find its time stamp,
// also where that is compressed.
const (
	peekSize   = bufferHeaderSize + 0x140
	peekEvent  = 0x30
	maxBuffers = 4 << 20
)

// A scanner indexes the buffers of one file.
type scanner struct {
	source   *Source
	file     *File
	number   uint16
	limit    uint32 // largest body and buffer that is believed
	refs     []ref
	head     [peekSize]byte
	event    [peekEvent]byte
	sequence sequences
	decode   decoder
}

// scan walks from buffer to buffer. Where a header cannot be one, it looks for the next buffer and counts what lies
// between as damage.
func (s *scanner) scan(ctx context.Context) error {
	var at, before int64
	for n := 0; at+bufferHeaderSize <= s.source.Size; n++ {
		if n&0xFFF == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		got, err := s.read(s.head[:], at)
		if err != nil {
			return err
		}
		h := parseBufferHeader(s.head[:])
		if !h.plausible(s.limit) {
			next, err := s.resync(ctx, before, at)
			if err != nil {
				return err
			}
			s.file.Losses.skip(at, next-at)
			if at = next; at+bufferHeaderSize > s.source.Size {
				at = s.source.Size // counted already
			}
			continue
		}
		if err := s.add(h, at, s.head[bufferHeaderSize:max(got, bufferHeaderSize)]); err != nil {
			return err
		}
		before, at = at, at+int64(h.size)
	}
	if left := s.source.Size - at; left != 0 {
		s.file.Losses.Truncated = true
	}
	s.counted()
	s.sequence.close(s.file)
	return nil
}

// counted compares how many buffers there are with what the header says. It is right in every real file of a session
// that was stopped, but for rings; a copy that was interrupted often ends between two buffers.
func (s *scanner) counted() {
	log, l := &s.file.LogFile, &s.file.Losses
	missing := int64(log.BuffersWritten) - s.file.Buffers
	if missing > 0 && !l.Unfinished && l.SkippedBytes == 0 && log.Mode&(ModeCircular|ModeNewFile) == 0 {
		l.Truncated, l.CutBuffers = true, missing
	}
}

// add puts a buffer into the index. start is as much of its body as was read.
func (s *scanner) add(h bufferHeader, at int64, start []byte) error {
	l := &s.file.Losses
	s.file.Buffers++
	if h.flags&flagEventsLost != 0 {
		l.FlaggedEvents++
	}
	if h.flags&flagBufferLost != 0 {
		l.FlaggedBuffers++
	}
	if h.kind != typeHeader {
		s.sequence.note(h.logger, h.sequence)
	}
	r := ref{sequence: h.sequence, offset: at, size: h.size, filled: h.filled, cpu: h.cpu, logger: h.logger,
		source: s.number, flags: h.flags}
	if end := s.source.Size - at; end < int64(h.size) {
		r.size, r.cut = uint32(end), true
		l.Truncated = true
	}
	if r.flags&flagCompressed == 0 {
		r.filled = min(r.filled, r.size)
	} else {
		s.file.Compressed++
	}
	if r.filled < bufferHeaderSize+8 || r.size < bufferHeaderSize+4 {
		return nil // nothing in it
	}
	s.file.Bytes += int64(r.filled) - bufferHeaderSize
	if len(s.refs) == maxBuffers {
		return &evidence.Error{Code: CodeTooMany, File: s.source.Name, Offset: at, Message: "more than 4 million buffers",
			Do: "split the trace, or record with larger buffers"}
	}
	r.first = s.firstStamp(&r, start[:min(len(start), int(r.size)-bufferHeaderSize)])
	s.refs = append(s.refs, r)
	return nil
}

// firstStamp is the time stamp of the buffer's first event. A buffer that begins with something else is read at once
// with the one before it.
func (s *scanner) firstStamp(r *ref, start []byte) int64 {
	e := start
	if r.flags&flagCompressed != 0 {
		n, err := s.decode(s.event[:min(peekEvent, int(r.filled)-bufferHeaderSize)], start)
		if e = s.event[:n]; err != nil && n < 0x18 {
			e = nil
		}
	}
	if len(e) >= 0x18 {
		mark := le.Uint32(e)
		shape := shapes[uint8(mark>>16)]
		stamp := int64(-1)
		switch {
		case mark>>24&(markAny|markTrace) == markAny|markTrace && shape.length != 0:
			stamp = int64(le.Uint64(e[shape.stampAt:]))
		case mark>>24&markAny != 0:
			stamp = messageStamp(e[:min(len(e), int(le.Uint16(e)))])
		}
		if stamp >= 0 {
			return stamp
		}
	}
	if n := len(s.refs); n > 0 {
		return s.refs[n-1].first
	}
	return 0
}

// read fills b from the file at the given offset; it returns fewer bytes only at the end of the file.
func (s *scanner) read(b []byte, at int64) (int, error) {
	n, err := s.source.ReaderAt.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, &evidence.Error{Code: CodeReadFailed, File: s.source.Name, Offset: at,
			Message: "cannot read the trace", Err: err}
	}
	if n < len(b) && at+int64(n) < s.source.Size {
		return n, &evidence.Error{Code: CodeReadFailed, File: s.source.Name, Offset: at + int64(n),
			Message: "the file ends before its size; was it changed while it was read?", Err: io.ErrUnexpectedEOF}
	}
	return n, nil
}
