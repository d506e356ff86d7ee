package dump

import (
	"time"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap"
)

// A Source is a process of which a capture is made: that of a dump, or one that runs. Its lists are in the terms of
// winnt.h, for which package minidump has the types. What a source does not know is empty. Where a list is damaged or
// cannot be read, what could be read comes beside the error.
type Source interface {
	Memory() Memory
	System() minidump.System
	Process() (minidump.Process, error)
	// Taken is the time of the capture in UTC; zero where it is not known.
	Taken() time.Time
	// Modules begin with the program.
	Modules() ([]minidump.Module, error)
	Unloaded() ([]minidump.UnloadedModule, error)
	Threads() ([]minidump.Thread, error)
	Registers(t minidump.Thread) (minidump.Registers, error)
	WOW64Registers(t minidump.Thread) (minidump.Registers, error)
	// Regions are the address space, by address, without overlap.
	Regions() ([]minidump.Region, error)
	EachHandle(yield func(minidump.Handle) bool) error
	// Counters and SystemMemory are nil where they are not known.
	Counters() (*minidump.Counters, error)
	SystemMemory() (*minidump.SystemMemory, error)
	// Comments are notes that came with the evidence.
	Comments() []string
	// Damage is what is wrong with the source as a whole.
	Damage() []*minidump.Problem
}

// A Memory reads the memory of a process by address (ReadAt). It is safe for concurrent use.
type Memory interface {
	ntheap.Memory
	// Ranges are the ranges that can be read, by address; none overlap.
	Ranges() []minidump.Range
	// MissingBytes is how many bytes should be there and are not.
	MissingBytes() int64
	// PresentBytes is how many of the size bytes from addr on can be read.
	PresentBytes(addr, size uint64) uint64
}

// dumpFile is the process of a dump.
type dumpFile struct{ *minidump.Dump }

// Memory is the memory that the dump holds.
func (d dumpFile) Memory() Memory { return d.Dump.Memory() }

// Taken is the time in the header.
func (d dumpFile) Taken() time.Time { return d.Header().Time }
