package windbg_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
)

// inventedProcess is a process whose debugger outputs are written here by hand, as WinDbg lays them out.
type inventedProcess struct {
	heaps  []inventedHeap
	leaked []inventedBlock
}

type inventedHeap struct {
	handle, reserved, committed int64 // sizes in KiB
	sizes                       map[int64]int64
}

type inventedBlock struct{ heap, address, size, unused int64 }

func invent(seed uint64, heaps, blocks int) *inventedProcess {
	random := rand.New(rand.NewPCG(seed, 1))
	p := &inventedProcess{}
	for i := range heaps {
		h := inventedHeap{handle: int64(i+1) << 24, reserved: 1<<19 + random.Int64N(1<<20), sizes: map[int64]int64{}}
		h.committed = random.Int64N(h.reserved + 1)
		for range 5 {
			h.sizes[1+random.Int64N(1<<16)] = 1 + random.Int64N(1000)
		}
		p.heaps = append(p.heaps, h)
	}
	for i := range blocks {
		h := p.heaps[random.IntN(heaps)]
		p.leaked = append(p.leaked,
			inventedBlock{h.handle, h.handle + int64(i)*0x100, 1 + 16*random.Int64N(64), 8 + random.Int64N(24)})
	}
	return p
}

func (p *inventedProcess) summary() string {
	var b strings.Builder
	b.WriteString("0:000> !heap -s\n  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast \n" +
		"                    (k)     (k)    (k)     (k) length      blocks cont. heap \n-----\n")
	for _, h := range p.heaps {
		fmt.Fprintf(&b, "%08x %08x %7d %6d %6d %6d %5d %5d %4d %6x   LFH\n", h.handle, 2, h.reserved, h.committed,
			h.committed, 1, 2, 3, 4, 5)
	}
	b.WriteString("-----\n")
	return b.String()
}

func (p *inventedProcess) sizes() string {
	var b strings.Builder
	for _, h := range p.heaps {
		fmt.Fprintf(&b, "0:000> !heap -stat -h %x\n heap @ %08x\ngroup-by: TOTSIZE max-display: 20\n    size     #blocks     total     ( %%) (percent of total busy bytes)\n", h.handle, h.handle)
		for size, count := range h.sizes {
			fmt.Fprintf(&b, "    %x %x - %x  (%.2f)\n", size, count, size*count, 1.5)
		}
	}
	return b.String()
}

func (p *inventedProcess) leaks() string {
	var b strings.Builder
	b.WriteString("0:000> !heap -l\nSearching the memory for potential unreachable busy blocks.\n" +
		"Entry     User      Heap      Segment       Size  PrevSize  Unused    Flags\n-----------------------------------------------------------------------------\n")
	for _, l := range p.leaked {
		fmt.Fprintf(&b, "%08x  %08x  %08x  %08x  %8x  %8x  %8x  busy \n", l.address-8, l.address, l.heap, l.heap,
			l.size+l.unused, 0x200, l.unused)
	}
	fmt.Fprintf(&b, "%d potential unreachable blocks were detected.\n", len(p.leaked))
	return b.String()
}

func TestInventedProcessesAreReadAsTheyAre(t *testing.T) {
	for seed := range uint64(20) {
		p := invent(seed, 1+int(seed), 50*int(seed))
		c := read(t, p.summary()+p.sizes()+p.leaks())
		if len(c) != 1 || len(c[0].Warnings) > 0 {
			t.Fatalf("seed %d: %d captures, %v", seed, len(c), c[0].Warnings)
		}
		m := c[0].Memory
		for i, h := range p.heaps {
			if got := m.Heaps[i]; got.Handle != capture.Address(h.handle) || got.Reserved != h.reserved*1024 ||
				got.Committed != h.committed*1024 {
				t.Errorf("seed %d, heap %d: %+v, want %+v", seed, i, got, h)
			}
			for size, count := range h.sizes {
				if !hasGroup(m.Groups, h.handle, size, count) {
					t.Errorf("seed %d: no group of heap %x, %d blocks of %d bytes", seed, h.handle, count, size)
				}
			}
		}
		var want capture.Usage
		for _, l := range p.leaked {
			want = want.Add(capture.Usage{Count: 1, Bytes: l.size, Overhead: l.unused})
		}
		if m.Reach.Unreachable != want || len(m.Samples) != len(p.leaked) {
			t.Errorf("seed %d: %+v in %d samples, want %+v", seed, m.Reach.Unreachable, len(m.Samples), want)
		}
		for i, l := range p.leaked {
			if s := m.Samples[i]; s.Address != uint64(l.address) || s.Size != l.size || !s.Unreachable {
				t.Errorf("seed %d, sample %d: %+v, want %+v", seed, i, s, l)
			}
		}
	}
}

func hasGroup(groups []capture.BlockGroup, heap, size, count int64) bool {
	for _, g := range groups {
		if g.Heap == capture.Address(heap) && g.Size == size {
			return g.Usage == capture.Usage{Count: count, Bytes: size * count}
		}
	}
	return false
}
