// Package minidumptest writes minidumps for tests, from a description of what is in them. It spells every layout by
// itself, by minidumpapiset.h and winnt.h, and shares nothing with the reader: a mistake in either shows.
package minidumptest

import (
	"io"
	"time"
)

// A Dump describes a minidump. A list that is nil has no stream.
type Dump struct {
	Time time.Time // when the dump was written
	// Flags are MINIDUMP_TYPE; 0 stands for those of procdump -ma (0x1826) where there is memory and Small is not set.
	Flags     uint64
	System    System
	Process   *Process
	Modules   []Module
	Unloaded  []UnloadedImage
	Threads   []Thread
	Handles   []Handle
	Regions   []Region
	Comments  []string // each a CommentW stream
	CommentA  string
	Exception *Exception
	Counters  *Counters
	Extra     []Stream // streams that the writer does not know
	// Unused is how many unused entries end the directory.
	Unused int

	Memory []Memory
	// Small puts memory into a MemoryList, as dumps of thread stacks have it, whose offsets have 32 bits.
	Small bool
	// MemoryAt is where the bytes of memory begin at the earliest; 0 leaves it to the writer.
	MemoryAt int64
}

// A System describes the machine. The zero System is Windows 10 19045 on x64.
type System struct {
	Arch                string // "x64", "x86", "arm64" or "arm"
	Major, Minor, Build uint32
	Processors          uint8
	Product             uint8 // 1 workstation, 3 server
	ServicePack         string
	Platform            uint32 // 0 stands for 2, Windows NT
	// Absent leaves the stream out.
	Absent bool
}

// A Process is MiscInfo.
type Process struct {
	PID          uint32
	Created      time.Time
	User, Kernel time.Duration // whole seconds
	Build        string        // "" leaves the later fields out, unless there is a zone
	// ZoneID is 2 in summer, when local time is Bias and DaylightBias minutes behind UTC.
	ZoneID             uint32
	Bias, DaylightBias int32 // minutes
	DebugBuild         string
}

// A Module is a loaded image. Without a PDB it has no CodeView record.
type Module struct {
	Path      string
	Base      uint64
	Size      uint32
	Checksum  uint32
	Timestamp uint32
	Version   [4]uint16 // all 0 for none
	PDB       string
	GUID      [16]byte // as it is stored
	Age       uint32
	// NB10 writes a record of the kind before RSDS, with Timestamp in place of GUID.
	NB10 bool
}

// An UnloadedImage is an image that was unloaded.
type UnloadedImage struct {
	Name      string
	Base      uint64
	Size      uint32
	Checksum  uint32
	Timestamp uint32
}

// A Thread is a thread. Its stack and TEB are memory like all other: see TEB.
type Thread struct {
	ID                     uint32
	Name                   string // "" leaves it out of ThreadNames
	TEB                    uint64
	Suspend, PriorityClass uint32
	Priority               int32
	Stack                  uint64 // where the stack pointer is
	StackSize              uint32
	Registers              *Registers // nil for no context
	// Created and Start are in ThreadInfoList, which is written where any thread has them.
	Created      time.Time
	Start        uint64
	Kernel, User time.Duration
}

// A Handle is an open handle.
type Handle struct {
	Handle                    uint64
	Type, Name                string
	Attributes, Access        uint32
	HandleCount, PointerCount uint32
}

// A Region is what VirtualQuery says of pages.
type Region struct {
	Base, Size, AllocationBase              uint64
	AllocationProtect, State, Protect, Type uint32
}

// An Exception is what stopped the process.
type Exception struct {
	Thread     uint32
	Code       uint32
	Address    uint64
	Parameters []uint64
	Registers  *Registers
}

// Counters is ProcessVmCounters, of revision 2 unless Revision is 1.
type Counters struct {
	Revision                        uint16
	PageFaults                      uint32
	WorkingSet, PeakWorkingSet      uint64
	Pagefile, PeakPagefile          uint64
	VirtualSize, PeakVirtualSize    uint64
	Private                         uint64
	PrivateWorkingSet, SharedCommit uint64
}

// A Stream is one that the writer does not know.
type Stream struct {
	Type uint32
	Data []byte
}

// Memory is memory of the process: Bytes; or else Size bytes of From, or of zeros where that is nil, which take no room
// in a file that may have holes.
type Memory struct {
	Address uint64
	Bytes   []byte
	Size    uint64
	From    io.ReaderAt
}

func (m Memory) size() uint64 {
	if m.Bytes != nil {
		return uint64(len(m.Bytes))
	}
	return m.Size
}
