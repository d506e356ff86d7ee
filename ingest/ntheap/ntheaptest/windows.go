// Package ntheaptest makes processes with heaps for tests: their memory as ranges of bytes, and the truth about them.
//
// The layouts are spelled here by hand, from published listings of the structures, and shared with nothing that reads
// heaps. What is made looks as the listings say, and as memory that ntdll itself wrote.
package ntheaptest

// A WindowsVersion is a version of Windows with one width of addresses.
type WindowsVersion struct {
	Name                string // "10.0.22631 x64"
	Major, Minor, Build uint32
	Bits                int
	heap                heapPlaces
	lfh                 lfhPlaces
}

// Old reports whether this is Windows XP or 2003, whose heaps have other structures.
func (v *WindowsVersion) Old() bool { return v.Major < 6 }

// heapPlaces are offsets in _HEAP. Segments is the list of segments, in Windows XP and 2003 the array.
type heapPlaces struct {
	signature, flags, encodeMask, encoding, virtualBlocks, segments, frontEnd, frontEndType, counters, size uint64
}

// lfhPlaces are offsets in the structures of the low-fragmentation heap.
type lfhPlaces struct {
	zones, zoneEnd, subsegments                       uint64 // _LFH_HEAP; _LFH_BLOCK_ZONE
	subsegmentSize, userBlocks, blockSize, blockCount uint64
	signature, offsets, bits, headerSize              uint64 // _HEAP_USERDATA_HEADER
	pointerEnd, encoded                               bool   // the zone points behind its last subsegment; offsets are encoded
}

var (
	lfh7x86 = lfhPlaces{zones: 0x18, zoneEnd: 8, subsegments: 0x10, subsegmentSize: 0x20, userBlocks: 4, blockSize: 0x10,
		blockCount: 0x14, signature: 0xc, headerSize: 0x10, pointerEnd: true}
	lfh7x64 = lfhPlaces{zones: 0x28, zoneEnd: 0x10, subsegments: 0x20, subsegmentSize: 0x30, userBlocks: 8,
		blockSize: 0x18, blockCount: 0x1c, signature: 0x18, headerSize: 0x20, pointerEnd: true}
	lfh80x86 = lfhPlaces{zones: 4, zoneEnd: 8, subsegments: 0x10, subsegmentSize: 0x28, userBlocks: 4, blockSize: 0x14,
		blockCount: 0x18, signature: 0xc, offsets: 0x10, headerSize: 0x1c, pointerEnd: true}
	lfh80x64 = lfhPlaces{zones: 8, zoneEnd: 0x10, subsegments: 0x20, subsegmentSize: 0x40, userBlocks: 8, blockSize: 0x24,
		blockCount: 0x28, signature: 0x14, offsets: 0x18, headerSize: 0x30, pointerEnd: true}
	lfh81x86 = lfhPlaces{zones: 4, zoneEnd: 8, subsegments: 0x10, subsegmentSize: 0x28, userBlocks: 4, blockSize: 0x14,
		blockCount: 0x18, signature: 0xc, offsets: 0x10, bits: 0x1c, headerSize: 0x1c, encoded: true}
	lfh81x64 = lfhPlaces{zones: 8, zoneEnd: 0x10, subsegments: 0x20, subsegmentSize: 0x40, userBlocks: 8, blockSize: 0x24,
		blockCount: 0x28, signature: 0x14, offsets: 0x18, bits: 0x30, headerSize: 0x30, encoded: true}
)

// The versions that processes can be made for.
var (
	XPx86 = &WindowsVersion{Name: "XP x86", Major: 5, Minor: 1, Build: 2600, Bits: 32,
		lfh: lfhPlaces{subsegmentSize: 0x20, headerSize: 0x10},
		heap: heapPlaces{signature: 8, flags: 0xc, virtualBlocks: 0x50, segments: 0x58, frontEnd: 0x580,
			frontEndType: 0x586, size: 0x588}}
	Win2003 = &WindowsVersion{Name: "2003 x64", Major: 5, Minor: 2, Build: 3790, Bits: 64,
		heap: heapPlaces{signature: 0x10, flags: 0x14, virtualBlocks: 0x90, segments: 0xa0, frontEnd: 0xad8,
			frontEndType: 0xae2, size: 0xae8}}
	Win7x86 = &WindowsVersion{Name: "7 x86", Major: 6, Minor: 1, Build: 7601, Bits: 32, lfh: lfh7x86,
		heap: heapPlaces{0x64, 0x40, 0x4c, 0x50, 0xa0, 0xa8, 0xd4, 0xda, 0xdc, 0x138}}
	Win7x64 = &WindowsVersion{Name: "7 x64", Major: 6, Minor: 1, Build: 7601, Bits: 64, lfh: lfh7x64,
		heap: heapPlaces{0xa0, 0x70, 0x7c, 0x80, 0x118, 0x128, 0x178, 0x182, 0x188, 0x208}}
	Win80x86 = &WindowsVersion{Name: "8.0 x86", Major: 6, Minor: 2, Build: 9200, Bits: 32, lfh: lfh80x86,
		heap: heapPlaces{0x60, 0x40, 0x4c, 0x50, 0x9c, 0xa4, 0xd0, 0xd6, 0x1e0, 0x248}}
	Win80x64 = &WindowsVersion{Name: "8.0 x64", Major: 6, Minor: 2, Build: 9200, Bits: 64, lfh: lfh80x64,
		heap: heapPlaces{0x98, 0x70, 0x7c, 0x80, 0x110, 0x120, 0x170, 0x17a, 0x210, 0x298}}
	Win81x86 = &WindowsVersion{Name: "8.1 x86", Major: 6, Minor: 3, Build: 9600, Bits: 32, lfh: lfh81x86,
		heap: heapPlaces{0x60, 0x40, 0x4c, 0x50, 0x9c, 0xa4, 0xd0, 0xd6, 0x1e0, 0x248}}
	Win81x64 = &WindowsVersion{Name: "8.1 x64", Major: 6, Minor: 3, Build: 9600, Bits: 64, lfh: lfh81x64,
		heap: heapPlaces{0x98, 0x70, 0x7c, 0x80, 0x110, 0x120, 0x170, 0x17a, 0x210, 0x298}}
	Win1511x86 = &WindowsVersion{Name: "10.0.10586 x86", Major: 10, Build: 10586, Bits: 32,
		lfh: lfh81x86, heap: Win81x86.heap}
	Win1511x64 = &WindowsVersion{Name: "10.0.10586 x64", Major: 10, Build: 10586, Bits: 64,
		lfh: lfh81x64, heap: Win81x64.heap}
	Win1607x86 = &WindowsVersion{Name: "10.0.14393 x86", Major: 10, Build: 14393, Bits: 32, lfh: lfh81x86,
		heap: heapPlaces{0x60, 0x40, 0x4c, 0x50, 0x9c, 0xa4, 0xd4, 0xda, 0x1e4, 0x248}}
	Win1607 = &WindowsVersion{Name: "10.0.14393 x64", Major: 10, Build: 14393, Bits: 64, lfh: lfh81x64,
		heap: heapPlaces{0x98, 0x70, 0x7c, 0x80, 0x110, 0x120, 0x178, 0x182, 0x218, 0x2a0}}
	Win1703 = &WindowsVersion{Name: "10.0.15063 x64", Major: 10, Build: 15063, Bits: 64,
		lfh: lfh81x64, heap: Win1607.heap}
	Win1709 = &WindowsVersion{Name: "10.0.16299 x64", Major: 10, Build: 16299, Bits: 64,
		lfh: lfh81x64, heap: Win1607.heap}
	Win1803 = &WindowsVersion{Name: "10.0.17134 x64", Major: 10, Build: 17134, Bits: 64,
		lfh: lfh81x64, heap: Win1607.heap}
	Win1809x86 = &WindowsVersion{Name: "10.0.17763 x86", Major: 10, Build: 17763, Bits: 32,
		lfh: lfh81x86, heap: Win10x86.heap}
	Win1809x64 = &WindowsVersion{Name: "10.0.17763 x64", Major: 10, Build: 17763, Bits: 64,
		lfh: lfh81x64, heap: Win10x64.heap}
	Win10x86 = &WindowsVersion{Name: "10.0.19045 x86", Major: 10, Build: 19045, Bits: 32, lfh: lfh81x86,
		heap: heapPlaces{0x60, 0x40, 0x4c, 0x50, 0x9c, 0xa4, 0xe4, 0xea, 0x1f4, 0x258}}
	Win10x64 = &WindowsVersion{Name: "10.0.19045 x64", Major: 10, Build: 19045, Bits: 64, lfh: lfh81x64,
		heap: heapPlaces{0x98, 0x70, 0x7c, 0x80, 0x110, 0x120, 0x198, 0x1a2, 0x238, 0x2c0}}
	Win11 = &WindowsVersion{Name: "10.0.22631 x64", Major: 10, Build: 22631, Bits: 64, lfh: lfh81x64,
		heap: heapPlaces{0x98, 0x70, 0x7c, 0x80, 0x110, 0x120, 0x198, 0x1a2, 0x238, 0x2c0}}
	Win24H2x86 = &WindowsVersion{Name: "10.0.26100 x86", Major: 10, Build: 26100, Bits: 32,
		lfh: lfh81x86, heap: Win10x86.heap}
	Win24H2x64 = &WindowsVersion{Name: "10.0.26100 x64", Major: 10, Build: 26100, Bits: 64,
		lfh: lfh81x64, heap: Win11.heap}
)

// NTHeapVersions are the versions of Windows whose NT heaps differ from one another.
var NTHeapVersions = []*WindowsVersion{XPx86, Win2003, Win7x86, Win7x64, Win80x86, Win80x64, Win81x86,
	Win81x64, Win1511x86, Win1511x64,
	Win1607x86, Win1607, Win10x86, Win10x64, Win11, Win24H2x86, Win24H2x64}

// SegmentHeapVersions are the versions of Windows whose segment heaps differ from one another.
var SegmentHeapVersions = []*WindowsVersion{Win1511x86, Win1511x64, Win1607x86, Win1607,
	Win1703, Win1709, Win1803, Win1809x86, Win1809x64, Win10x86, Win10x64, Win11, Win24H2x64}

// width is that of an address in bytes, and granule the unit of blocks.
func (v *WindowsVersion) width() uint64   { return uint64(v.Bits) / 8 }
func (v *WindowsVersion) granule() uint64 { return uint64(v.Bits) / 4 }

// interceptor is the number of what keeps stacks, in the heap and in the prefix of each block, and where the heap has
// it.
func (v *WindowsVersion) interceptor() (number uint16, at uint64) {
	number = 2
	if v.Build >= 10586 {
		number = 1
	}
	if v.Build < 9200 {
		return number, v.pick(0x5c, 0x98)
	}
	return number, v.pick(0x58, 0x90)
}

// decommitted is where a heap counts what it gave back inside free blocks, in its counters.
func (v *WindowsVersion) decommitted() uint64 {
	if v.Build < 9200 {
		return v.pick(0x48, 0x58)
	}
	return v.pick(0x50, 0x60)
}

// ownFront says whether the front end is a reservation of its own that the heap counts as its own memory, and listsOne
// whether the PEB lists the process heap only.
func (v *WindowsVersion) ownFront() bool { return v.Build >= 9600 }
func (v *WindowsVersion) listsOne() bool { return v.Build >= 26100 }

// compact is where the last 8 bytes of an entry begin.
func (v *WindowsVersion) compact() uint64 { return v.granule() - 8 }

// pick chooses by width.
func (v *WindowsVersion) pick(x86, x64 uint64) uint64 {
	if v.Bits == 64 {
		return x64
	}
	return x86
}
