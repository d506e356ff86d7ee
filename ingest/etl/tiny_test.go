package etl_test

import (
	"encoding/binary"
	"unicode/utf16"

	"heapdrift/ingest/etl/xpress/xpresstest"
)

var le = binary.LittleEndian

// tinyTrace writes traces of a few events, byte by byte.
type tinyTrace struct {
	mode, clock uint32
	frequency   uint64
	start       uint64 // time stamp of the header
	bufferSize  int
	file        []byte
}

// newTiny begins a trace: header buffer with the log-file header event, 64 bits, 10 MHz, starting at stamp 1000.
func newTiny(change func(*tinyTrace)) *tinyTrace {
	t := &tinyTrace{clock: 1, frequency: 10_000_000, start: 1000, bufferSize: 0x200}
	if change != nil {
		change(t)
	}
	p := make([]byte, 0x118, 0x160)
	le.PutUint32(p, uint32(t.bufferSize))
	copy(p[4:], []byte{10, 0, 1, 5})
	le.PutUint32(p[0x08:], 19045)
	le.PutUint32(p[0x0C:], 4)
	le.PutUint64(p[0x10:], 133975738928029998)
	le.PutUint32(p[0x20:], t.mode)
	le.PutUint32(p[0x2C:], 8)
	le.PutUint32(p[0x34:], 3000)
	le.PutUint64(p[0xF8:], 133975738000000000)
	le.PutUint64(p[0x100:], t.frequency)
	le.PutUint64(p[0x108:], 133975738028029998)
	le.PutUint32(p[0x110:], t.clock)
	p = append(p, text("Relogger")...)
	p = append(p, text("[multiple files]")...)
	t.file = t.buffer(4, 0, 0, system(0, 0, 2, t.start, 4, 8, p))
	return t
}

// text is UTF-16 with its zero.
func text(s string) (b []byte) {
	for _, u := range append(utf16.Encode([]rune(s)), 0) {
		b = le.AppendUint16(b, u)
	}
	return b
}

// add appends a buffer.
func (t *tinyTrace) add(cpu, sequence int, events ...[]byte) *tinyTrace {
	t.file = append(t.file, t.buffer(0, cpu, sequence, events...)...)
	return t
}

// buffer is a buffer of the session's size, or a compressed one where the mode says so.
func (t *tinyTrace) buffer(kind, cpu, sequence int, events ...[]byte) []byte {
	b := make([]byte, 0x48, t.bufferSize)
	for _, e := range events {
		b = append(b, e...)
		for len(b)%8 != 0 {
			b = append(b, 0xFF)
		}
	}
	flags, filled := uint16(0x20), len(b)
	switch compressed := t.mode&0x04000000 != 0; {
	case compressed && kind != 4:
		b = append(b[:0x48:0x48], xpresstest.Plain(b[0x48:])...)
		flags |= 0x40
	case !compressed:
		for len(b) < t.bufferSize {
			b = append(b, 0xFF)
		}
	}
	le.PutUint32(b, uint32(len(b)))
	le.PutUint64(b[0x18:], uint64(sequence))
	le.PutUint16(b[0x28:], uint16(cpu))
	le.PutUint32(b[0x30:], uint32(filled))
	le.PutUint16(b[0x34:], flags)
	le.PutUint16(b[0x36:], uint16(kind))
	return b
}

// system is an event of the kernel with a SYSTEM_TRACE_HEADER of 64 bits.
func system(group, op byte, version uint16, stamp uint64, tid, pid uint32, payload []byte) []byte {
	b := make([]byte, 0x20, 0x20+len(payload))
	le.PutUint16(b, version)
	b[2], b[3], b[6], b[7] = 2, 0xC0, op, group
	le.PutUint16(b[4:], uint16(0x20+len(payload)))
	le.PutUint32(b[8:], tid)
	le.PutUint32(b[12:], pid)
	le.PutUint64(b[16:], stamp)
	return append(b, payload...)
}

// perfInfo is an event of the kernel with a PERFINFO_TRACE_HEADER of 64 bits.
func perfInfo(group, op byte, version uint16, stamp uint64, payload []byte) []byte {
	b := make([]byte, 0x10, 0x10+len(payload))
	le.PutUint16(b, version)
	b[2], b[3], b[6], b[7] = 0x11, 0xC0, op, group
	le.PutUint16(b[4:], uint16(0x10+len(payload)))
	le.PutUint64(b[8:], stamp)
	return append(b, payload...)
}

// words is a payload of pointers of 8 bytes.
func words(values ...uint64) (b []byte) {
	for _, v := range values {
		b = le.AppendUint64(b, v)
	}
	return b
}

// alloc is a block of 32 bytes that thread 7 of process 42 allocates.
func alloc(stamp, address uint64) []byte {
	return system(0x10, 33, 2, stamp, 7, 42, append(words(0x10000, 32, address), 3, 0, 0, 0))
}

// stack is the stack of what thread 7 of process 42 did at a stamp.
func stack(now, stamp uint64, frames ...uint64) []byte {
	return perfInfo(0x18, 32, 2, now, append(le.AppendUint32(le.AppendUint32(words(stamp), 42), 7), words(frames...)...))
}

// key refers to a stack of the process by its key.
func key(now, stamp, key uint64) []byte {
	return perfInfo(0x18, 38, 2, now, append(le.AppendUint32(le.AppendUint32(words(stamp), 42), 7), words(key)...))
}

// define says what a key stands for.
func define(now, key uint64, frames ...uint64) []byte {
	return perfInfo(0x18, 35, 2, now, append(words(key), words(frames...)...))
}
