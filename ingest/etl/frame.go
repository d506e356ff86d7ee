package etl

// A HeaderType is byte 2 of an event's first dword and says which envelope the event has.
type HeaderType uint8

// The envelopes (ntwmi.h, TRACE_HEADER_TYPE_*). The width in a name is that of the payload's pointers.
const (
	HeaderSystem32   HeaderType = 0x01
	HeaderSystem64   HeaderType = 0x02
	HeaderCompact32  HeaderType = 0x03
	HeaderCompact64  HeaderType = 0x04
	HeaderFull32     HeaderType = 0x0A
	HeaderInstance32 HeaderType = 0x0B
	HeaderError      HeaderType = 0x0D
	HeaderMessage    HeaderType = 0x0F // WPP; recognised by the flags, byte 2 is reserved
	HeaderPerfInfo32 HeaderType = 0x10
	HeaderPerfInfo64 HeaderType = 0x11
	HeaderEvent32    HeaderType = 0x12
	HeaderEvent64    HeaderType = 0x13
	HeaderFull64     HeaderType = 0x14
	HeaderInstance64 HeaderType = 0x15
)

// A shape is what framing needs to know of an envelope; all offsets count from the event's start.
type shape struct {
	length  uint8 // of the header without extras; 0 where the type is unknown
	sizeAt  uint8 // u16, of the event with its header
	stampAt uint8 // i64
	pointer uint8 // bytes; 0 where there is no payload with pointers
}

var shapes = [256]shape{
	HeaderSystem32:   {0x20, 4, 0x10, 4},
	HeaderSystem64:   {0x20, 4, 0x10, 8},
	HeaderCompact32:  {0x18, 4, 0x10, 4},
	HeaderCompact64:  {0x18, 4, 0x10, 8},
	HeaderFull32:     {0x30, 0, 0x10, 4},
	HeaderInstance32: {0x48, 0, 0x10, 4},
	HeaderError:      {0x20, 0, 0x10, 8},
	HeaderPerfInfo32: {0x10, 4, 0x08, 4},
	HeaderPerfInfo64: {0x10, 4, 0x08, 8},
	HeaderEvent32:    {0x50, 0, 0x10, 4},
	HeaderEvent64:    {0x50, 0, 0x10, 8},
	HeaderFull64:     {0x30, 0, 0x10, 8},
	HeaderInstance64: {0x48, 0, 0x10, 8},
}

// Bits of byte 3 of an event.
const (
	markAny   = 0x80 // set in every event
	markTrace = 0x40 // byte 2 is a HeaderType; without it the event is a WPP message
)

// A frame places one event in its buffer.
type frame struct {
	stamp        int64
	offset       uint32
	size         uint16
	header       HeaderType
	kind         Kind
	stack        uint32 // number in a stackCache, or 0
	compactEvent        // of a preparer that is lean
}

// noStamp marks messages without a time stamp: they take that of the event before them, or of the one behind them.
const noStamp = -1 << 63

// frames finds the events in a buffer's body and appends those of some kinds to to. It returns the number of events of
// all kinds and the time stamp of the last. It also returns how many bytes at the end of the body should belong to an
// event and do not: 0 where the buffer ends as it must. Events are prepared, unless prepare is nil.
//
// An event's first dword is 0 or all ones behind the last event (the tail of a buffer is filled with 0xFF).
func frames(body []byte, keep KindSet, prepare *preparer, to []frame) (_ []frame, events, last int64, rest int) {
	at := 0
	last = noStamp
	for at+8 <= len(body) {
		e := body[at:]
		mark := le.Uint32(e)
		if mark == 0 || mark == 0xFFFFFFFF {
			return to, events, last, 0
		}
		f := frame{offset: uint32(at), header: HeaderType(mark >> 16)}
		size := 0
		switch flags := mark >> 24; {
		case flags&markAny == 0:
			return to, events, last, len(body) - at
		case flags&markTrace == 0:
			f.header = HeaderMessage
			if size = int(le.Uint16(e)); size < messageHeaderSize || size > len(e) {
				return to, events, last, len(body) - at
			}
			if f.stamp = messageStamp(e[:size]); f.stamp < 0 {
				f.stamp = last
			}
		default:
			s := &shapes[f.header]
			if s.length == 0 || len(e) < int(s.length) {
				return to, events, last, len(body) - at
			}
			if size = int(le.Uint16(e[s.sizeAt:])); size < int(s.length) || size > len(e) {
				return to, events, last, len(body) - at
			}
			if f.stamp = int64(le.Uint64(e[s.stampAt:])); f.stamp < 0 {
				return to, events, last, len(body) - at // every clock counts up from 0
			}
			f.kind = kindOf(f.header, e[:size])
		}
		f.size = uint16(size)
		if last == noStamp && f.stamp != noStamp {
			for i := range to { // messages before the first time stamp take that
				to[i].stamp = f.stamp
			}
		}
		last = f.stamp
		events++
		if keep.Has(f.kind) {
			if prepare != nil {
				prepare.prepare(&f, e[:size])
			}
			to = append(to, f)
		}
		at += (size + 7) &^ 7
	}
	return to, events, last, 0
}

// kindOf names an event that has its whole header.
func kindOf(h HeaderType, e []byte) Kind {
	switch h {
	case HeaderFull32, HeaderFull64, HeaderInstance32, HeaderInstance64:
		return kindByGUID(GUID(e[0x18:0x28]), e[4])
	case HeaderEvent32, HeaderEvent64:
		if GUID(e[0x18:0x28]) == ProviderHeapSnapshot {
			return KindHeapSnapshotData
		}
		if le.Uint16(e[4:])&eventClassic != 0 {
			return kindByGUID(GUID(e[0x18:0x28]), e[0x2D])
		}
	case HeaderError:
	default:
		return kinds[le.Uint16(e[6:])] // opcode, then group
	}
	return KindOther
}

const messageHeaderSize = 8

// messageStamp finds the time stamp of a WPP message, whose parts are there as OptionFlags (offset 6) says:
// sequence u32 (1), GUID (2), component u32 (4), time stamp u64 (8), TID and PID (0x20), in that order.
func messageStamp(e []byte) int64 {
	if len(e) < messageHeaderSize {
		return noStamp
	}
	options, at := le.Uint16(e[6:]), messageHeaderSize
	if options&8 == 0 {
		return noStamp
	}
	if options&1 != 0 {
		at += 4
	}
	if options&2 != 0 {
		at += 16
	} else if options&4 != 0 {
		at += 4
	}
	if at+8 > len(e) {
		return noStamp
	}
	return int64(le.Uint64(e[at:]))
}
