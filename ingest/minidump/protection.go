package minidump

import (
	"fmt"
	"strings"
)

// A State says whether pages are committed, reserved or free (winnt.h MEM_x).
type State uint32

// The states.
const (
	MemCommit  State = 0x1000
	MemReserve State = 0x2000
	MemFree    State = 0x10000
)

var states = map[State]string{MemCommit: "MEM_COMMIT", MemReserve: "MEM_RESERVE", MemFree: "MEM_FREE"}

// String is the name that Windows has for it.
func (s State) String() string { return known(states[s], uint32(s)) }

// A MemoryType says what backs pages: private memory, a mapped file or an image (winnt.h MEM_x).
type MemoryType uint32

// The types.
const (
	MemPrivate MemoryType = 0x20000
	MemMapped  MemoryType = 0x40000
	MemImage   MemoryType = 0x1000000
)

var memoryTypes = map[MemoryType]string{MemPrivate: "MEM_PRIVATE", MemMapped: "MEM_MAPPED", MemImage: "MEM_IMAGE"}

// String is the name that Windows has for it, "" for free memory.
func (t MemoryType) String() string {
	if t == 0 {
		return ""
	}
	return known(memoryTypes[t], uint32(t))
}

// A Protection says what may be done with pages (winnt.h PAGE_x): one of the kinds, and bits beside.
type Protection uint32

// The protections.
const (
	PageNoAccess         Protection = 0x01
	PageReadOnly         Protection = 0x02
	PageReadWrite        Protection = 0x04
	PageWriteCopy        Protection = 0x08
	PageExecute          Protection = 0x10
	PageExecuteRead      Protection = 0x20
	PageExecuteReadWrite Protection = 0x40
	PageExecuteWriteCopy Protection = 0x80
	PageGuard            Protection = 0x100
	PageNoCache          Protection = 0x200
	PageWriteCombine     Protection = 0x400
)

// protections are in the order in which they are printed.
var protections = []struct {
	bit  Protection
	name string
}{
	{PageNoAccess, "PAGE_NOACCESS"}, {PageReadOnly, "PAGE_READONLY"}, {PageReadWrite, "PAGE_READWRITE"},
	{PageWriteCopy, "PAGE_WRITECOPY"},
	{PageExecute, "PAGE_EXECUTE"}, {PageExecuteRead, "PAGE_EXECUTE_READ"},
	{PageExecuteReadWrite, "PAGE_EXECUTE_READWRITE"},
	{PageExecuteWriteCopy, "PAGE_EXECUTE_WRITECOPY"}, {PageGuard, "PAGE_GUARD"}, {PageNoCache, "PAGE_NOCACHE"},
	{PageWriteCombine, "PAGE_WRITECOMBINE"}, {0x40000000, "PAGE_TARGETS_INVALID"},
}

// String is the names that Windows has for its bits: "PAGE_READWRITE|PAGE_GUARD"; "" of 0.
func (p Protection) String() string {
	var names []string
	rest := p
	for _, known := range protections {
		if p&known.bit != 0 {
			names, rest = append(names, known.name), rest&^known.bit
		}
	}
	if rest != 0 {
		names = append(names, fmt.Sprintf("%#x", uint32(rest)))
	}
	return strings.Join(names, "|")
}

// Readable reports whether pages may be read without an exception.
func (p Protection) Readable() bool { return p != 0 && p&(PageNoAccess|PageGuard) == 0 }

// Writable reports whether pages may be written to without an exception, also where that makes a copy of them.
func (p Protection) Writable() bool {
	return p.Readable() && p&(PageReadWrite|PageWriteCopy|PageExecuteReadWrite|PageExecuteWriteCopy) != 0
}

func known(name string, value uint32) string {
	if name == "" {
		return fmt.Sprintf("%#x", value)
	}
	return name
}
