package etl

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"unsafe"

	"heapdrift/ingest/evidence"
)

// A block is one buffer that was read, decoded and framed, and how far it has been delivered.
type block struct {
	ref    *ref
	body   []byte
	frames []frame
	at     int // next frame

	events  int64 // in the buffer, selected or not
	last    int64 // time stamp of the last of them
	missing int64 // bytes of the body that gave no events
	worker  uint8 // that loaded it
	err     error // of the reader
	packed  []byte
}

// A reader loads blocks of a trace; several may do so at once, each with its own.
type reader struct {
	sources  []Source
	decoders []decoder
	keep     KindSet
	worker   uint8
	prepare  *preparer // nil where there is nothing to do
	raw      []byte    // a buffer, where not all of it is kept
}

// load fills b with the buffer at r. Only a failing source is an error; damage is counted in missing.
func (rd *reader) load(b *block, r *ref) {
	*b = block{ref: r, worker: rd.worker, body: b.body, frames: b.frames[:0], packed: b.packed}
	stored := int(r.size) - bufferHeaderSize
	want := int(r.filled) - bufferHeaderSize
	lean := rd.prepare != nil && rd.prepare.lean
	if lean {
		rd.prepare.kept, b.body = b.body[:0], rd.raw
	}
	b.body = slices.Grow(b.body[:0], want)[:want]
	into := b.body
	compressed := r.flags&flagCompressed != 0
	if compressed {
		b.packed = slices.Grow(b.packed[:0], stored)[:stored]
		into = b.packed
	}
	source := &rd.sources[r.source]
	if n, err := source.ReaderAt.ReadAt(into, r.offset+bufferHeaderSize); n < len(into) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		b.err = &evidence.Error{Code: CodeReadFailed, File: source.Name, Offset: r.offset,
			Message: "cannot read a buffer", Err: err}
		return
	}
	if compressed {
		n, err := rd.decoders[r.source](b.body, b.packed)
		if err != nil && !r.cut {
			n = 0 // what precedes the mistake may be wrong as well
		}
		b.missing = int64(want - n)
		b.body = b.body[:n]
	}
	var rest int
	b.frames, b.events, b.last, rest = frames(b.body, rd.keep, rd.prepare, b.frames)
	b.missing += int64(rest)
	if lean {
		rd.raw, b.body = b.body, rd.prepare.kept
	}
	for i := 0; i < len(b.frames) && b.frames[i].stamp == noStamp; i++ { // nothing but messages without a time stamp
		b.frames[i].stamp = r.first
	}
	if !inOrder(b.frames) {
		slices.SortStableFunc(b.frames, func(x, y frame) int { return cmp.Compare(x.stamp, y.stamp) })
	}
}

// inOrder reports whether time does not decrease, as it does not where each CPU has its own buffers.
func inOrder(frames []frame) bool {
	last := int64(noStamp)
	for i := range frames {
		if frames[i].stamp < last {
			return false
		}
		last = frames[i].stamp
	}
	return true
}

// size is the memory that the block holds.
func (b *block) size() int64 {
	return int64(cap(b.body)) + int64(cap(b.packed)) + int64(unsafe.Sizeof(frame{}))*int64(cap(b.frames))
}

// compare orders buffers whose next events have the same time stamp, by facts that do not depend on where they lie in
// their files.
func (r *ref) compare(s *ref) int {
	return cmp.Or(cmp.Compare(r.source, s.source), cmp.Compare(r.cpu, s.cpu), cmp.Compare(r.logger, s.logger),
		cmp.Compare(r.sequence, s.sequence), cmp.Compare(r.offset, s.offset))
}
