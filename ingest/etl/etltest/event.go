package etltest

import "encoding/binary"

// An Event is a record without its time: which envelope it comes in, which event it is, and its payload.
type Event struct {
	Envelope HeaderKind
	Bits     int  // 32 or 64, of the header; 0 for the kernel's
	Group    byte // of an event of the kernel
	Op       byte // or the opcode of a classic or manifest event
	Version  uint16
	Provider GUID   // of a classic or manifest event
	ID       uint16 // of a manifest event
	Items    []Item // extended data items of a manifest event
	PEBS     bool   // a PerfInfo event has an index of a PEBS record behind its header
	Counters int    // values of hardware counters behind its header, up to 7
	Payload  []byte // as Windows lays it out, without header
}

// A HeaderKind is a kind of header.
type HeaderKind byte

// The kinds of headers, named for what Windows calls them.
const (
	SystemHeader   HeaderKind = iota // SYSTEM_TRACE_HEADER: process and thread in the header
	PerfInfoHeader                   // PERFINFO_TRACE_HEADER: neither
	CompactHeader                    // SYSTEM_TRACE_HEADER without processor times
	ClassicHeader                    // EVENT_TRACE_HEADER: a GUID
	InstanceHeader                   // EVENT_INSTANCE_HEADER
	ManifestHeader                   // EVENT_HEADER
	MessageHeader                    // MESSAGE_TRACE_HEADER of WPP, with sequence, GUID, time stamp and ids
	SilentHeader                     // the same with nothing but the number of the message
	ErrorHeader                      // what Windows writes of an event that it could not
)

// A GUID is one as it lies in a file: three little-endian numbers and eight bytes.
type GUID [16]byte

// NewGUID makes a GUID of its usual spelling's parts.
func NewGUID(a uint32, b, c uint16, d uint64) (g GUID) {
	binary.LittleEndian.PutUint32(g[:], a)
	binary.LittleEndian.PutUint16(g[4:], b)
	binary.LittleEndian.PutUint16(g[6:], c)
	binary.BigEndian.PutUint64(g[8:], d)
	return g
}

// An Item is an extended data item of a manifest event: its ExtType and data.
type Item struct {
	Type uint16
	Data []byte
}

// StackItem is the extended item that holds a stack: type 5 with 4-byte and 6 with 8-byte addresses.
func StackItem(bits int, match uint64, frames []uint64) Item {
	p := payload{bits: bits}
	p.u64(match)
	for _, f := range frames {
		p.ptr(f)
	}
	if bits == 32 {
		return Item{5, p.b}
	}
	return Item{6, p.b}
}

// StackKeyItem is the extended item that names a stack by its key: type 17 and 18.
func StackKeyItem(bits int, match, key uint64) Item {
	p := payload{bits: 64}
	p.u64(match)
	p.u64(key)
	if bits == 32 {
		return Item{17, p.b}
	}
	return Item{18, p.b}
}

// Groups of the kernel's events: the high byte of a hook id.
const (
	groupHeader     = 0x00
	groupMemory     = 0x02
	groupProcess    = 0x03
	groupThread     = 0x05
	groupHeap       = 0x10
	groupImage      = 0x14
	groupStack      = 0x18
	opcodeImageLoad = 10 // of groupProcess
)

// classes are the GUIDs of groups, which a relogged event has instead of the number.
var classes = map[byte]GUID{
	groupHeader:  NewGUID(0x68fdd900, 0x4a3e, 0x11d1, 0x84f40000f80464e3),
	groupMemory:  NewGUID(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c),
	groupProcess: NewGUID(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c),
	groupThread:  NewGUID(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c),
	groupHeap:    NewGUID(0x222962ab, 0x6180, 0x4b88, 0xa825346b75f2a24a),
	groupImage:   NewGUID(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe100a0c911f518),
	groupStack:   NewGUID(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94f57fe20d0ce3),
}

// Providers of the events that a merge adds.
var (
	providerImageID = NewGUID(0xb3e675d7, 0x2554, 0x4f18, 0x830b2762732560de)
	providerSysConf = NewGUID(0x9b79ee91, 0xb5fd, 0x41c0, 0xa2434248e266e9d0)
)

// relogged is an event of the kernel in a classic envelope. The image's load has the image class, not its group's.
func relogged(e Event) Event {
	class, ok := classes[e.Group]
	if !ok || e.Envelope > CompactHeader {
		return e
	}
	if e.Group == groupProcess && e.Op == opcodeImageLoad {
		class = classes[groupImage]
	}
	e.Envelope, e.Provider = ClassicHeader, class
	return e
}
