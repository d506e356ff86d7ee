package pe

// A CallSiteVerdict says whether an address can be a return address.
type CallSiteVerdict uint8

// The verdicts of CallSite.
const (
	CallUnknown CallSiteVerdict = iota // there is no code of this image to look at, or the thread may have stood in the kernel
	CallNo                             // the bytes before are no CALL
	CallYes                            // they are
)

// String is "unknown", "no" or "yes".
func (v CallSiteVerdict) String() string {
	return [...]string{"unknown", "no", "yes"}[min(v, CallYes)]
}

// callMax is the length of the longest CALL without prefixes: FF /2 with ModRM, SIB and a displacement of 4 bytes, and
// 9A with its far pointer.
const callMax = 7

// CallSite tells whether the bytes before an RVA decode as a CALL of any length, as they must before a return address.
// Code that is changed when it is loaded (packers, self-modifying code) is judged by the bytes in the file.
func (f *File) CallSite(rva uint32) CallSiteVerdict {
	if rva == 0 || f.code(rva-1) == nil { // a call may be the last instruction of its section
		return CallUnknown
	}
	first := rva - min(rva, callMax)
	if s := f.code(rva - 1); first < s.RVA {
		first = s.RVA
	}
	before, err := f.readRVA(first, int64(rva-first))
	if err != nil || len(before) < int(rva-first) {
		return CallUnknown
	}
	var yes bool
	switch {
	case systemCall(before, f.info.Machine):
		return CallUnknown
	case f.info.Hybrid:
		// Which machine the code is of depends on the address: only a CALL of either is certain.
		if !f.armCall(before, rva) && !f.x86Call(before, rva) {
			return CallUnknown
		}
		return CallYes
	case f.info.Machine == MachineI386, f.info.Machine == MachineAMD64:
		yes = f.x86Call(before, rva)
	case f.info.Machine == MachineARM64:
		yes = f.armCall(before, rva)
	default:
		return CallUnknown
	}
	if yes {
		return CallYes
	}
	return CallNo
}

// systemCall tells whether the instruction before enters the kernel. A stack that was taken there, as those of ETW are,
// has the address behind it innermost, which no CALL precedes.
func systemCall(before []byte, machine uint16) bool {
	switch n := len(before); {
	case machine == MachineARM64:
		return n >= 4 && le.Uint32(before[n-4:])&0xFFE0001F == 0xD4000001 // SVC
	case n >= 2:
		last := le.Uint16(before[n-2:])
		return last == 0x050F || last == 0x340F || last == 0x2ECD // SYSCALL, SYSENTER, INT 2Eh
	}
	return false
}

// armCall looks at the instruction before rva: BL, BLR, and BLR with pointer authentication (Arm ARM, C4.1.67).
func (f *File) armCall(before []byte, rva uint32) bool {
	if rva%4 != 0 || len(before) < 4 {
		return false
	}
	w := le.Uint32(before[len(before)-4:])
	switch {
	case w&0xFC000000 == 0x94000000: // BL imm26
		return f.code(rva-4+uint32(int32(w<<6)>>4)) != nil
	case w&0xFFFFFC1F == 0xD63F0000, // BLR
		w&0xFFFFFC1F == 0xD63F081F, // BLRAAZ
		w&0xFFFFFC1F == 0xD63F0C1F, // BLRABZ
		w&0xFFFFFC00 == 0xD73F0800, // BLRAA
		w&0xFFFFFC00 == 0xD73F0C00: // BLRAB
		return true
	}
	return false
}
