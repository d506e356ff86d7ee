package ntheap

import (
	"encoding/binary"
	"sync"
)

// The addresses that stand for "no trace was kept", by DbgHelpUtils.
const (
	noTrace32 = 0x01010000
	noTrace64 = 0x0101000000000000
)

// mostFrames is how many return addresses an _RTL_STACK_TRACE_ENTRY has room for.
const mostFrames = 32

// traces reads stack trace entries; it is safe for concurrent use.
type traces struct {
	wide bool
	free sync.Pool // of *[]byte
}

func newTraces(wide bool) *traces {
	t := &traces{wide: wide}
	t.free.New = func() any { b := make([]byte, 16+8*mostFrames); return &b }
	return t
}

// known is the address of a trace, 0 if it stands for none.
func (t *traces) known(trace uint64) uint64 {
	if trace == noTrace32 || t.wide && trace == noTrace64 {
		return 0
	}
	return trace
}

// Stack appends the return addresses of a trace to to, the innermost first. It appends none where the trace cannot be
// read or does not look like one: it must have 1 to 32 frames, each of which may be code. It may be called by several
// goroutines.
//
//	field      offset 32/64  source: public ntdll PDBs, _RTL_STACK_TRACE_ENTRY
//	Index      8 / 0xC       u16: the number of frames where the entry has no number of its own, and Depth is 0 then
//	Depth      0xA / 0xE     u16: the number of frames of those that have one: with page heap, before Vista, with a value of the program's
//	BackTrace  0xC / 0x10    up to 32 return addresses
func (hs *SideHeaps) Stack(trace uint64, to []uint64) []uint64 {
	if trace == 0 {
		return to
	}
	index, width := 8, 4
	if hs.stacks.wide {
		index, width = 12, 8
	}
	pooled := hs.stacks.free.Get().(*[]byte)
	defer hs.stacks.free.Put(pooled)
	b := *pooled
	read, _ := hs.process.Memory.ReadMemory(b[:index+4+width*mostFrames], trace) // what came is judged by its length
	if b = b[:max(read, 0)]; len(b) < index+4 {
		return to
	}
	frames := b[index+4:]
	for _, depth := range [2]uint16{binary.LittleEndian.Uint16(b[index+2:]), binary.LittleEndian.Uint16(b[index:])} {
		n := int(depth)
		if n < 1 || n > mostFrames || n*width > len(frames) {
			continue
		}
		if stack, ok := hs.frames(frames[:n*width], to); ok {
			return stack
		}
	}
	return to
}

// frames appends return addresses if all of them may be code.
func (hs *SideHeaps) frames(b []byte, to []uint64) ([]uint64, bool) {
	all := to
	for len(b) > 0 {
		var address uint64
		if hs.stacks.wide {
			address, b = binary.LittleEndian.Uint64(b), b[8:]
		} else {
			address, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		}
		if address == 0 || hs.process.Code != nil && !hs.process.Code(address) {
			return to, false
		}
		all = append(all, address)
	}
	return all, true
}
