package ntheaptest

import "math/rand/v2"

// A Recipe says what a process is like.
type Recipe struct {
	Windows  *WindowsVersion // must be set
	Seed     uint64          // decides sizes, stacks and keys
	Stacks   bool            // every block has its stack (gflags +ust)
	PageHeap bool            // there is a page heap, each block on pages of its own; its ordinary heap has blocks with light marks
	LFH      bool            // small blocks are in the low-fragmentation heap
	// Heaps is how many heaps there are, Segments how many segments each has. Blocks is how many blocks each of the two
	// committed runs of a segment has.
	Heaps, Segments, Blocks int
	Virtual                 int // virtual blocks of each heap
	// SegmentHeaps is how many segment heaps there are beside the others; Windows must be one of SegmentHeapVersions.
	// System makes the program one of Windows' own, whose blocks of segment heaps have no padding.
	SegmentHeaps int
	System       bool
	// Base is where reservations begin, 4 MB if 0. TEB32 makes the process the 64-bit side of one that runs under WOW64:
	// its TEB leads to the other side's.
	Base, TEB32 uint64
}

// A Block is a block that the program holds. Size is in bytes.
type Block struct {
	Heap, Address, Size uint64
	Place               string   // which part of the heap it is in: "backend", "LFH", "virtual block", "page heap", "VS", "large"
	Stack               []uint64 // innermost first; nil where none was kept
}

// A Process is a process that Make made, with what a reader must find in it.
type Process struct {
	Windows       *WindowsVersion // must be set
	Memory        Memory
	PEB, TEB      uint64
	TraceDatabase uint64 // where the stack trace database begins; 0 without Stacks
	Flags         uint32 // NtGlobalFlag
	LFHKey        uint32 // RtlpLFHKey
	SegmentKey    uint64 // key with which sizes in segment heaps are encoded
	Heaps         []Heap
	Blocks        []Block // by heap, in the order in which they were made
	Images        []Image
	Reservations  []Reservation // private ones; what no Range of Memory covers is not committed
}

// A Reservation is Size bytes of addresses from Base on that VirtualAlloc reserved.
type Reservation struct{ Base, Size uint64 }

// A Heap is what a reader must find about one heap. Sizes are bytes; Committed and Reserved are those of its segments
// and of its front end, as the heap counts.
type Heap struct {
	Handle              uint64
	Page                bool // it is a page heap
	Segment             bool // it is a segment heap: Committed includes its large blocks
	Reserved, Committed uint64
	Front               uint64 // bytes of Committed that are the front end's
	Decommitted         uint64 // bytes decommitted inside free blocks: not in Committed
	Segments, Holes     int    // how many segments, and uncommitted ranges in them
	Free                int    // free blocks of segments
	FreeLFH             int    // free blocks of the low-fragmentation heap
}

// An Image is a module: return addresses of stacks lie in it.
type Image struct {
	Name       string
	Base, Size uint64
}

// Code reports whether an address lies in an image.
func (p *Process) Code(addr uint64) bool {
	for _, i := range p.Images {
		if addr-i.Base < i.Size {
			return true
		}
	}
	return false
}

// A maker is a process that is being made.
type maker struct {
	arena
	v        *WindowsVersion
	recipe   Recipe
	p        *Process
	random   *rand.Rand
	free     uint64 // where the next reservation may be
	traces   []madeTrace
	numbered []int // those of traces that have a number
}

// Make makes a process. The same recipe gives the same bytes.
func Make(r Recipe) *Process {
	v := r.Windows
	m := &maker{
		arena: arena{wide: v.Bits == 64}, v: v, recipe: r, random: newRandom(r.Seed),
		p: &Process{Windows: v}, free: max(r.Base, 0x0040_0000),
	}
	m.p.LFHKey = m.random.Uint32()
	m.images()
	if r.Stacks {
		m.p.Flags |= 0x1000
	}
	if r.PageHeap {
		m.p.Flags |= 0x02000000
	}
	m.makeTraces(12, m.randomStack)
	var handles []uint64
	for range max(r.Heaps, 1) {
		handles = append(handles, m.heap(r.Blocks, false))
	}
	if r.PageHeap {
		handles = append(handles, m.pageHeap(r.Blocks))
	}
	for range r.SegmentHeaps {
		handles = append(handles, m.segmentHeap(r.Blocks))
	}
	m.environment(handles)
	m.p.Memory = m.memory()
	return m.p
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// reserve takes address space; its place depends on nothing that readers may rely on.
func (m *maker) reserve(size uint64) uint64 {
	base := m.free
	m.free += (size+0xFFFF)&^0xFFFF + uint64(1+m.random.IntN(3))<<16
	m.p.Reservations = append(m.p.Reservations, Reservation{base, (size + Page - 1) &^ (Page - 1)})
	return base
}

func (m *maker) images() {
	base := m.v.pick(0x7000_0000, 0x7FF6_0000_0000)
	for i, name := range []string{"app.exe", "ntdll.dll", "leaky.dll"} {
		m.p.Images = append(m.p.Images, Image{name, base + uint64(i)<<24, 0x20_0000})
	}
}

// environment writes the PEB, a TEB that leads to it, and the list of heaps.
func (m *maker) environment(handles []uint64) {
	v, p := m.v, m.p
	m.p.TEB = m.reserve(Page)
	m.p.PEB = m.reserve(Page)
	list := m.reserve(Page)
	for _, page := range []uint64{p.TEB, p.PEB, list} {
		m.zero(page, Page)
	}
	m.pointer(p.TEB+v.pick(0x18, 0x30), p.TEB)
	m.pointer(p.TEB+v.pick(0x30, 0x60), p.PEB)
	if m.recipe.TEB32 != 0 {
		m.u64(p.TEB, m.recipe.TEB32)
	}
	m.pointer(p.PEB+v.pick(8, 0x10), p.Images[0].Base)
	m.pointer(p.PEB+v.pick(0x18, 0x30), handles[0])
	m.u32(p.PEB+v.pick(0x68, 0xbc), p.Flags)
	if v.listsOne() {
		handles = handles[:1]
	}
	m.u32(p.PEB+v.pick(0x88, 0xe8), uint32(len(handles)))
	m.u32(p.PEB+v.pick(0x8c, 0xec), 512)
	m.pointer(p.PEB+v.pick(0x90, 0xf0), list)
	m.u32(p.PEB+v.pick(0xa4, 0x118), v.Major)
	m.u32(p.PEB+v.pick(0xa8, 0x11c), v.Minor)
	m.u16(p.PEB+v.pick(0xac, 0x120), uint16(v.Build))
	for i, handle := range handles {
		m.pointer(list+uint64(i)*v.width(), handle)
	}
}
