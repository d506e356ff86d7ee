package lifetimes

import "heapdrift/ingest/capture/allocations"

// An EventKind says what an Event is.
type EventKind uint8

// The operations. The fields that each one uses, besides Time and Process, stand behind it.
const (
	HeapCreate   EventKind = iota // Heap, Size: bytes that it reserves, 0 where that is not said
	HeapAlloc                     // Heap, Address, Size, Thread, Stack
	HeapRealloc                   // Heap, Address (new), OldAddress, Size (new), OldSize, Thread, Stack
	HeapFree                      // Heap, Address, Stack
	HeapDestroy                   // Heap
	HeapSnapshot                  // Heap, Counters
	HeapRange                     // Heap, Address, Size: memory that belongs to the heap, from a rundown or HeapRangeReserve
	HeapRangeEnd                  // Heap, Address, Size: it does no longer

	VirtualAlloc        // Address, Size, Flags, Thread, Stack
	VirtualFree         // Address, Size, Flags, Stack
	VirtualRundownStart // Address, Size, Flags, Committed: a region that was there when the trace began
	VirtualRundownEnd   // Address, Size, Flags, Committed: a region that is there as the trace ends

	ProcessStart // the process begins inside the trace: nothing of it is older
	ProcessEnd
)

// The bits of Event.Flags, as winnt.h numbers them.
const (
	MemCommit   = 0x1000
	MemReserve  = 0x2000
	MemDecommit = 0x4000
	MemRelease  = 0x8000
)

// An Event is one thing that happened. Callers may re-use it.
type Event struct {
	Op      EventKind             // which operation
	Flags   uint32                // MemCommit and the like, of virtual memory
	Time    allocations.TraceTime // nanoseconds since the trace's start; may be negative
	Process uint32                // process instance: a PID that is used again is another one
	Thread  uint32                // id of the thread, or allocations.NoThread
	Stack   uint32                // id of the stack; 0 for none

	Heap       uint64 // handle
	Address    uint64
	Size       uint64   // bytes
	OldAddress uint64   // of a HeapRealloc
	OldSize    uint64   // bytes
	Committed  uint64   // bytes of the region that are committed, of a VirtualRundown
	Counters   Counters // of a HeapSnapshot
}

// Counters is a heap's own account of itself, in bytes, as a HeapSnapshot event carries it. Allocated is 0 before
// version 3 of the event.
type Counters struct {
	Reserved, Committed, Free, Allocated uint64
}

// maxSize is what one allocation can have: the user half of a 57-bit address space. Events beyond it are damaged, and
// counting them would drown the sums.
const maxSize = 1 << 56
