// Package dumptest makes full dumps of processes whose heaps are known exactly: ntheaptest makes the heaps,
// minidumptest the file.
package dumptest

import (
	"cmp"
	"io"
	"slices"
	"time"

	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// The numbers of winnt.h that regions are told by.
const (
	commit    = 0x1000
	free      = 0x10000
	private   = 0x20000
	image     = 0x1000000
	readWrite = 0x04
	execute   = 0x20 // PAGE_EXECUTE_READ
	executeRW = 0x80 // PAGE_EXECUTE_WRITECOPY
)

// A Program is what the dump says beside the heaps.
type Program struct {
	PID  uint32
	Time time.Time
	// Roots are addresses that the program keeps on the stack of its thread.
	Roots []uint64
	// Private are the sizes in bytes of committed reservations that are no heap. Each has the bytes of Contents, from
	// its beginning; nil for zeros.
	Private  []uint64
	Contents io.ReaderAt
	// Modules replaces images through which the heaps' stacks lead, by file name.
	Modules map[string]minidumptest.Module
	// NoVariables gives the first image a section of variables that the dump leaves out: whether something points to a
	// block cannot be told then.
	NoVariables bool
}

// stackAt is where the thread's stack lies, below everything else.
const stackAt, stackSize = 0x0001_0000, 0x1_0000

// privateAt is where the first of Private lies.
func privateAt(bits int) uint64 {
	if bits == 32 {
		return 0x6000_0000
	}
	return 0x30_0000_0000
}

// Of is the dump of a process.
func Of(p *ntheaptest.Process, program Program) minidumptest.Dump {
	bits := p.Windows.Bits
	d := minidumptest.Dump{
		Time: program.Time,
		System: minidumptest.System{Arch: map[int]string{32: "x86", 64: "x64"}[bits], Major: p.Windows.Major,
			Minor: p.Windows.Minor, Build: p.Windows.Build, Processors: 2, Product: 1},
		Process: &minidumptest.Process{PID: program.PID},
	}
	for n, i := range p.Images {
		m, ok := program.Modules[i.Name]
		if !ok {
			m = minidumptest.Module{Path: `C:\app\` + i.Name, Timestamp: 0x5F000000}
		}
		m.Base, m.Size = i.Base, uint32(i.Size)
		d.Modules = append(d.Modules, m)
		code := minidumptest.Region{Base: i.Base, Size: i.Size, AllocationBase: i.Base, AllocationProtect: executeRW,
			State: commit, Protect: execute, Type: image}
		if n == 0 && program.NoVariables {
			variables := code
			code.Size -= ntheaptest.Page
			variables.Base, variables.Size, variables.Protect = i.Base+code.Size, ntheaptest.Page, readWrite
			d.Regions = append(d.Regions, variables)
		}
		d.Regions = append(d.Regions, code)
	}
	const used = stackAt + stackSize - 0x4000
	d.Threads = []minidumptest.Thread{{ID: 0x1234, Name: "main", TEB: p.TEB, Stack: used,
		Registers: &minidumptest.Registers{IP: p.Images[0].Base + 0x1000, SP: used}}}
	d.Memory = append(d.Memory, minidumptest.Memory{Address: stackAt, Bytes: stack(program.Roots, bits)})
	for _, r := range p.Memory {
		m := minidumptest.Memory{Address: r.Start, Size: r.Size, From: r.Bytes}
		if r.Start == p.TEB {
			m = minidumptest.Memory{Address: r.Start, Bytes: minidumptest.TEB{
				Self: p.TEB, PEB: p.PEB, PID: program.PID, TID: 0x1234, StackBase: stackAt + stackSize, StackLimit: stackAt,
				Reservation: stackAt}.Bytes(bits)}
		}
		d.Memory = append(d.Memory, m)
	}
	at := privateAt(bits)
	for _, size := range program.Private {
		d.Memory = append(d.Memory, minidumptest.Memory{Address: at, Size: size, From: program.Contents})
		at += size + 0x10000
	}
	slices.SortFunc(d.Memory, func(a, b minidumptest.Memory) int { return cmp.Compare(a.Address, b.Address) })
	for _, m := range d.Memory {
		size := max(m.Size, uint64(len(m.Bytes)))
		d.Regions = append(d.Regions, minidumptest.Region{Base: m.Address, Size: size, AllocationBase: m.Address,
			AllocationProtect: readWrite, State: commit, Protect: readWrite, Type: private})
	}
	d.Regions = withHoles(d.Regions)
	return d
}

// stack is the thread's stack with roots at its used end.
func stack(roots []uint64, bits int) []byte {
	b := make([]byte, stackSize)
	width := bits / 8
	at := stackSize - 0x4000
	for _, r := range roots {
		for i := range width {
			b[at+i] = byte(r >> (8 * i))
		}
		at += width
	}
	return b
}

// withHoles sorts regions and adds what is free between them.
func withHoles(regions []minidumptest.Region) (list []minidumptest.Region) {
	slices.SortFunc(regions, func(a, b minidumptest.Region) int { return cmp.Compare(a.Base, b.Base) })
	at := uint64(0)
	for _, r := range regions {
		if r.Base > at {
			list = append(list, minidumptest.Region{Base: at, Size: r.Base - at, State: free, Protect: 1})
		}
		list = append(list, r)
		at = r.Base + r.Size
	}
	return list
}
