package livesnapshot

import (
	"errors"

	"heapdrift/ingest/minidump"
)

// A space is an address space of the system: that of the process or that of its clone. It is safe for concurrent use.
type space interface {
	// ReadMemory returns how many bytes it read. Fewer than asked for come with an error, and may be none although the
	// first of them could be read.
	ReadMemory(p []byte, addr uint64) (int, error)
	// Query returns the region that an address lies in; errEnd behind the last one.
	Query(addr uint64) (minidump.Region, error)
}

// errEnd says that no region follows.
var errEnd = errors.New("livesnapshot: the end of the address space")

// errNoClone says that the process is to be read itself.
var errNoClone = errors.New("livesnapshot: the system makes no clone of the process")

// A target is a process as the system shows it.
type target interface {
	space
	// Guard has the process resumed if this program is killed while the process is suspended.
	Guard() error
	Suspend() error
	Resume() error
	// Clone makes a copy of the address space that does not change. The target closes it.
	Clone() (space, error)
	// Facts are what is asked for before the process is suspended.
	Facts() facts
	// Threads have their environment blocks. Those of a suspended process stand still from then on.
	Threads() ([]minidump.Thread, error)
	// MappedFile is the path of the file that an image is mapped from; "" where that is not known.
	MappedFile(base uint64) string
	Close()
}

// facts are what the system tells of a process and the machine.
type facts struct {
	Host     string
	System   minidump.System
	Process  minidump.Process
	Counters *minidump.Counters
	Machine  *minidump.SystemMemory
	Handles  []handleCount
	// PEB and WOW64PEB are the environment blocks; 0 where there is none, or it is not known.
	PEB, WOW64PEB uint64
	Unloaded      []minidump.UnloadedModule
}

// A handleCount is how many handles of a type a process has. Objects of GDI and USER are counted like handles.
type handleCount struct {
	Type  string
	Count int
}
