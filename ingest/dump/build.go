package dump

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/quantity"
)

// A builder fills the capture of a process.
type builder struct {
	*process
	opt    *Options
	c      *capture.Capture
	found  []*ntheap.SideHeaps // by side
	heaps  []*heapWalk
	marks  []mark // heaps, and then everything that is private and no VirtualAlloc
	blocks *blocks
	owners []owner
	traces []capture.StackID // of owners
	reach  *reach            // nil where nobody looked
	bare   capture.Usage     // blocks that no stack was kept of
	lost   capture.Usage     // blocks whose stacks cannot be read
	unseen string            // what limits the search for pointers
}

func (b *builder) build(ctx context.Context) (err error) {
	if err := b.walk(ctx); err != nil {
		return err
	}
	b.takeHeaps()
	if b.blocks, err = gather(ctx, b.heaps); err != nil {
		return err
	}
	if err := b.search(ctx); err != nil {
		return err
	}
	b.takeSpace()
	if err := b.takeSites(ctx); err != nil {
		return err
	}
	if err := b.takeGroups(ctx); err != nil {
		return err
	}
	if err := b.warn(); err != nil {
		return err
	}
	if len(b.c.Heaps) == 0 { // it says nothing of allocations: what is in no heap may be one that was not found
		b.c.Shape, b.c.Sites, b.c.Blocks = capture.ShapeFacts, nil, capture.Blocks{}
	}
	return nil
}

// walk reads the heaps and the stacks of their blocks: all that a process changes while it runs.
func (b *builder) walk(ctx context.Context) (err error) {
	reached := b.opt.Reached
	if reached == nil {
		reached = func(Stage) {}
	}
	defer reached(StacksRead)
	b.readStacks()
	if b.found, err = b.openHeaps(ctx, b.opt); err != nil {
		return err
	}
	if b.heaps, err = walkHeaps(ctx, b.found, func() { reached(StacksRead) }); err != nil {
		return err
	}
	reached(HeapsWalked)
	for _, w := range b.heaps {
		b.owners = append(b.owners, w.owners...)
	}
	return b.takeStacks(ctx)
}

// takeHeaps passes on what the walks found beside blocks.
func (b *builder) takeHeaps() {
	m := b.c.Memory
	for i, s := range b.found {
		m.Gaps = append(m.Gaps, s.Gaps...)
		for _, text := range s.Notes {
			m.Notes = append(m.Notes, capture.Note{Topic: capture.TopicMethod, Text: text})
		}
		if len(s.List) > 0 && s.List[0].Handle == b.defaultHeap(i) {
			for _, w := range b.heaps {
				if w.heap == s.List[0] {
					w.out.Facts.Name = cmp.Or(w.out.Facts.Name, "default process heap")
				}
			}
		}
	}
	for _, w := range b.heaps {
		facts := w.out.Facts
		facts.Bits, facts.FreeLFH = uint8(b.sides[w.side].bits), w.out.FreeLFH
		m.Heaps = append(m.Heaps, facts)
		b.c.Heaps = append(b.c.Heaps, capture.Heap{Handle: w.heap.Handle, Partial: len(w.out.Gaps) > 0})
		m.Gaps = append(m.Gaps, w.out.Gaps...)
		b.c.Warnings = append(b.c.Warnings, w.out.Warnings...)
		if w.heap.Kind == ntheap.KindPage { // what it keeps its books in lies behind its handle
			b.marks = append(b.marks, b.reservation(w.heap.Handle, capture.UsePageHeap)...)
		}
		for _, e := range w.out.Extents {
			use := capture.UseHeap
			if e.Kind == ntheap.ExtentPageHeap {
				use = capture.UsePageHeap
			}
			b.marks = append(b.marks, mark{pagesOf(span{e.Address, e.Size}), use})
		}
	}
}

// reservation is all regions of the reservation that an address lies in.
func (p *process) reservation(address uint64, use capture.UseName) (list []mark) {
	i, _ := slices.BinarySearchFunc(p.regions, address,
		func(r minidump.Region, a uint64) int { return cmp.Compare(r.Base+r.Size-1, a) })
	if i == len(p.regions) || p.regions[i].Base > address || p.regions[i].State == minidump.MemFree {
		return nil
	}
	base := p.regions[i].AllocationBase
	for ; i < len(p.regions) && p.regions[i].AllocationBase == base && p.regions[i].State != minidump.MemFree; i++ {
		list = append(list, mark{span{p.regions[i].Base, p.regions[i].Size}, use})
	}
	return list
}

// pagesOf is the whole pages that a span lies in.
func pagesOf(s span) span {
	from := s.address &^ (pageBytes - 1)
	end := s.end() + (pageBytes - 1)
	if end < s.address { // the end of the address space
		end = ^uint64(0)
	}
	return span{from, end&^(pageBytes-1) - from}
}

// defaultHeap is the process heap of a side: ProcessHeap of its environment block.
func (b *builder) defaultHeap(i int) uint64 {
	s := b.sides[i]
	if s.peb == 0 {
		return 0
	}
	offset := uint64(0x30)
	if s.bits == 32 {
		offset = 0x18
	}
	heap, _ := s.at(s.peb + offset)
	return heap
}

// search looks for pointers to the blocks.
func (b *builder) search(ctx context.Context) error {
	if b.blocks.left > 0 {
		b.c.Memory.Notes = append(b.c.Memory.Notes, capture.Note{Topic: capture.TopicMethod, Text: fmt.Sprintf(
			"The heaps hold %d blocks more than the limit of %d. Their contents and the pointers to them were not examined.", b.blocks.left, maxBlocks)})
		return nil
	}
	if b.blocks.n == 0 || b.opt.BlocksOnly {
		return nil
	}
	lost, images := b.process.lost()
	if images > 0 {
		b.notSearched(fmt.Sprintf("%s of images that the program keeps its variables in are not in the dump", quantity.Bytes(int64(images))))
		return nil
	}
	if lost > 0 {
		b.unseen = fmt.Sprintf("; %s of memory that pointers may lie in are not in the dump", quantity.Bytes(int64(lost)))
	}
	var gaps []span
	for _, g := range b.c.Memory.Gaps {
		if g.Bytes > 0 {
			gaps = append(gaps, span{uint64(g.Address), uint64(g.Bytes)})
		}
	}
	reach := newReach(b.memory, b.present(), b.bits(), b.blocks)
	var words []uint64
	for _, s := range b.stacks {
		words = append(words, s.registers...)
	}
	err := reach.run(ctx, b.roots(b.marks, gaps), words)
	if errors.Is(err, errEndless) {
		b.notSearched("the heaps are damaged, and blocks overlap")
		return nil
	}
	b.reach = reach
	return err
}

// notSearched says why no pointers were looked for.
func (b *builder) notSearched(why string) {
	b.c.Memory.Notes = append(b.c.Memory.Notes,
		capture.Note{Topic: capture.TopicMethod, Text: why + ": which blocks nothing points to cannot be told"})
}

// takeSpace sums the address space.
func (b *builder) takeSpace() {
	marks := b.marks
	for _, s := range b.stacks {
		marks = append(marks, mark{s.reservation, capture.UseStack}, mark{s.teb, capture.UseTEB})
	}
	for _, s := range b.sides {
		if s.peb == 0 {
			continue
		}
		marks = append(marks, mark{span{s.peb &^ (pageBytes - 1), pageBytes}, capture.UsePEB})
	}
	marks = arrange(marks)
	managed, heaps, notes := b.managed(marks)
	m := b.c.Memory
	m.Space, m.Managed, m.Notes = b.spaceOf(append(marks, managed...), b.losses()), heaps, append(m.Notes, notes...)
	counters, err := b.source.Counters()
	b.failed("the system's counters", err)
	if counters != nil {
		m.Space.PrivateBytes, m.Space.WorkingSet = int64(counters.PrivateUsage), int64(counters.WorkingSet)
	}
	machine, err := b.source.SystemMemory()
	b.failed("the memory of the machine", err)
	if machine != nil && machine.CommitLimit <= math.MaxInt64 && machine.Committed <= machine.CommitLimit {
		m.Space.MachineCommit, m.Space.MachineCommitLimit = int64(machine.Committed), int64(machine.CommitLimit)
	}
	m.Threads = b.threadFacts(b.where())
}

// where prints addresses by the module that they lie in.
func (b *builder) where() func(uint64) string {
	modules := capture.NewModuleMap(b.c.Modules)
	return func(address uint64) string {
		if i := modules.Find(address); i >= 0 {
			m := &b.c.Modules[i]
			return fmt.Sprintf("%s+%#x", m.FileName(), address-m.Base)
		}
		return fmt.Sprintf("%#x", address)
	}
}

// takeGroups counts the blocks in groups.
func (b *builder) takeGroups(ctx context.Context) error {
	g := &grouper{memory: b.memory, bits: b.bits(), blocks: b.blocks, owners: b.owners,
		modules: capture.NewModuleMap(b.c.Modules), reach: b.reach, bySize: b.opt.BlocksOnly}
	for _, m := range b.c.Modules {
		g.bases = append(g.bases, m.Base)
	}
	counted, err := g.run(ctx)
	if err != nil {
		return err
	}
	b.c.Memory.Groups, b.c.Memory.Cut = g.groups(counted, b.c)
	return nil
}
