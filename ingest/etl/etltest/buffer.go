package etltest

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"heapdrift/ingest/etl/xpress/xpresstest"
)

// WMI_BUFFER_HEADER:
//
//	00 BufferSize u32     10 TimeStamp i64        2A LoggerId u16    34 BufferFlag u16
//	04 SavedOffset u32    18 SequenceNumber i64   2C State u32       36 BufferType u16
//	08 CurrentOffset u32  20 clock u64            30 Offset u32      38 list links, junk
//	0C ReferenceCount     28 ProcessorIndex u16 (before Windows 8 ProcessorNumber u8 and Alignment u8, 8)
const (
	bufferHeader = 0x48

	flagFlushed    = 0x01
	flagEventsLost = 0x02
	flagBufferLost = 0x04
	flagProcIndex  = 0x20
	flagCompressed = 0x40
	typeGeneric    = 0
	typeHeader     = 4
	stateXpress    = 3
	stateFlushed   = 3
	largestBuffer  = 1 << 24
)

// A recorder writes buffers in the order in which they fill.
type recorder struct {
	f       Format
	start   uint64 // FILETIME
	end     int64  // ns
	cpus    int
	out     io.Writer
	streams []stream
	ring    [][]byte
	turn    int   // slot of the ring that is the oldest
	seq     int64 // of the buffer written last; the header is 0
	lost    int   // buffers
	marked  bool  // the next buffer says that one is lost
	encoder *xpresstest.Encoder
	squeeze []byte
	err     error
}

// A stream is the open buffer of a CPU.
type stream struct {
	b    []byte // beginning with the room for its header
	last int64  // raw time of its last event
}

// newRecorder begins a file with its header buffer.
func newRecorder(out io.Writer, f Format, start uint64, end int64, cpus int) *recorder {
	r := &recorder{f: f, start: start, end: end, cpus: cpus, out: out, streams: make([]stream, cpus)}
	if f.OneStream {
		r.streams = r.streams[:1]
	}
	if f.Compressed {
		r.encoder = new(xpresstest.Encoder)
	}
	r.write(r.header())
	return r
}

// put adds an event to its CPU's buffer.
func (r *recorder) put(cpu int, e *Event, pid, tid uint32, raw int64) {
	if r.f.OneStream {
		cpu = 0
	}
	if r.f.Relogged {
		again := relogged(*e)
		e = &again
	}
	s := &r.streams[cpu]
	if s.b == nil {
		s.b = make([]byte, bufferHeader, r.f.BufferSize)
	}
	end := len(s.b)
	s.b = appendEvent(s.b, e, r.f.Bits, pid, tid, raw)
	if len(s.b) > r.f.BufferSize { // events do not cross buffers
		event := slices.Clone(s.b[end:])
		if len(event)+bufferHeader > r.f.BufferSize || r.f.BufferSize > largestBuffer {
			r.err = fmt.Errorf("etltest: event of %d bytes does not fit a buffer of %d", len(event), r.f.BufferSize)
			s.b = s.b[:end]
			return
		}
		s.b = s.b[:end]
		r.flush(cpu, 0)
		s.b = append(s.b, event...)
	}
	s.last = raw
}

// flush writes a CPU's buffer and begins its next.
func (r *recorder) flush(cpu int, flags uint16) {
	s := &r.streams[cpu]
	if len(s.b) <= bufferHeader {
		return
	}
	r.seq++
	if slices.Contains(r.f.DropBuffers, int(r.seq)) {
		r.lost++
		r.marked = true
		s.b = s.b[:bufferHeader]
		return
	}
	if r.marked {
		flags |= flagBufferLost
		r.marked = false
	}
	if r.f.EventsLost > 0 && r.seq == 2 {
		flags |= flagEventsLost
	}
	b := s.b
	filled := len(b)
	stamp := uint64(s.last)
	if !r.f.Native { // merged: the time of day
		stamp = r.filetime(s.last)
	}
	if r.f.Compressed {
		flags |= flagCompressed
		r.squeeze = r.encoder.AppendPlain(append(r.squeeze[:0], b[:bufferHeader]...), b[bufferHeader:])
		b = r.squeeze
	} else {
		for len(b) < r.f.BufferSize {
			b = append(b, 0xFF)
		}
	}
	r.head(b, filled, stamp, cpu, flags, typeGeneric)
	if r.f.Ring > 0 {
		if len(r.ring) < r.f.Ring {
			r.ring = append(r.ring, slices.Clone(b))
		} else { // the oldest is written over
			r.ring[r.turn] = slices.Clone(b)
			r.turn = (r.turn + 1) % r.f.Ring
		}
	} else {
		r.write(b)
	}
	s.b = s.b[:bufferHeader]
}

// filetime is the time of day of a raw time.
func (r *recorder) filetime(raw int64) uint64 {
	switch r.f.Clock {
	case SystemTime:
		return uint64(raw)
	default:
		return r.start + uint64(scaled(raw-r.f.Origin, 10_000_000, r.f.Frequency))
	}
}

// head fills a buffer's header.
func (r *recorder) head(b []byte, filled int, stamp uint64, cpu int, flags, kind uint16) {
	le := binary.LittleEndian
	clear(b[:bufferHeader])
	le.PutUint32(b, uint32(len(b)))
	saved := uint32(filled)
	if r.f.Native && r.f.Build < 9200 {
		saved = 0
	}
	le.PutUint32(b[0x04:], saved)
	le.PutUint32(b[0x08:], uint32(filled))
	if kind == typeGeneric && r.f.BufferSize-filled < 0x100 {
		le.PutUint32(b[0x08:], uint32(r.f.BufferSize+0x38)) // writers race for what does not fit
	}
	le.PutUint64(b[0x10:], stamp)
	le.PutUint64(b[0x18:], uint64(r.seq))
	le.PutUint64(b[0x20:], 0xffffdf85aaf49020) // a pointer that nobody cleared
	if r.f.Build < 9200 {
		b[0x28], b[0x29] = byte(cpu), 8
	} else {
		flags |= flagProcIndex
		le.PutUint16(b[0x28:], uint16(cpu))
	}
	switch {
	case r.f.Native:
		le.PutUint16(b[0x2A:], r.f.Logger)
	case r.f.Build < 9200:
		le.PutUint16(b[0x2A:], 0x8001)
	}
	state := uint32(stateFlushed)
	if kind == typeHeader {
		state = 0
		flags = flags&^flagProcIndex | flagFlushed
		if r.f.Compressed {
			state = stateXpress
		}
	}
	le.PutUint32(b[0x2C:], state)
	le.PutUint32(b[0x30:], uint32(filled))
	le.PutUint16(b[0x34:], flags)
	le.PutUint16(b[0x36:], kind)
	le.PutUint64(b[0x38:], 0xffffca8687874e70)
	le.PutUint64(b[0x40:], 0xffffca868739ba20)
}

func (r *recorder) write(b []byte) {
	if r.err == nil {
		_, r.err = r.out.Write(b)
	}
}

// close flushes all CPUs, and completes the header where the output can be written to in place.
func (r *recorder) close() error {
	for cpu := range r.streams {
		r.flush(cpu, flagFlushed)
	}
	for _, b := range r.ring {
		r.write(b)
	}
	if at, ok := r.out.(io.WriterAt); ok && r.err == nil {
		_, r.err = at.WriteAt(r.header(), 0)
	}
	return r.err
}
