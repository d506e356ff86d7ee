// Package etltest writes event trace logs (.etl) as Windows does, about processes that are made up: for tests,
// benchmarks and demonstrations. It spells the layouts by hand, from the headers and MOF classes that the reader's
// documentation cites, and shares no code with the reader.
//
// A Scenario says what happened: processes, images, heaps, blocks and committed memory with the times they lived
// from and to. What a reader must answer follows from it without replaying an event (Lifetimes, Commits). A Format
// says how it was recorded: by which Windows, merged or not, compressed, with stack keys, in a ring, with losses.
package etltest

// A Scenario is what happened while a trace was made. All times in its types are ns since the trace's start: as a
// beginning 0 means before the trace, as an end 0 means not before the trace's end. Sizes are in bytes. What refers to
// something else does so by its index.
type Scenario struct {
	Start     uint64 // of the trace, as a FILETIME: 100 ns since 1601, UTC
	End       int64  // of the trace
	CPUs      int    // processors
	Volumes   []Volume
	Processes []Process
	Stacks    []Stack
	Heaps     []Heap
	Blocks    []Block
	Regions   []Region
	Extras    []Extra // events beside those that follow from the rest
}

// A Volume maps a device to a drive: \Device\HarddiskVolume3 to C:.
type Volume struct{ NT, DOS string }

// A Process is one life of a process id.
type Process struct {
	PID, Parent, Session uint32
	Bits                 int    // 32 or 64: of its code and of its heap events
	SID                  []byte // of its user; nil for none
	Name                 string // of the image's file
	CommandLine          string
	Package              string // full name of its package, logged from version 4 on
	Key                  uint64 // the kernel object's address: unique among lives
	Started, Ended       int64  // ns since the trace's start; 0 for before it, and for not before its end
	ExitStatus           int32
	Threads              []Thread
	Images               []Image
}

// A Thread is one life of a thread id.
type Thread struct {
	TID            uint32
	Name           string // logged from version 4 on
	Started, Ended int64  // ns since the trace's start; 0 for with the process
}

// An Image is a module from its load to its unload.
type Image struct {
	Path             string // of the file, as the kernel names it
	Base, Size       uint64
	Stamp, Checksum  uint32   // TimeDateStamp and CheckSum of the PE header
	PDB              string   // "" for none
	GUID             [16]byte // of the PDB, as the file has it
	Age              uint32   // of the PDB
	Loaded, Unloaded int64    // ns since the trace's start; 0 for with the process
}

// A Stack is a chain of return addresses, innermost first. A stack with both parts is delivered as two events.
type Stack struct {
	Kernel, User []uint64
}

// A Caller is the thread and CPU that did something, and its stack: Stack is an index into Scenario.Stacks plus one, 0
// where none was recorded.
type Caller struct {
	Thread uint32
	CPU    int
	Stack  int
	Late   int64 // ns until its stack is delivered, beyond the usual
	Roams  bool  // the thread wakes up on another CPU, where the stack is delivered
}

// A Heap is one life of a heap's handle.
type Heap struct {
	Process            int // index into Scenario.Processes
	Handle             uint64
	Flags              uint32
	Created, Destroyed int64  // ns since the trace's start; 0 for with the process
	By                 Caller // who created it
}

// A Block is a life of a heap block, from the event that made it to the one that ended it.
type Block struct {
	Heap      int // index into Scenario.Heaps
	Address   uint64
	Size      uint64 // bytes when it was made
	Source    uint32 // 1 lookaside, 2 low-fragmentation heap, 3 main path, 4 slow path, 6 segment heap
	Allocated int64  // ns since the trace's start; 0 for before it
	Freed     int64  // ns since the trace's start; 0 for not by a free of its own
	By        Caller // who allocated it
	FreedBy   Caller
	Resizes   []Resize // in place, in order of time
	MovedFrom int      // index plus one of the block that a reallocation moved here; its Freed is just after this Allocated

	Unlogged      bool // the event that made it was lost
	FreedUnlogged bool // the event that ended it was lost
}

// A Resize changes a block's size where it is.
type Resize struct {
	Time int64  // ns since the trace's start
	Size uint64 // bytes from then on
	By   Caller
}

// A Region is a reserved range of a process's addresses.
type Region struct {
	Process            int // index into Scenario.Processes
	Base, Size         uint64
	Reserved, Released int64 // ns since the trace's start; 0 for before it, and for not by a release of its own
	By, ReleasedBy     Caller
	Commits            []Commit
}

// A Commit is a life of committed pages in a region: until they are decommitted, or the region is released.
type Commit struct {
	Base, Size             uint64
	Committed, Decommitted int64 // ns since the trace's start. Decommitted is 0 where the region's release ends it, if anything does
	By, DecommittedBy      Caller
}

// An Extra is an event that a scenario has no words for.
type Extra struct {
	Time    int64 // ns since the trace's start
	By      Caller
	Process int // index into Scenario.Processes
	Event   Event
}

// process is the one whose heap a block is in.
func (s *Scenario) process(b *Block) *Process {
	return &s.Processes[s.Heaps[b.Heap].Process]
}
