package etl

import "fmt"

// A GUID identifies a provider, an event class or a PDB, in the byte order of the file.
type GUID [16]byte

// String spells the GUID as Windows does, in lower case.
func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", le.Uint32(g[:]), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:10], g[10:])
}

// Hex is the GUID as 32 upper-case digits, as symbol stores use it.
func (g GUID) Hex() string {
	return fmt.Sprintf("%08X%04X%04X%X", le.Uint32(g[:]), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:])
}

// guid makes a GUID of its customary parts.
func guid(a uint32, b, c uint16, d uint64) (g GUID) {
	le.PutUint32(g[:], a)
	le.PutUint16(g[4:], b)
	le.PutUint16(g[6:], c)
	for i := range 8 {
		g[8+i] = byte(d >> (56 - 8*i))
	}
	return g
}

// Providers whose events are known without being kernel classes.
var (
	ProviderImageID      = guid(0xb3e675d7, 0x2554, 0x4f18, 0x830b2762732560de) // KernelTraceControl, added by the merge
	ProviderSysConfigEx  = guid(0x9b79ee91, 0xb5fd, 0x41c0, 0xa2434248e266e9d0) // added by the merge
	ProviderHeapRange    = guid(0xd781ca11, 0x61c0, 0x4387, 0xb83daf52d3d2dd6a)
	ProviderHeapSnapshot = guid(0x901d2afa, 0x4ff6, 0x46d7, 0x8d0e53645e1a47f5)
)

// classes are the event classes of wmicore.mof that a FULL header names by GUID and the others by group.
var classes = map[GUID]uint8{
	guid(0x68fdd900, 0x4a3e, 0x11d1, 0x84f40000f80464e3): 0x00,
	guid(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c): groupMemory,
	guid(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c): groupProcess,
	guid(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c): groupThread,
	guid(0x222962ab, 0x6180, 0x4b88, 0xa825346b75f2a24a): groupHeap,
	guid(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe100a0c911f518): groupImage,
	guid(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94f57fe20d0ce3): groupStack,
	ProviderHeapRange: groupMemory,
}
