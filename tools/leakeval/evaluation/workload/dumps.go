package workload

import (
	"context"
	"fmt"

	"heapdrift/ingest"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// Dumps takes n full dumps of the process, under gflags +ust, at the instants at which Logs would take n logs.
func (p *Process) Dumps(ctx context.Context, n int) (*Evidence, error) {
	reserved := p.reserved()
	return p.snapshots(ctx, n, func(number int, seconds float64) (ingest.Source, error) {
		file := p.dump(seconds, reserved).File()
		return ingest.Source{Name: fmt.Sprintf("workload%d.dmp", number), ReaderAt: file, Size: file.Size()}, nil
	})
}

// dump is the process at an instant. What it keeps in its variables is left out: behaviours say which blocks live, not
// what points to them, and that of all or of none would be told of leaks and innocents alike.
func (p *Process) dump(seconds float64, reserved [len(handles)]uint64) minidumptest.Dump {
	made := ntheaptest.PlacedRecipe{Windows: windows, Seed: p.Seed<<32 | p.Number<<8 | p.Run}
	program := dumptest.Program{PID: pid, Time: clock(seconds), Modules: map[string]minidumptest.Module{},
		NoVariables: true}
	for i, path := range imagePaths {
		made.Images = append(made.Images, ntheaptest.Image{Name: path, Base: address(i, 0), Size: imageSize})
		program.Modules[path] = minidumptest.Module{Path: path}
	}
	for i := range p.Stacks {
		made.Stacks = append(made.Stacks, p.frames(i))
	}
	for i, handle := range handles {
		made.Heaps = append(made.Heaps, ntheaptest.PlacedHeap{Handle: handle, Reserved: reserved[i]})
	}
	for stack, b := range p.live(seconds) {
		h := &made.Heaps[b.heap]
		h.Blocks = append(h.Blocks,
			ntheaptest.PlacedBlock{Address: b.address, Size: b.bytes, Stack: stack, Virtual: b.virtual()})
	}
	return dumptest.Of(ntheaptest.Place(made), program)
}

// reserved is how many bytes the segment of each heap has: what its blocks reach over the whole run and a page behind,
// whatever of that is committed at an instant.
func (p *Process) reserved() (bytes [len(handles)]uint64) {
	for i := range bytes {
		bytes[i] = 2 * segmentHeader
	}
	for _, s := range p.Stacks {
		for i := range s.blocks {
			if b := &s.blocks[i]; !b.virtual() {
				end := b.address + b.bytes - handles[b.heap]
				bytes[b.heap] = max(bytes[b.heap], (end+2*ntheaptest.Page-1)/ntheaptest.Page*ntheaptest.Page)
			}
		}
	}
	return bytes
}
