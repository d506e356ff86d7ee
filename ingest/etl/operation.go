package etl

// An Operation is one event that changes what a process holds, with its process and stack.
//
//	Kind                        Heap  Address  Size       Old, OldSize  Flags
//	HeapCreate, HeapDestroy      ✓                                      of HeapCreate
//	HeapAlloc                    ✓    block    requested                HeapSource
//	HeapReAlloc                  ✓    new      requested  ✓             HeapSource
//	HeapFree                     ✓    block                             HeapSource
//	HeapSnapShot                 ✓    free     committed  Old: reserved, OldSize: allocated
//	HeapRange…                   ✓    ✓        ✓
//	VirtualAlloc, VirtualFree         base     region                   VirtualFlags
//	VirtualAllocDCStart, DCEnd        base     region     OldSize: committed
//	ProcessStart, ProcessEnd
//
// Sizes are in bytes.
type Operation struct {
	Time         int64  // ns since the trace's start
	Heap         uint64 // handle
	Address      uint64
	Size         uint64
	Old          uint64 // see the table
	OldSize      uint64 // see the table
	Stamp        int64  // time stamp as the file has it, in ticks of the session's clock
	ProcessIndex uint32 // index into JoinResult.Processes
	TID          uint32 // NoID where neither the event nor its stack says: headers of virtual memory name no thread
	Flags        uint32 // by the table: flags of HeapCreate, a HeapSource, or VirtualFlags
	Stack        StackID
	SourceIndex  uint16 // index into the sources that Open was given
	Kind         Kind
}

// memoryKinds are the kinds of operations.
var memoryKinds = Kinds(KindHeapCreate, KindHeapAlloc, KindHeapReAlloc, KindHeapDestroy, KindHeapFree, KindHeapSnapShot,
	KindHeapRangeRundown, KindHeapRangeCreate, KindHeapRangeReserve, KindHeapRangeRelease, KindHeapRangeDestroy,
	KindVirtualAlloc, KindVirtualFree, KindVirtualAllocDCStart, KindVirtualAllocDCEnd)

// decode makes the operation of a memory event that has no compact form and returns its process id. The rundown of a
// heap's ranges, which is several, is none.
func (o *Operation) decode(e *Event) (pid uint32, ok bool) {
	*o = Operation{Time: e.Time, Stamp: e.Stamp, TID: e.TID, SourceIndex: e.SourceIndex, Kind: e.Kind}
	pid = e.PID
	switch e.Kind {
	case KindHeapReAlloc:
		var r HeapReAlloc
		r, ok = e.HeapReAlloc()
		o.Heap, o.Address, o.Old, o.Size, o.OldSize, o.Flags = r.Heap, r.New, r.Old, r.NewSize, r.OldSize, uint32(r.Source)
	case KindHeapCreate:
		var c HeapCreate
		c, ok = e.HeapCreate()
		o.Heap, o.Size, o.Flags = c.Heap, c.Reserved, c.Flags
	case KindHeapDestroy:
		o.Heap, ok = e.HeapDestroy()
	case KindHeapSnapShot:
		var s HeapSnapShot
		s, ok = e.HeapSnapShot()
		o.Heap, o.Address, o.Size, o.Old, o.OldSize, o.Flags, pid = s.Heap, s.Free, s.Committed, s.Reserved,
			s.Allocated, s.Flags, s.PID
	case KindHeapRangeCreate, KindHeapRangeReserve, KindHeapRangeRelease, KindHeapRangeDestroy:
		var r HeapRange
		r, ok = e.HeapRange()
		o.Heap, o.Address, o.Size = r.Heap, r.Address, r.Size
	case KindVirtualAlloc, KindVirtualFree, KindVirtualAllocDCStart, KindVirtualAllocDCEnd:
		var v VirtualMemory
		v, ok = e.VirtualMemory()
		o.Address, o.Size, o.OldSize, o.Flags, pid = v.Base, v.Size, v.Committed, uint32(v.Flags), v.PID
	}
	return pid, ok
}
