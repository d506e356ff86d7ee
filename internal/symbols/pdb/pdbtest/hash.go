package pdbtest

import "hash/crc32"

// hashName is the PDB's hash of strings, version 1: the exclusive or of the string's words, made indifferent to case
// (LLVM, hashStringV1; microsoft-pdb, LHashPbCb).
func hashName(s string) uint32 {
	var h uint32
	b := []byte(s)
	for ; len(b) >= 4; b = b[4:] {
		h ^= le.Uint32(b)
	}
	if len(b) >= 2 {
		h ^= uint32(le.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		h ^= uint32(b[0])
	}
	h |= 0x20202020
	h ^= h >> 11
	return h ^ h>>16
}

// hashRecord is the hash of type records without a name: CRC-32 without its final inversion (LLVM, hashBufferV8).
func hashRecord(b []byte) uint32 {
	// Update starts with the inverse of what it is given, and inverts the result.
	return ^crc32.Update(^uint32(0), crc32.IEEETable, b)
}
