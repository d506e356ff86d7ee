package shopd

import (
	"io"
	"slices"
	"strings"
	"time"

	"heapdrift/ingest/umdh/umdhtest"
)

const (
	heapHandle = 0x3F0000
	firstBlock = 0x1000000
	overhead   = 0x18
)

// process is the build's process as UMDH sees it: its log holds addresses, and of ntdll alone the id of the PDB.
func (b build) process(images []image) *umdhtest.Process {
	p := &umdhtest.Process{PID: uint32(b.pid), Machine: "SHOP-LAB-2", UMDHVersion: "6.1.7601.17514"}
	for i := range images {
		m := &images[i]
		listed := umdhtest.Module{Path: m.path, Base: m.base, Size: m.size, Symbols: umdhtest.NoSymbols}
		if m.name() == "ntdll" {
			listed.Symbols = umdhtest.PublicSymbols
			listed.PDB = strings.Join([]string{`c:\symbols`, m.pdbName, m.identity.DebugID, m.pdbName}, `\`)
		}
		p.Modules = append(p.Modules, listed)
	}
	for _, s := range b.sites {
		stack := umdhtest.Stack{ID: uint64(s.id)}
		for _, c := range s.calls() {
			at := slices.IndexFunc(images, func(m image) bool { return m.name() == c.module })
			stack.Frames = append(stack.Frames, umdhtest.Frame{Address: images[at].starts[c.function] + uint64(c.offset)})
		}
		p.Stacks = append(p.Stacks, stack)
	}
	return p
}

// write writes the raw log of snapshot k. A block stays where it was: addresses are given in the order in which blocks
// came.
func (b build) write(w io.Writer, images []image, k int) error {
	heap := umdhtest.Heap{Handle: heapHandle}
	at := uint64(firstBlock)
	have := make([]int, len(b.sites))
	for round := range k + 1 {
		for i, s := range b.sites {
			for ; have[i] < s.blocks(round); have[i]++ {
				heap.Blocks = append(heap.Blocks,
					umdhtest.Block{Address: at, Requested: uint64(s.size), Overhead: overhead, Stack: int32(i)})
				at += uint64(s.size+overhead+15) &^ 15
			}
		}
	}
	snapshot := &umdhtest.Snapshot{Time: b.at.Add(time.Duration(k) * apart), Heaps: []umdhtest.Heap{heap}}
	return b.process(images).WriteSnapshot(w, snapshot)
}
