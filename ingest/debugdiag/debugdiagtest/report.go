// Package debugdiagtest writes analysis reports as DebugDiag 2.x writes them, from a description. It spells the hooks
// of the format a second time and shares nothing with the reader.
package debugdiagtest

import "time"

// A Culture is how a machine prints numbers.
type Culture struct {
	Thousands, Decimal string // separators
}

// Cultures of Windows.
var (
	English = Culture{",", "."}
	German  = Culture{".", ","}
	French  = Culture{"\u00A0", ","}
	Swiss   = Culture{"\u2019", "."}
)

// A Report is about some dumps.
type Report struct {
	Culture     Culture
	Rule        string // "MemoryAnalysis"
	Dumps       []Dump
	Conclusions []Conclusion
	Failure     string // of the rule; "" where it completed
}

// A Group is the part of the summary that a conclusion stands in.
type Group string

// The groups, as the ids of the page begin.
const (
	GroupErrors        Group = "errors"
	GroupWarnings      Group = "warnings"
	GroupInformations  Group = "informations"
	GroupNotifications Group = "notifications"
)

// A Conclusion is a row of the summary.
type Conclusion struct {
	Group                       Group  // the group it is listed in
	Dump                        string // file name of the dump it is about; "" for none
	Description, Recommendation string // the description is markup
}

// A Dump is what the report says of one dump. What is empty has no section.
type Dump struct {
	Name    string      // file name
	Facts   [][2]string // of the process: label and value
	Space   *Space      // nil for no section
	Heaps   []Heap
	Threads []Thread

	LeakTrack string        // version of LeakTrack.dll; "" where it was not loaded
	Tracked   time.Duration // how long LeakTrack had been recording
	Modules   []Module      // those that allocated
	Handles   []Module      // those that opened handles
}

// A Space is the address space. Sizes are bytes.
type Space struct {
	LargestFree, Free, Reserved, Committed, Total int64
	LargestFreeAt                                 uint64
	Uses                                          []Use // "Virtual Memory Details"
	VirtualReserved, VirtualCommitted             int64
	VirtualBlocks                                 int64 // number of virtual blocks; a half each is printed as reserved and as committed
	Mapped, MappedBlocks                          int64 // bytes and number of mapped views
}

// A Use is a bar of the graph of the address space.
type Use struct {
	Name  string
	Bytes int64
}

// A Heap is the details of a heap.
type Heap struct {
	Handle                         uint64
	Kind, Name, Description        string
	Reserved, Committed            int64 // bytes
	Segments, Ranges, LargestRange int64 // numbers of segments and uncommitted ranges, bytes of the largest range
	Sizes                          []SizeCount
}

// A SizeCount is blocks of one size.
type SizeCount struct {
	Bytes, Count int64 // of one block, and how many
}

// A Thread is a row of the threads.
type Thread struct {
	ID, System          int64  // the debugger's number, and the thread id of Windows
	Entry               string // function in which it began
	Reserved, Committed int64  // bytes of its stack
}

// A Module is the functions of a module that allocated.
type Module struct {
	Name      string
	Facts     [][2]string // of its file: label and value
	Base      uint64
	Functions []Function
	Lost      int64 // allocations that the module's count has and no function
}

// A Function is the outstanding allocations of one return address.
type Function struct {
	Name, Source string // as "app!Cache::Add+34" and "d:\src\cache.cpp @ 118"; Source is "" for none
	Address      uint64
	Type         string // "Heap allocation(s)"
	Manager      string // "Heap memory manager", or of handles "Event handles"
	Heap         uint64 // 0 for several
	Count, Bytes int64  // allocations and their bytes
	Percent      int    // the report's probability of a leak, 0 to 100
	Sizes        []SizeCount
	Samples      []Sample
}

// A Sample is one allocation.
type Sample struct {
	Address uint64
	After   time.Duration // from the start of tracking to the allocation
	Bytes   int64
	Frames  []Frame // innermost first
}

// A Frame is a line of a stack.
type Frame struct {
	Name, Source string // as those of a Function
}

func (m *Module) count() int64 {
	n := m.Lost
	for _, f := range m.Functions {
		n += f.Count
	}
	return n
}

func (m *Module) bytes() int64 {
	var n int64
	for _, f := range m.Functions {
		n += f.Bytes
	}
	return n
}
