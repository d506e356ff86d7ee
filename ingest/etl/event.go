package etl

// NoID stands for a thread or process that an event's header does not name.
const NoID = ^uint32(0)

// Bits of EVENT_HEADER.Flags (offset 4).
const (
	eventExtended = 0x0001 // extended items lie between header and payload
	eventClassic  = 0x0100 // the provider is a class GUID and the opcode means what it means there
)

// An Event is one event of a trace. It is re-used: nothing of it may be kept after the callback returns, and Payload
// lies in a buffer that will be overwritten.
type Event struct {
	Time         int64 // ns since the trace's start; negative for rundown before it. Never decreases
	Stamp        int64 // time stamp as the file has it, in ticks of the session's clock
	Kind         Kind
	Header       HeaderType
	Group        uint8  // of kernel events, 0 for others
	Op           uint8  // opcode
	Size         uint16 // bytes, with its header
	PointerBytes uint8  // bytes of a pointer in the payload, 4 or 8
	Version      uint16 // of the payload's layout
	ID           uint16 // of manifest events, or the number of a message
	PID          uint32 // of the logging process, NoID where the header names none
	TID          uint32 // of the logging thread, NoID where the header names none
	CPU          uint16 // number of the processor that logged it
	Logger       uint16 // number of the session that logged it
	SourceIndex  uint16 // index into the sources that Open was given
	// Provider is set for events that name one: a provider, or the class of a classic event.
	Provider GUID
	Payload  []byte // without the header; valid until the callback returns

	stack  uint32 // number in the stackCache of the worker, or 0
	worker uint8
}

// Bits of the version of a PERFINFO_TRACE_HEADER (offset 0): what follows the header.
const (
	perfPEBS     = 0x8000 // an 8-byte PEBS index
	perfCounters = 0x0700 // the number of 8-byte counters
)

// fill decodes the header of the event in b, which frames has checked.
//
//	SYSTEM_TRACE_HEADER     version 0 u16, size 4 u16, op 6 u8, group 7 u8, TID 8 u32, PID 0xC u32, time 0x10 i64
//	PERFINFO_TRACE_HEADER   version 0 u16, size 4 u16, op 6 u8, group 7 u8, time 8 i64
//	EVENT_TRACE_HEADER      size 0 u16, op 4 u8, version 6 u16, TID 8, PID 0xC, time 0x10, GUID 0x18
//	EVENT_HEADER            size 0 u16, flags 4 u16, TID 8, PID 0xC, time 0x10, GUID 0x18, id 0x28 u16, version 0x2A u8, op 0x2D u8
//	MESSAGE_TRACE_HEADER    size 0 u16, number 4 u16, options 6 u16
func (e *Event) fill(f frame, b []byte) {
	s := &shapes[f.header]
	start := int(s.length)
	e.Kind, e.Header, e.Stamp, e.PointerBytes, e.Size = f.kind, f.header, f.stamp, s.pointer, f.size
	e.ID, e.stack = 0, f.stack
	switch f.header {
	case HeaderPerfInfo32, HeaderPerfInfo64:
		version := le.Uint16(b)
		if version&(perfPEBS|perfCounters) != 0 {
			start += int(version&perfCounters>>8) * 8
			if version&perfPEBS != 0 {
				start += 8
			}
			start = min(start, len(b))
		}
		e.Version, e.Op, e.Group = version&0xFF, b[6], b[7]
		e.PID, e.TID, e.Provider = NoID, NoID, GUID{}
	case HeaderSystem32, HeaderSystem64, HeaderCompact32, HeaderCompact64:
		e.Version, e.Op, e.Group = le.Uint16(b)&0xFF, b[6], b[7]
		e.TID, e.PID, e.Provider = le.Uint32(b[8:]), le.Uint32(b[12:]), GUID{}
	case HeaderFull32, HeaderFull64, HeaderInstance32, HeaderInstance64:
		e.Op, e.Version, e.Group = b[4], le.Uint16(b[6:]), 0
		e.TID, e.PID, e.Provider = le.Uint32(b[8:]), le.Uint32(b[12:]), GUID(b[0x18:0x28])
	case HeaderEvent32, HeaderEvent64:
		e.ID, e.Version, e.Op, e.Group = le.Uint16(b[0x28:]), uint16(b[0x2A]), b[0x2D], 0
		e.TID, e.PID, e.Provider = le.Uint32(b[8:]), le.Uint32(b[12:]), GUID(b[0x18:0x28])
		if le.Uint16(b[4:])&eventExtended != 0 {
			start += extendedLength(b[start:])
		}
	case HeaderMessage:
		e.ID, e.Version, e.Op, e.Group = le.Uint16(b[4:]), 0, 0, 0
		e.TID, e.PID, e.Provider = NoID, NoID, GUID{}
		start = messageHeaderSize
	default:
		e.Version, e.Op, e.Group = 0, 0, 0
		e.TID, e.PID, e.Provider = NoID, NoID, GUID{}
	}
	e.Payload = b[start:]
}
