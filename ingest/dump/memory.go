package dump

import (
	"encoding/binary"

	"heapdrift/ingest/ntheap"
)

// memory reads the address space that is in the dump. It is safe for concurrent use.
type memory = ntheap.Memory

// pointers reads numbers of one side of the process.
type pointers struct {
	memory
	bits int
}

// width is the size of a pointer in bytes.
func (p pointers) width() uint64 { return uint64(p.bits / 8) }

// at reads the pointer at an address.
func (p pointers) at(addr uint64) (uint64, bool) {
	var b [8]byte
	if n, _ := p.ReadMemory(b[:p.width()], addr); n < int(p.width()) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// u32 reads 32 bits.
func (p pointers) u32(addr uint64) (uint32, bool) {
	var b [4]byte
	if n, _ := p.ReadMemory(b[:], addr); n < len(b) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[:]), true
}
