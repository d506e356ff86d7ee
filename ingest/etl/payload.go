package etl

// Payloads are packed: a field lies behind so many bytes and so many pointers, and one declaration serves both widths.
// Newer versions append fields, so a payload may be longer than a decoder asks for.

// has reports whether the payload has at least so many bytes and pointers.
func (e *Event) has(bytes, pointers int) bool {
	return e.PointerBytes != 0 && len(e.Payload) >= bytes+pointers*int(e.PointerBytes)
}

// p is the pointer-sized field behind so many bytes and pointers.
func (e *Event) p(bytes, pointers int) uint64 {
	if e.PointerBytes == 4 {
		return uint64(le.Uint32(e.Payload[bytes+pointers*4:]))
	}
	return le.Uint64(e.Payload[bytes+pointers*8:])
}

// u32 is the 4-byte field behind so many bytes and pointers.
func (e *Event) u32(bytes, pointers int) uint32 {
	return le.Uint32(e.Payload[bytes+pointers*int(e.PointerBytes):])
}

// from is the payload behind so many bytes and pointers.
func (e *Event) from(bytes, pointers int) []byte {
	return e.Payload[bytes+pointers*int(e.PointerBytes):]
}
