package allocations

import "math"

// A Kind says what memory it is.
type Kind uint8

// The kinds of memory.
const (
	KindHeap        Kind = iota // blocks of a heap
	KindVirtual                 // committed by VirtualAlloc
	KindHeapVirtual             // committed by a heap to serve its blocks: the same bytes as KindHeap, seen from below
)

// String is the name of the kind in the columns of a table: "heap", "virtual".
func (k Kind) String() string {
	switch k {
	case KindHeap:
		return "heap"
	case KindVirtual:
		return "virtual"
	default:
		return "heap-virtual"
	}
}

// An End says how an allocation ended.
type End uint8

// The ends of allocations.
const (
	EndNone    End = iota // alive at the end of the trace
	EndFree               // freed, decommitted or released
	EndRealloc            // moved by a reallocation whose own free is not in the trace
	EndDestroy            // with its heap
	EndExit               // with its process
	EndLost               // its free is missing: the address was allocated again; FreeTime is the latest possible
)

// String is the name of the end in the columns of a table: "none", "free".
func (e End) String() string {
	return [...]string{"none", "free", "realloc", "destroy", "exit", "lost"}[min(e, EndLost)]
}

// A TraceTime is a time in ns since the trace's start: negative before it, or one of the constants.
type TraceTime = int64

// The ends of time in rows.
const (
	BeforeTrace TraceTime = math.MinInt64 // allocated before the trace began
	Never       TraceTime = math.MaxInt64 // not freed up to the trace's end
)

// NoThread is Row.Thread where the trace does not name the thread.
const NoThread = math.MaxUint32

// A Row is one allocation from its beginning to its end.
type Row struct {
	AllocTime TraceTime // or BeforeTrace
	FreeTime  TraceTime // or Never; not before AllocTime
	Address   uint64
	Size      uint64 // bytes, the last size of a block that was resized; 0 for an UnknownFree
	Heap      uint64 // handle; 0 for virtual memory
	Site      uint32 // number of the site; stands for Process, Heap, Stack and Kind
	Process   uint32 // a Process.Number
	Thread    uint32 // id of the thread that allocated, or NoThread
	Stack     uint32 // number of the stack that allocated, 0 where unknown
	FreeStack uint32 // number of the stack that freed, 0 where not traced
	Kind      Kind
	End       End
	// Part marks a piece of a commit whose other pieces end at another time. Its bytes count, but it is no allocation
	// of its own in counts.
	Part bool
	// UnknownFree marks a free whose allocation is not in the trace: Size is 0 and AllocTime BeforeTrace.
	UnknownFree bool
}

// count is 1 for an allocation of its own.
func (r *Row) count() int32 {
	if r.Part {
		return 0
	}
	return 1
}

// A Sink takes the rows of a scan.
type Sink interface {
	// AddRows takes some rows, in the order of the table. The slice is used again after the call. An error ends the scan.
	AddRows(rows []Row) error
}
