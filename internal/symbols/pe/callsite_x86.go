package pe

// x86Call looks for a CALL that ends at rva, by trying every length. Prefixes need no look: segment, BND (CFG, MPX),
// REX and operand prefixes stand before the opcode and change neither its length nor that it calls. The exception are
// 16-bit forms (66 E8, 67 FF), which cannot reach an address of a Windows process.
func (f *File) x86Call(before []byte, rva uint32) bool {
	if n := len(before); n >= 5 && before[n-5] == 0xE8 { // CALL rel32
		if f.code(rva+le.Uint32(before[n-4:])) != nil {
			return true
		}
	}
	for length := 2; length <= len(before); length++ {
		instruction := before[len(before)-length:]
		if instruction[0] == 0xFF && f.indirectCall(instruction, rva) {
			return true
		}
	}
	return len(before) == callMax && before[0] == 0x9A && f.info.Machine == MachineI386 &&
		codeSelector(le.Uint16(before[5:]))
}

// indirectCall tells whether FF /2 or, through memory, FF /3 takes up exactly these bytes (Intel SDM vol. 2, table
// 2-2 and 2-3; the forms are the same in 64-bit mode but for mod 0, r/m 5).
func (f *File) indirectCall(b []byte, rva uint32) bool {
	mod, reg, rm := b[1]>>6, b[1]>>3&7, b[1]&7
	if reg != 2 && (reg != 3 || mod == 3) {
		return false
	}
	length := 2
	absolute := mod == 0 && rm == 5 // disp32 alone; in 64-bit mode relative to the next instruction
	if mod != 3 && rm == 4 {        // SIB
		if length++; len(b) < length {
			return false
		}
		if mod == 0 && b[2]&7 == 5 {
			length += 4
		}
	}
	switch {
	case absolute, mod == 2:
		length += 4
	case mod == 1:
		length++
	}
	if len(b) != length {
		return false
	}
	if absolute && f.info.Bits == 64 { // the pointer is in this image: import table, or CFG's dispatch pointer
		return rva+le.Uint32(b[2:]) < f.info.SizeOfImage
	}
	return true
}

// codeSelector tells whether a segment selector is one that Windows has for code: 32-bit and 64-bit under WOW64, user
// and kernel of 32-bit Windows.
func codeSelector(s uint16) bool {
	return s == 0x23 || s == 0x33 || s == 0x1B || s == 0x08
}
