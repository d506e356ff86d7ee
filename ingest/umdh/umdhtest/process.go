// Package umdhtest writes logs as umdh.exe does, about processes that are made up: for tests, benchmarks and
// demonstrations. It spells the layouts by hand and shares no code with the reader.
package umdhtest

import (
	"strings"
	"time"
)

// A Process is what logs are written about. Ids and addresses hold for one life of it.
type Process struct {
	PID         uint32
	Machine     string
	UMDHVersion string   // of umdh: from "8." on it prints the module's range in banners and pads no offsets
	Modules     []Module // the image first
	Stacks      []Stack
}

// A Module is a loaded image, and the symbols that umdh finds for it when it compares.
type Module struct {
	Path    string
	Base    uint64
	Size    uint64 // bytes
	Symbols string // dbghelp's words, such as Private
	PDB     string // path, printed below the banner; "" for none
}

// Words that dbghelp has for symbols.
const (
	PrivateSymbols = "private symbols & lines"
	PublicSymbols  = "public symbols"
	ExportSymbols  = "export symbols"
	NoSymbols      = "no symbols loaded"
)

// A Stack is an entry of the stack trace database.
type Stack struct {
	ID          uint64
	Frames      []Frame   // innermost first
	AliasStacks [][]Frame // further stacks that umdh prints under this id, as "Alias"; innermost first
}

// A Frame is a return address and what symbols make of it.
type Frame struct {
	Address  uint64
	Function string // "" where symbols do not name it
	Offset   uint64 // of the address from the function's start
	File     string // "" for none
	Line     int    // source line; 0 for none
}

// A Snapshot is what the process holds at one instant.
type Snapshot struct {
	Time  time.Time // local time of the machine
	Heaps []Heap
}

// A Heap lists its blocks in the order of their addresses.
type Heap struct {
	Handle uint64
	Blocks []Block
}

// A Block is an allocation; sizes are in bytes. Stack is an index into Process.Stacks, −1 where none was recorded.
type Block struct {
	Address   uint64
	Requested uint64 // bytes
	Overhead  uint64 // bytes
	Stack     int32
}

// StackUsage is what one stack holds: blocks, their requested bytes and the heap's overhead in bytes.
type StackUsage struct{ Count, Requested, Overhead int64 }

// ByStack sums the blocks of a snapshot: element i is what stack i holds; the last is what has no stack.
func (p *Process) ByStack(s *Snapshot) []StackUsage {
	held := make([]StackUsage, len(p.Stacks)+1)
	for h := range s.Heaps {
		for i := range s.Heaps[h].Blocks {
			b := &s.Heaps[h].Blocks[i]
			at := int(b.Stack)
			if at < 0 {
				at = len(p.Stacks)
			}
			held[at].Count++
			held[at].Requested += int64(b.Requested)
			held[at].Overhead += int64(b.Overhead)
		}
	}
	return held
}

// Total sums what all stacks hold.
func Total(held []StackUsage) (sum StackUsage) {
	for _, h := range held {
		sum.Count += h.Count
		sum.Requested += h.Requested
		sum.Overhead += h.Overhead
	}
	return sum
}

// name is the module's name as dbghelp prints it.
func (m *Module) name() string {
	file := m.Path[strings.LastIndexByte(m.Path, '\\')+1:]
	if dot := strings.LastIndexByte(file, '.'); dot > 0 {
		return file[:dot]
	}
	return file
}

// module is the index of the module that holds an address, or −1.
func (p *Process) module(address uint64) int {
	for i := range p.Modules {
		if m := &p.Modules[i]; address-m.Base < m.Size {
			return i
		}
	}
	return -1
}

// modern reports whether the version is one of the 64-bit age.
func (p *Process) modern() bool {
	major, _, _ := strings.Cut(p.UMDHVersion, ".")
	return len(major) > 1 || major >= "8"
}
