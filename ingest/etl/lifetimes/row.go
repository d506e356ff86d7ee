package lifetimes

// A Kind says what memory it is.
type Kind uint8

// The kinds of memory.
const (
	KindHeap        Kind = iota // blocks of a heap
	KindVirtual                 // committed by VirtualAlloc
	KindHeapVirtual             // committed by a heap to serve its blocks: the same bytes as KindHeap, seen from below
)

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

func (e End) String() string {
	return [...]string{"none", "free", "realloc", "destroy", "exit", "lost"}[min(e, EndLost)]
}

// A Row is one allocation from its beginning to its end.
type Row struct {
	AllocTime int64 // nanoseconds since the trace's start, or BeforeTrace
	FreeTime  int64 // or Never; not before AllocTime
	Address   uint64
	Size      uint64 // bytes, the last size of a block that was resized; 0 where Unknown
	Heap      uint64 // handle; 0 for virtual memory
	Site      uint32 // index into Tracker.Sites; stands for Process, Heap, Stack and Kind
	Process   uint32
	Thread    uint32 // that allocated
	Stack     uint32 // that allocated, 0 where unknown
	FreeStack uint32 // 0 where not traced
	Kind      Kind
	End       End
	// Part says that the rest of the same commit ends elsewhere: its bytes count, and it is no allocation of its own.
	Part bool
	// Unknown says that only the free is in the trace.
	Unknown bool
}

// A Sink takes rows. The slice is used again after the call.
type Sink interface {
	Rows(rows []Row) error
}

// batch is how many rows a Sink gets at once, at most.
const batch = 1024

// rows gathers rows for the sink. After an error it drops what comes.
type rows struct {
	sink Sink
	buf  []Row
	err  error
}

// next is an empty row to fill in.
func (r *rows) next() *Row {
	if len(r.buf) == cap(r.buf) {
		r.flush()
	}
	r.buf = append(r.buf, Row{})
	return &r.buf[len(r.buf)-1]
}

func (r *rows) flush() {
	if len(r.buf) > 0 && r.err == nil && r.sink != nil {
		if err := r.sink.Rows(r.buf); err != nil {
			r.err = &Error{Code: CodeSink, Message: "the rows could not be passed on", Err: err}
		}
	}
	r.buf = r.buf[:0]
}
