package allocations

import (
	"iter"
	"time"
)

// Meta is what the numbers of rows stand for. It lies in a table as JSON, so that the file is useful elsewhere.
type Meta struct {
	Start     time.Time // of the trace: time 0
	From, To  TraceTime // the time that the trace covers, in ns since Start
	Processes []Process // at most one for each Row.Process
	Sites     []Site    // by Row.Site
	Images    []Image   // in no particular order; each names its process
	// Stacks yields return addresses, innermost first, by Row.Stack and Row.FreeStack; nil where they are not known.
	Stacks iter.Seq2[uint32, []uint64]
}

// A Process is one run of a process: process ids are used again.
type Process struct {
	Number uint32    // Row.Process
	PID    uint32    // as Windows gave it; several processes of a trace may have had the same
	Name   string    // file name of its program, "app.exe"
	Began  TraceTime // ns since the trace's start, or BeforeTrace
	Exited TraceTime // ns since the trace's start, or Never
}

// A Site is a place that allocates: a stack, in a process, from a heap or as virtual memory.
type Site struct {
	Process uint32 // a Process.Number
	Heap    uint64 // handle; 0 for virtual memory
	Stack   uint32 // a Row.Stack; 0 where unknown
	Kind    Kind
}

// An Image is a module in the memory of a process.
type Image struct {
	Process  uint32 // a Process.Number
	Base     uint64
	Size     uint64 // bytes
	Path     string
	PDB      string    // file name of its PDB; "" where unknown
	DebugID  string    // GUID and age of the PDB; "" where unknown
	Loaded   TraceTime // ns since the trace's start, or BeforeTrace
	Unloaded TraceTime // ns since the trace's start, or Never
}
