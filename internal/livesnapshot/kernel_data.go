package livesnapshot

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf16"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/sorting"
)

var le = binary.LittleEndian

// pointerAt reads a number of the width of pointers, in bytes; b must have it.
func pointerAt(b []byte, width int) uint64 {
	if width == 4 {
		return uint64(le.Uint32(b))
	}
	return le.Uint64(b)
}

// wide is UTF-16 up to its first zero.
func wide(b []byte) string {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2 && (b[0] != 0 || b[1] != 0); b = b[2:] {
		units = append(units, le.Uint16(b))
	}
	return string(utf16.Decode(units))
}

// mostTypes is how many types of objects are looked at; Windows 11 has some seventy.
const mostTypes = 1024

// typeNames reads what NtQueryObject answers to ObjectTypesInformation: the names of the types of objects by their
// numbers.
//
//	NumberOfTypes u32, and from the next multiple of a pointer's width on, in 64-bit programs:
//	OBJECT_TYPE_INFORMATION, 104 bytes   TypeName 0x00: Length u16, MaximumLength u16, Buffer 0x08; TypeIndex u8 0x5A
//	                                     (Windows 8.1 and later), and MaximumLength bytes of the name; to a multiple of 8
//
// In 32-bit programs an entry has 96 bytes and TypeIndex is at 0x52. Before Windows 8.1 types are numbered from 2 on.
func typeNames(b []byte, width int) map[uint32]string {
	names := map[uint32]string{}
	if len(b) < 4 {
		return names
	}
	size, index := 104, 0x5A
	if width == 4 {
		size, index = 96, 0x52
	}
	count, at := min(le.Uint32(b), mostTypes), width
	for i := range count {
		if len(b)-at < size {
			break
		}
		length, room := int(le.Uint16(b[at:])), int(le.Uint16(b[at+2:]))
		if name := b[at+size:]; length <= len(name) {
			names[cmp.Or(uint32(b[at+index]), i+2)] = wide(name[:length])
		}
		if at += (size + room + width - 1) / width * width; at > len(b) {
			break
		}
	}
	return names
}

// handleCounts reads what NtQueryInformationProcess answers to ProcessHandleInformation, Windows 8 and later: how many
// handles there are of each type.
//
//	PROCESS_HANDLE_SNAPSHOT_INFORMATION       NumberOfHandles and Reserved, of the width of pointers, then
//	PROCESS_HANDLE_TABLE_ENTRY_INFO           HandleValue, HandleCount and PointerCount, of the width of pointers,
//	                                          GrantedAccess u32, ObjectTypeIndex u32, HandleAttributes u32, Reserved u32
func handleCounts(b []byte, width int, names map[uint32]string) []handleCount {
	head, entry := 2*width, 3*width+16
	if len(b) < head {
		return nil
	}
	number := min(pointerAt(b, width), uint64((len(b)-head)/entry))
	counts := map[string]int{}
	for i := range int(number) {
		counts[names[le.Uint32(b[head+i*entry+3*width+4:])]]++
	}
	list := make([]handleCount, 0, len(counts))
	for name, n := range counts {
		list = append(list, handleCount{name, n})
	}
	sorting.Stable(list, func(a, b handleCount) int { return cmp.Compare(a.Type, b.Type) })
	return list
}

// unloadedImages reads the array that RtlGetUnloadEventTraceEx tells of, whose entries grow with Windows:
//
//	RTL_UNLOAD_EVENT_TRACE   BaseAddress and SizeOfImage, of the width of pointers, Sequence u32, TimeDateStamp u32,
//	                         CheckSum u32, ImageName u16[32]
func unloadedImages(b []byte, entry, width int) (list []minidump.UnloadedModule) {
	const nameBytes = 64
	name := 2*width + 12
	if entry < name+nameBytes {
		return nil
	}
	for e := range slices.Chunk(b, entry) {
		if len(e) < entry {
			break
		}
		m := minidump.UnloadedModule{Base: pointerAt(e, width), Size: pointerAt(e[width:], width),
			Timestamp: le.Uint32(e[2*width+4:]), Checksum: le.Uint32(e[2*width+8:]), Name: wide(e[name : name+nameBytes])}
		const largest = 1<<32 - 1 // SizeOfImage of a PE has 32 bits
		if m.Base != 0 && m.Size > 0 && m.Size <= largest && m.Base+m.Size > m.Base {
			list = append(list, m)
		}
	}
	return list
}
