package ntheap

import "fmt"

// Memory reads the address space of a process. It must be safe for concurrent use. Fewer than len(p) bytes come with an
// error; those that came are used.
type Memory interface {
	// ReadMemory fills p from an address, and returns how many bytes it has read.
	ReadMemory(p []byte, addr uint64) (int, error)
}

// A Version is the version of Windows that the process ran on.
type Version struct {
	Major, Minor, Build uint32
}

// String prints the version as Windows does: "10.0.19045".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Build) }

// Types are structures by the names of ntdll's PDB. Offset is in bytes from the beginning of the structure.
type Types interface {
	// Offset returns where a field of a structure begins; false for a structure or field that the PDB does not have.
	Offset(typ, field string) (offset uint64, ok bool)
	// Size returns the size of a structure in bytes; false for a structure that the PDB does not have.
	Size(typ string) (size uint64, ok bool)
}

// A Process is one side of a process: one that runs under WOW64 has two, each with a PEB, a width and heaps of its own.
type Process struct {
	Memory  Memory
	PEB     uint64  // address of the process environment block
	Bits    int     // 32 or 64
	ARM64   bool    // the process is an ARM64 one
	Version Version // zero where the evidence does not tell; the PEB's is used then
	// Types are the structures of ntdll's own PDB; nil for the embedded table.
	Types Types
	// Code reports whether a return address may lie at addr: in an image, loaded or unloaded, or in executable memory.
	// If it is nil, every address that is not 0 may be one.
	Code func(addr uint64) bool
	// Present is how many of the size bytes from addr on the evidence has. It may be nil: then memory is read page by
	// page to find out.
	Present func(addr, size uint64) uint64
	// Candidates are the bases of private reservations, ascending. Heaps that the PEB does not list and the database of
	// stacks are looked for among them.
	Candidates []uint64
}

// The bits of NtGlobalFlag that matter here, from ntpebteb.h and the documentation of gflags.
const (
	flagStackTraces = 0x00001000 // FLG_USER_STACK_TRACE_DB, "+ust"
	flagPageHeap    = 0x02000000 // FLG_HEAP_PAGE_ALLOCS, "+hpa"
)

// heapStackTraces is the bit of _HEAP.Flags that has a heap keep stacks, HEAP_CAPTURE_STACK_BACKTRACES of ntrtl.h.
const heapStackTraces = 0x08000000
