package minidump

// Registers are those of a thread at the time of the dump.
type Registers struct {
	Arch       Arch
	Flags      uint32 // ContextFlags: which registers are there
	IP, SP, FP uint64 // FP is RBP, EBP, X29 or R11
	// General are all general-purpose registers, SP and FP among them, in the order of the architecture's numbers.
	General []uint64
}

// A contextLayout says where a CONTEXT of winnt.h has its registers.
//
//	CONTEXT of x64, 1232 bytes       ContextFlags 0x30, Rax Rcx Rdx Rbx Rsp Rbp Rsi Rdi R8–R15 0x78–0xF0, Rip 0xF8
//	CONTEXT of x86, 716 bytes        ContextFlags 0x00, Edi 0x9C, Esi 0xA0, Ebx 0xA4, Edx 0xA8, Ecx 0xAC, Eax 0xB0, Ebp 0xB4,
//	                                 Eip 0xB8, Esp 0xC4
//	ARM64_NT_CONTEXT, 912 bytes      ContextFlags 0x00, X0–X28 0x08, Fp 0xF0, Lr 0xF8, Sp 0x100, Pc 0x108
//	CONTEXT of ARM, 416 bytes        ContextFlags 0x00, R0–R12 0x04, Sp 0x38, Lr 0x3C, Pc 0x40
type contextLayout struct {
	arch       Arch
	width      int // of a register in bytes
	flagsAt    int
	mark       uint32 // the bit of ContextFlags that names the architecture
	ip, sp, fp int
	general    []int
	least      int // how many bytes must be there
}

var contexts = map[Arch]contextLayout{
	ArchX64: {arch: ArchX64, width: 8, flagsAt: 0x30, mark: 0x00100000, ip: 0xF8, sp: 0x98, fp: 0xA0,
		general: every(0x78, 8, 16), least: 0x100},
	ArchX86: {arch: ArchX86, width: 4, mark: 0x00010000, ip: 0xB8, sp: 0xC4, fp: 0xB4, least: 0xC8,
		general: []int{0xB0, 0xAC, 0xA8, 0xA4, 0xC4, 0xB4, 0xA0, 0x9C}},
	ArchARM64: {arch: ArchARM64, width: 8, mark: 0x00400000, ip: 0x108, sp: 0x100, fp: 0xF0,
		general: every(0x08, 8, 32), least: 0x110},
	ArchARM: {arch: ArchARM, width: 4, mark: 0x00200000, ip: 0x40, sp: 0x38, fp: 0x30,
		general: every(0x04, 4, 15), least: 0x48},
}

// every lists the offsets of n registers that follow each other.
func every(from, width, n int) []int {
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = from + i*width
	}
	return offsets
}

const (
	// hasRegisters are the bits CONTEXT_CONTROL and CONTEXT_INTEGER, equal for all architectures.
	hasRegisters = 0x3
	// maxContext is the largest that is looked at: what follows, as XSAVE areas, holds no general-purpose registers.
	maxContext = 0x110
)

func (c contextLayout) read(b []byte) (Registers, bool) {
	flags := le.Uint32(b[c.flagsAt:])
	if flags&c.mark == 0 || flags&hasRegisters == 0 {
		return Registers{Flags: flags}, false
	}
	register := func(at int) uint64 {
		if c.width == 4 {
			return uint64(le.Uint32(b[at:]))
		}
		return le.Uint64(b[at:])
	}
	r := Registers{Arch: c.arch, Flags: flags, IP: register(c.ip), SP: register(c.sp), FP: register(c.fp)}
	r.General = make([]uint64, len(c.general))
	for i, at := range c.general {
		r.General[i] = register(at)
	}
	return r, true
}

// Registers reads the context of a thread. In a 64-bit dump of a 32-bit process that is the 64-bit side; see
// WOW64Registers.
func (d *Dump) Registers(t Thread) (Registers, error) {
	return d.context(t.Context, StreamThreadList)
}

func (d *Dump) context(at Location, stream StreamType) (Registers, error) {
	p := &problems{stream: stream}
	layout, ok := contexts[d.system.Arch]
	if !ok {
		p.add(CodeNoRegisters, -1, at.Offset, 1, "registers of %s are not known", d.system.Arch)
		return Registers{}, p.err()
	}
	b := make([]byte, d.src.room(at.Offset, min(int64(at.Size), maxContext)))
	if len(b) < layout.least || at.Offset == 0 {
		p.add(CodeNoRegisters, -1, at.Offset, 1, "the context has %d bytes in the file; a context of %s needs %d", len(b),
			layout.arch, layout.least)
		return Registers{}, p.err()
	}
	if err := d.src.read(b, at.Offset); err != nil {
		p.failed(at.Offset, err)
		return Registers{}, p.err()
	}
	r, ok := layout.read(b)
	if !ok {
		p.add(CodeNoRegisters, -1, at.Offset, 1, "the context has flags %#x, which are not register flags of %s", r.Flags,
			layout.arch)
	}
	return r, p.err()
}

// wow64SlotAt is where a 64-bit TEB of a 32-bit process points to its 32-bit context: TlsSlots[1]
// (WOW64_TLS_CPURESERVED). It begins with Flags u16 and MachineType u16, and the CONTEXT of x86 follows.
const (
	wow64SlotAt    = 0x1488
	wow64ContextAt = 4
)

// WOW64Registers reads the 32-bit registers of a thread of a 32-bit process in a 64-bit dump. Other threads have none,
// and neither have those that run 64-bit code the whole time.
func (d *Dump) WOW64Registers(t Thread) (Registers, error) {
	p := &problems{stream: StreamThreadList}
	none := func(format string, args ...any) (Registers, error) {
		p.add(CodeNoRegisters, -1, t.Context.Offset, 1, format, args...)
		return Registers{}, p.err()
	}
	if d.system.Arch != ArchX64 || t.TEB == 0 {
		return none("thread %#x has no 32-bit side: the dump is of %s", t.ID, d.system.Arch)
	}
	var slot [8]byte
	if _, err := d.memory.ReadMemory(slot[:], t.TEB+wow64SlotAt); err != nil {
		return none("the dump does not have where thread %#x keeps its 32-bit registers: %v", t.ID, err)
	}
	layout, at := contexts[ArchX86], le.Uint64(slot[:])
	if at == 0 {
		return none("thread %#x has no 32-bit side", t.ID)
	}
	b := make([]byte, layout.least)
	if _, err := d.memory.ReadMemory(b, at+wow64ContextAt); err != nil {
		return none("the dump does not have the 32-bit registers of thread %#x: %v", t.ID, err)
	}
	r, ok := layout.read(b)
	if !ok {
		return none("the 32-bit context of thread %#x has flags %#x, so it has no registers", t.ID, r.Flags)
	}
	return r, nil
}
