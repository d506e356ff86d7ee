package etl

import "encoding/binary"

var le = binary.LittleEndian

// bufferHeaderSize is the size of WMI_BUFFER_HEADER; a buffer's events begin behind it.
const bufferHeaderSize = 0x48

// Sizes that a buffer may have. Windows allows sessions 16 MB a buffer.
const (
	maxBuffer = 16 << 20
	minLimit  = 64 << 10 // what a header that claims less is not believed
)

// A bufferFlag is a bit of WMI_BUFFER_HEADER.BufferFlag.
type bufferFlag uint16

const (
	flagEventsLost bufferFlag = 0x02
	flagBufferLost bufferFlag = 0x04
	flagCPUIndex   bufferFlag = 0x20 // ProcessorIndex is a u16
	flagCompressed bufferFlag = 0x40
)

// typeHeader is BufferType of a file's first buffer.
const typeHeader = 4

// A bufferHeader holds what is used of WMI_BUFFER_HEADER:
//
//	BufferSize      0x00  u32  distance to the next buffer
//	SequenceNumber  0x18  i64  rises per logger
//	ProcessorIndex  0x28  u16  without flag 0x20 a u8, and u8 alignment behind it (Windows 7)
//	LoggerId        0x2A  u16  0 or 0x8001 in merged files
//	Offset          0x30  u32  end of the events, this header included, before compression
//	BufferFlag      0x34  u16
//	BufferType      0x36  u16
//
// SavedOffset (0x04) and CurrentOffset (0x08) are not used: real files have 0, too little or too much there. Neither
// is TimeStamp (0x10), the time of flushing: it is of another clock in merged files.
type bufferHeader struct {
	size, filled uint32
	sequence     int64
	cpu, logger  uint16
	flags        bufferFlag
	kind         uint16
}

// parseBufferHeader reads the header at the start of b, of which bufferHeaderSize bytes are there.
func parseBufferHeader(b []byte) bufferHeader {
	_ = b[bufferHeaderSize-1]
	h := bufferHeader{
		size:     le.Uint32(b),
		sequence: int64(le.Uint64(b[0x18:])),
		cpu:      le.Uint16(b[0x28:]),
		logger:   le.Uint16(b[0x2A:]),
		filled:   le.Uint32(b[0x30:]),
		flags:    bufferFlag(le.Uint16(b[0x34:])),
		kind:     le.Uint16(b[0x36:]),
	}
	if h.flags&flagCPUIndex == 0 {
		h.cpu &= 0xFF
	}
	return h
}

// plausible reports whether this may be the header of a buffer of a session with the given buffer size.
func (h bufferHeader) plausible(limit uint32) bool {
	const knownFlags, lastType = 0x7F, 7
	return h.size >= bufferHeaderSize && h.size <= limit+bufferHeaderSize &&
		h.flags&^knownFlags == 0 && h.kind <= lastType &&
		(h.flags&flagCompressed == 0 || h.filled <= limit)
}
