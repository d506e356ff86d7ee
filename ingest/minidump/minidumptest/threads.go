package minidumptest

import (
	"encoding/binary"
	"time"
)

// Registers are those of a thread. General are the others in the order of the architecture's numbers, as many as it
// has, SP and FP among them, whose values there are replaced: RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8… · EAX…
// likewise · X0… · R0….
type Registers struct {
	IP, SP, FP uint64
	General    []uint64
}

// The places of registers in a CONTEXT of winnt.h.
var contexts = map[string]struct {
	size, flags, ip, sp, fp int
	general                 []int
	mark                    uint32 // CONTEXT_FULL of the architecture
	width                   int
}{
	"x64": {1232, 48, 248, 152, 160, []int{120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240},
		0x10000B, 8},
	"x86": {716, 0, 184, 196, 180, []int{176, 172, 168, 164, 196, 180, 160, 156}, 0x10007, 4},
	"arm64": {912, 0, 264, 256, 240,
		[]int{8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160,
			168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256}, 0x400007, 8},
	"arm": {416, 0, 64, 56, 48, []int{4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60}, 0x200007, 4},
}

// Context is a CONTEXT with the registers, for threads and for memory: the 32-bit registers of a thread of a 32-bit
// process in a 64-bit dump are in its memory.
func Context(arch string, r Registers) []byte {
	if arch == "" {
		arch = "x64"
	}
	c := contexts[arch]
	b := make([]byte, c.size)
	put := func(at int, v uint64) {
		if c.width == 4 {
			binary.LittleEndian.PutUint32(b[at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(b[at:], v)
		}
	}
	binary.LittleEndian.PutUint32(b[c.flags:], c.mark)
	for i, v := range r.General[:min(len(r.General), len(c.general))] {
		put(c.general[i], v)
	}
	put(c.ip, r.IP)
	put(c.sp, r.SP)
	put(c.fp, r.FP)
	return b
}

// A TEB is the block of memory that Windows keeps for a thread.
type TEB struct {
	Self, PEB                          uint64
	PID, TID                           uint32
	StackBase, StackLimit, Reservation uint64 // the highest address, the lowest committed one, and the lowest
	// Slots are the first of TlsSlots; the second leads to the 32-bit registers of a thread of a 32-bit process.
	Slots []uint64
	// Exceptions is the first field; in a 32-bit process that of the 64-bit TEB leads to the 32-bit TEB.
	Exceptions uint64
}

// Bytes is the TEB of a 32- or 64-bit process in memory: 4 or 8 KB.
func (t TEB) Bytes(bits int) []byte {
	if bits == 32 {
		b := make([]byte, 0x1000)
		put := func(at int, v uint64) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }
		put(0x00, t.Exceptions)
		put(0x04, t.StackBase)
		put(0x08, t.StackLimit)
		put(0x18, t.Self)
		put(0x20, uint64(t.PID))
		put(0x24, uint64(t.TID))
		put(0x30, t.PEB)
		put(0xE0C, t.Reservation)
		for i, v := range t.Slots {
			put(0xE10+4*i, v)
		}
		return b
	}
	b := make([]byte, 0x2000)
	put := func(at int, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }
	put(0x00, t.Exceptions)
	put(0x08, t.StackBase)
	put(0x10, t.StackLimit)
	put(0x30, t.Self)
	put(0x40, uint64(t.PID))
	put(0x48, uint64(t.TID))
	put(0x60, t.PEB)
	put(0x1478, t.Reservation)
	for i, v := range t.Slots {
		put(0x1480+8*i, v)
	}
	return b
}

func (d Dump) threads(b *builder) {
	names, contexts, sizes := make([]uint32, len(d.Threads)), make([]uint32, len(d.Threads)),
		make([]uint32, len(d.Threads))
	for i, t := range d.Threads {
		names[i] = b.text(t.Name)
		if t.Registers != nil {
			context := Context(d.System.Arch, *t.Registers)
			contexts[i], sizes[i] = b.blob(context), uint32(len(context))
		}
	}
	b.stream(3, func() {
		b.u32(uint32(len(d.Threads)))
		for i, t := range d.Threads {
			b.u32s(t.ID, t.Suspend, t.PriorityClass, uint32(t.Priority))
			b.u64s(t.TEB, t.Stack)
			b.u32s(t.StackSize, 0, sizes[i], contexts[i])
		}
	})
	if d.hasInfos() {
		b.stream(17, func() {
			b.u32s(12, 64, uint32(len(d.Threads)))
			for _, t := range d.Threads {
				b.u32s(t.ID, 0, 0, 259) // STILL_ACTIVE
				b.u64s(filetime(t.Created), 0, uint64(t.Kernel/(100*time.Nanosecond)), uint64(t.User/(100*time.Nanosecond)),
					t.Start, 0xF)
			}
		})
	}
	if d.hasNames() {
		b.stream(24, func() {
			named := 0
			for _, t := range d.Threads {
				if t.Name != "" {
					named++
				}
			}
			b.u32(uint32(named))
			for i, t := range d.Threads {
				if t.Name != "" {
					b.u32s(t.ID, names[i], 0) // the RVA has 64 bits
				}
			}
		})
	}
}
