package dump

import (
	"context"

	"golang.org/x/sync/errgroup"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/sorting"
)

// maxBlocks is how many busy blocks are kept one by one, at eight bytes each and as many again in the capture. Of more,
// numbers are kept and addresses are not: nothing says then what points to them.
const maxBlocks = 24 << 20

// mostOwners is how many stacks the blocks of one heap may have; blocks of more have one that cannot be read.
const (
	mostOwners = 1 << 20
	crowded    = ^uint64(0)
)

// An owner is a heap and a stack that busy blocks have in common.
type owner struct {
	heap  int32
	trace uint64 // address of the entry of the stack; 0 for none
	side  int32  // index of the walker
	usage capture.Usage
}

// A heapWalk is what the walk of one heap gave.
type heapWalk struct {
	heap   *ntheap.Heap
	side   int32
	out    *ntheap.WalkResult
	owners []owner
	blocks *blocks
}

// openHeaps finds the heaps of both sides of the process.
func (p *process) openHeaps(ctx context.Context, opt *Options) ([]*ntheap.SideHeaps, error) {
	code := p.code()
	var list []*ntheap.SideHeaps
	for _, s := range p.sides {
		heaps, err := ntheap.Open(ctx, ntheap.Process{
			Memory: p.memory, PEB: s.peb, Bits: s.bits, ARM64: p.system.Arch == minidump.ArchARM64,
			Version: ntheap.Version{Major: p.system.Major, Minor: p.system.Minor, Build: p.system.Build},
			Types:   opt.typesOf(ctx, p, s.bits), Code: func(a uint64) bool { return inside(code, a) },
			Candidates: p.candidates(s.bits),
			Present:    p.memory.PresentBytes,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, heaps)
	}
	return list, nil
}

// candidates are the bases of private reservations that one side can reach.
func (p *process) candidates(bits int) (list []uint64) {
	for _, r := range p.spread() {
		if r.State == minidump.MemCommit && r.Type == minidump.MemPrivate && r.Base == r.AllocationBase &&
			(bits == 64 || r.Base < 1<<32) {
			list = append(list, r.Base)
		}
	}
	return list
}

// code is where return addresses may lie: images, those unloaded meanwhile, and memory that may be executed.
func (p *process) code() []span {
	list := p.images()
	for _, m := range p.unloaded {
		list = append(list, span{m.Base, m.Size})
	}
	list = append(list, p.regionsWith(func(r *minidump.Region) bool { return isCode(r.Protect) })...)
	sorting.Unstable(list, compareSpans)
	merged := list[:0]
	for _, s := range list {
		if n := len(merged); n > 0 && s.address <= merged[n-1].end() {
			merged[n-1].size = max(merged[n-1].end(), s.end()) - merged[n-1].address
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// isCode reports whether memory may be executed.
func isCode(protect minidump.Protection) bool {
	const executable = minidump.PageExecute | minidump.PageExecuteRead | minidump.PageExecuteReadWrite |
		minidump.PageExecuteWriteCopy
	return protect&executable != 0
}

// walkHeaps walks all heaps, some at the same time. A heap that both sides list is walked once. A panic ends the
// program, and calls end before: a process may wait for it.
func walkHeaps(ctx context.Context, sides []*ntheap.SideHeaps, end func()) ([]*heapWalk, error) {
	var list []*heapWalk
	seen := map[uint64]bool{}
	for i, side := range sides {
		for _, h := range side.List {
			if !seen[h.Handle] {
				seen[h.Handle] = true
				list = append(list, &heapWalk{heap: h, side: int32(i)})
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(markers)
	room := &budget{}
	room.room.Store(maxBlocks)
	for i, w := range list {
		group.Go(func() error {
			hasEnded := false
			defer func() {
				if !hasEnded {
					end()
				}
			}()
			err := w.walk(ctx, int32(i), room)
			hasEnded = true
			return err
		})
	}
	return list, group.Wait()
}

// walk counts the blocks of a heap by owner, and keeps them as far as there is room.
func (w *heapWalk) walk(ctx context.Context, heap int32, room *budget) (err error) {
	w.blocks = newBlocks()
	w.blocks.room = room
	byTrace := map[uint64]uint32{}
	defer func() { room.room.Add(int64(w.blocks.may)) }() // a process may have thousands of small heaps
	last, lastOwner := uint64(0), uint32(0)
	w.out, err = w.heap.Walk(ctx, func(b ntheap.Block) error {
		if b.Trace != last || len(w.owners) == 0 { // blocks of one stack come together
			if len(w.owners) >= mostOwners && b.Trace != 0 { // no process has that many stacks: these are damaged
				b.Trace = crowded
			}
			number, ok := byTrace[b.Trace]
			if !ok {
				number = uint32(len(w.owners))
				byTrace[b.Trace] = number
				w.owners = append(w.owners, owner{heap: heap, trace: b.Trace, side: w.side})
			}
			last, lastOwner = b.Trace, number
		}
		o := &w.owners[lastOwner]
		o.usage = o.usage.Add(capture.Usage{Count: 1, Bytes: int64(b.Size), Overhead: int64(b.Overhead)})
		w.blocks.add(block{b.Address, b.Size, lastOwner})
		return nil
	})
	return err
}

// gather joins the blocks of all heaps. Where there were too many to keep, it keeps none: some would stand for all.
func gather(ctx context.Context, list []*heapWalk) (*blocks, error) {
	all, owners := newBlocks(), 0
	for _, w := range list {
		all.take(w.blocks, uint32(owners))
		owners += len(w.owners)
		w.blocks = nil
	}
	if all.left > 0 || owners > maxOwners {
		all = &blocks{left: all.left + all.n}
	}
	return all, all.seal(ctx)
}
