package ntheap

import "encoding/binary"

const (
	pageSize = 0x1000
	// sequentialWindow is how much of a segment is read at once, and randomWindow how much around a single structure.
	sequentialWindow = 256 << 10
	randomWindow     = 2 * pageSize
)

// A window is the part of the address space that was read last. What it hands out is valid until the next call.
type window struct {
	mem  Memory
	wide bool // pointers are 8 bytes
	buf  []byte
	base uint64 // of buf
	have int    // bytes of buf that were read
}

func newWindow(mem Memory, wide bool, size int) *window {
	return &window{mem: mem, wide: wide, buf: make([]byte, size)}
}

// bytes returns the n bytes at addr, at most a page of them, or nil where one of them cannot be read.
func (w *window) bytes(addr uint64, n int) []byte {
	if off := addr - w.base; addr >= w.base && off <= uint64(w.have) && uint64(w.have)-off >= uint64(n) {
		return w.buf[off : off+uint64(n)]
	}
	return w.fill(addr, n)
}

func (w *window) fill(addr uint64, n int) []byte {
	if n > pageSize || addr+uint64(n) < addr || !w.wide && addr+uint64(n) > 1<<32 {
		return nil
	}
	for _, from := range [2]uint64{addr &^ (pageSize - 1), addr} { // evidence may begin inside a page
		read, _ := w.mem.ReadMemory(w.buf, from) // what came is judged by its length
		w.base, w.have = from, min(max(read, 0), len(w.buf))
		if off := int(addr - from); w.have-off >= n {
			return w.buf[off : off+n]
		}
	}
	w.have = 0
	return nil
}

// readable says whether there is a byte at addr.
func (w *window) readable(addr uint64) bool { return w.bytes(addr, 1) != nil }

func (w *window) u8(addr uint64) (uint8, bool) {
	b := w.bytes(addr, 1)
	if b == nil {
		return 0, false
	}
	return b[0], true
}

func (w *window) u16(addr uint64) (uint16, bool) {
	b := w.bytes(addr, 2)
	if b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint16(b), true
}

func (w *window) u32(addr uint64) (uint32, bool) {
	b := w.bytes(addr, 4)
	if b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

func (w *window) u64(addr uint64) (uint64, bool) {
	b := w.bytes(addr, 8)
	if b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// pointer reads an address, or a size of that width.
func (w *window) pointer(addr uint64) (uint64, bool) {
	if w.wide {
		return w.u64(addr)
	}
	v, ok := w.u32(addr)
	return uint64(v), ok
}

// pointerSize is the width of an address in bytes.
func (w *window) pointerSize() uint64 {
	if w.wide {
		return 8
	}
	return 4
}
