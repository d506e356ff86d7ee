package etltest

import (
	"encoding/binary"
	"unicode/utf16"
)

// appendEvent appends an event with its header and pads it to 8 bytes.
//
//	SYSTEM, COMPACT, PERFINFO        EVENT_TRACE_HEADER               EVENT_HEADER
//	0  Version     u16               0  Size        u16               0  Size, HeaderType, 0xC0
//	2  HeaderType  u8, 0xC0          2  HeaderType  u8, 0xC0          4  Flags, EventProperty u16
//	4  Size        u16               4  Op, Level   u8                8  ThreadId, ProcessId u32
//	6  Op, Group   u8                6  Version     u16               10 TimeStamp
//	8  TimeStamp (PERFINFO), or      8  ThreadId, ProcessId u32       18 ProviderId
//	   ThreadId, ProcessId u32       10 TimeStamp                     28 Id u16, Version, Channel, Level, Opcode u8
//	10 TimeStamp                     18 GUID                          2E Task u16, Keyword u64, ProcessorTime u64
//	18 KernelTime, UserTime (SYSTEM) 28 KernelTime, UserTime          40 ActivityId
//
// Behind the header of PERFINFO, bit 15 of Version tells of a PEBS index and bits 8 to 10 of how many counters, 8 bytes
// each.
func appendEvent(b []byte, e *Event, bits int, pid, tid uint32, raw int64) []byte {
	le, start := binary.LittleEndian, len(b)
	if e.Bits != 0 {
		bits = e.Bits
	}
	wide := byte(0)
	if bits == 64 {
		wide = 1
	}
	kernel := func(kind byte) {
		b = le.AppendUint16(b, e.Version)
		b = append(b, kind, 0xC0, 0, 0, e.Op, e.Group)
	}
	ids := func() {
		b = le.AppendUint32(le.AppendUint32(b, tid), pid)
		b = le.AppendUint64(b, uint64(raw))
	}
	at := start // of the size
	switch e.Envelope {
	case SystemHeader:
		kernel(1 + wide)
		ids()
		b = append(b, make([]byte, 8)...)
		at += 4
	case CompactHeader:
		kernel(3 + wide)
		ids()
		at += 4
	case PerfInfoHeader:
		kernel(0x10 + wide)
		b = le.AppendUint64(b, uint64(raw))
		at += 4
		extras := e.Counters
		if e.PEBS {
			b[start+1] |= 0x80
			extras++
		}
		b[start+1] |= byte(e.Counters)
		for i := range extras {
			b = le.AppendUint64(b, 0xC0FFEE00+uint64(i))
		}
	case ClassicHeader, InstanceHeader:
		kind := 0x0A + 0x0A*wide
		if e.Envelope == InstanceHeader {
			kind++
		}
		b = append(b, 0, 0, kind, 0xC0, e.Op, 0)
		b = le.AppendUint16(b, e.Version)
		ids()
		b = append(append(b, e.Provider[:]...), make([]byte, 8)...)
		if e.Envelope == InstanceHeader {
			b = append(b, make([]byte, 24)...)
		}
	case ManifestHeader:
		flags := 0x20 + 0x20*uint16(wide)
		if len(e.Items) > 0 {
			flags |= 1
		}
		b = le.AppendUint16(append(b, 0, 0, 0x12+wide, 0xC0), flags)
		b = append(b, 0, 0)
		ids()
		b = le.AppendUint16(append(b, e.Provider[:]...), e.ID)
		b = append(b, byte(e.Version), 0, 4, e.Op)
		b = append(b, make([]byte, 2+8+8+16)...)
		b = appendItems(b, e.Items)
	case SilentHeader:
		b = le.AppendUint16(append(b, 0, 0, 0, 0x90), e.ID)
		b = append(b, 0, 0)
	case ErrorHeader:
		b = append(b, 0, 0, 0x0D, 0xC0, e.Op, 0)
		b = le.AppendUint16(b, e.Version)
		ids()
		b = append(b, make([]byte, 8)...)
	case MessageHeader:
		b = le.AppendUint16(append(b, 0, 0, 0, 0x90), e.ID)
		b = le.AppendUint16(b, 0x1|0x2|0x8|0x20)
		b = append(le.AppendUint32(b, 1), e.Provider[:]...)
		b = le.AppendUint64(b, uint64(raw))
		b = le.AppendUint32(le.AppendUint32(b, tid), pid)
	}
	b = append(b, e.Payload...)
	le.PutUint16(b[at:], uint16(len(b)-start))
	for (len(b)-start)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// appendItems appends extended items: u16 size to the next, ExtType, whether another follows, DataSize, the data.
func appendItems(b []byte, items []Item) []byte {
	le := binary.LittleEndian
	for i, item := range items {
		whole := (8 + len(item.Data) + 7) &^ 7
		more := uint16(1)
		if i == len(items)-1 {
			more = 0
		}
		b = le.AppendUint16(le.AppendUint16(b, uint16(whole)), item.Type)
		b = le.AppendUint16(le.AppendUint16(b, more), uint16(len(item.Data)))
		b = append(append(b, item.Data...), make([]byte, whole-8-len(item.Data))...)
	}
	return b
}

// A payload is the bytes of an event, with pointers of a width.
type payload struct {
	bits int
	b    []byte
}

func (p *payload) u8(vs ...byte) { p.b = append(p.b, vs...) }
func (p *payload) u16(vs ...uint16) {
	for _, v := range vs {
		p.b = binary.LittleEndian.AppendUint16(p.b, v)
	}
}
func (p *payload) u32(vs ...uint32) {
	for _, v := range vs {
		p.b = binary.LittleEndian.AppendUint32(p.b, v)
	}
}
func (p *payload) u64(v uint64) { p.b = binary.LittleEndian.AppendUint64(p.b, v) }

// ptr appends pointer-sized numbers.
func (p *payload) ptr(vs ...uint64) {
	for _, v := range vs {
		if p.bits == 32 {
			p.u32(uint32(v))
		} else {
			p.u64(v)
		}
	}
}

// ascii and wide append texts with the zero that ends them.
func (p *payload) ascii(s string) { p.b = append(append(p.b, s...), 0) }
func (p *payload) wide(s string) {
	for _, u := range utf16.Encode([]rune(s)) {
		p.u16(u)
	}
	p.u16(0)
}
