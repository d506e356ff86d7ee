package minidump

import (
	"fmt"
	"time"
)

// Flags is a set of bits of MINIDUMP_TYPE: what the writer was asked to put into the dump.
type Flags uint64

// The bits that say which memory is in a dump.
const (
	FlagDataSegments    Flags = 0x00000001 // writable sections of images
	FlagFullMemory      Flags = 0x00000002 // all that can be read
	FlagHandles         Flags = 0x00000004
	FlagIndirectMemory  Flags = 0x00000040 // what stacks point to
	FlagPrivateWritable Flags = 0x00000200 // private pages that can be written to: the heaps among them
	FlagMemoryInfo      Flags = 0x00000800
)

// A Header is what a dump says of itself (MINIDUMP_HEADER, 32 bytes):
//
//	Signature u32           0x00   MDMP
//	Version u32             0x04   low half 0xA793; the high half is the writer's own
//	NumberOfStreams u32     0x08
//	StreamDirectoryRva u32  0x0C
//	CheckSum u32            0x10   mostly 0, and nobody checks it
//	TimeDateStamp u32       0x14   seconds since 1970, UTC
//	Flags u64               0x18
type Header struct {
	Version uint32    // both halves
	Streams uint32    // number of streams, as claimed
	Time    time.Time // when the dump was written, UTC
	Flags   Flags
	// FullMemory says that the writer was asked for all memory that could be read. Whether it is there is told by Memory.
	FullMemory bool
}

const (
	headerSize    = 32
	signature     = "MDMP"
	formatVersion = 0xA793
)

// SniffSize is how many bytes of a file's beginning Sniff looks at.
const SniffSize = headerSize

// Sniff reports whether a file that begins with head is a minidump.
func Sniff(head []byte) bool {
	return len(head) >= headerSize && string(head[:4]) == signature && le.Uint16(head[4:]) == formatVersion
}

func parseHeader(b []byte) Header {
	h := Header{Version: le.Uint32(b[0x04:]), Streams: le.Uint32(b[0x08:]), Flags: Flags(le.Uint64(b[0x18:]))}
	h.FullMemory = h.Flags&FlagFullMemory != 0
	if stamp := le.Uint32(b[0x14:]); stamp != 0 {
		h.Time = time.Unix(int64(stamp), 0).UTC()
	}
	return h
}

// String is the flags in hexadecimal, "0x2", as header dumps of debuggers print them; no names.
func (f Flags) String() string { return fmt.Sprintf("%#x", uint64(f)) }
