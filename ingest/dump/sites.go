package dump

import (
	"context"
	"fmt"

	"heapdrift/ingest/capture"
)

// takeStacks reads the stack of each owner.
func (b *builder) takeStacks(ctx context.Context) error {
	b.traces = make([]capture.StackID, len(b.owners))
	var addresses []uint64
	var frames []capture.FrameID
	for i := range b.owners {
		if i%4096 == 0 && ctx.Err() != nil {
			return fmt.Errorf("dump: %w", context.Cause(ctx))
		}
		o := &b.owners[i]
		frames = frames[:0]
		if o.trace != 0 {
			addresses = b.found[o.side].Stack(o.trace, addresses[:0])
			for _, a := range addresses {
				frames = append(frames, b.c.Stacks.AddAddress(a))
			}
			if len(frames) == 0 {
				b.lost = b.lost.Add(o.usage)
			}
		} else {
			b.bare = b.bare.Add(o.usage)
		}
		b.traces[i] = b.c.Stacks.AddStack(frames)
	}
	return nil
}

// takeSites makes a site of each owner, two where only some of its blocks are pointed to, and one of the memory that
// nobody but VirtualAlloc gave.
func (b *builder) takeSites(ctx context.Context) error {
	places := make([][2]int32, len(b.owners)) // of the sites of an owner: reachable, unreachable
	usage, err := b.usages(ctx)
	if err != nil {
		return err
	}
	for i := range b.owners {
		o := &b.owners[i]
		for k, u := range usage[i] {
			places[i][k] = int32(len(b.c.Sites))
			if u.Count > 0 {
				b.c.Sites = append(b.c.Sites,
					capture.Site{Stack: b.traces[i], Heap: o.heap, Trace: o.trace, Unreachable: k == 1, Usage: []capture.Usage{u}})
			}
		}
	}
	n := 0
	for ordinal, at := range b.blocks.all() {
		if n++; n%65536 == 0 && ctx.Err() != nil {
			return fmt.Errorf("dump: %w", context.Cause(ctx))
		}
		b.c.Blocks.Add(capture.Block{Site: uint32(places[at.owner][b.side(ordinal)]), Address: at.address, Size: at.size})
	}
	b.takeVirtual()
	return nil
}

// side is 1 of a block that nothing points to.
func (b *builder) side(ordinal int) int {
	if b.reach != nil && !b.reach.isMarked(ordinal) {
		return 1
	}
	return 0
}

// usages divides what each owner has by whether anything points to it, and says so of all.
func (b *builder) usages(ctx context.Context) ([][2]capture.Usage, error) {
	list := make([][2]capture.Usage, len(b.owners))
	for i := range list {
		list[i][0] = b.owners[i].usage
	}
	if b.reach == nil {
		return list, nil
	}
	out := &capture.PointerSearch{Scanned: b.reach.scanned.Load(),
		Note: "conservative: a number that looks like an address counts as a pointer, and pointers that are kept disguised, as EncodePointer does, are not seen" + b.unseen}
	n := 0
	for ordinal, at := range b.blocks.all() {
		if n++; n%65536 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("dump: %w", context.Cause(ctx))
		}
		one := capture.Usage{Count: 1, Bytes: int64(at.size)}
		out.Blocks = out.Blocks.Add(one)
		if !b.reach.isMarked(ordinal) {
			out.Unreachable = out.Unreachable.Add(one)
			list[at.owner][1] = list[at.owner][1].Add(one)
		}
	}
	for i := range list { // what the heap adds is shared out by count
		whole, apart := b.owners[i].usage, &list[i][1]
		if whole.Count > 0 {
			apart.Overhead = whole.Overhead * apart.Count / whole.Count
		}
		list[i][0] = whole.Sub(*apart)
	}
	b.c.Memory.Reach = out
	return list, nil
}

// takeVirtual makes a site of the private memory that is in no heap, stack or the like. Who reserved it, a dump does
// not tell.
func (b *builder) takeVirtual() {
	// Without a list of regions nothing tells that it is private, and in a dump that is cut it may be a heap or a stack.
	if b.c.Memory.Space.Partial || b.memory.MissingBytes() > 0 {
		return
	}
	for _, u := range b.c.Memory.Space.Uses {
		if u.Name == capture.UsePrivate && u.Committed > 0 {
			b.c.Sites = append(b.c.Sites, capture.Site{Heap: capture.NoHeap, Kind: capture.KindVirtual,
				Usage: []capture.Usage{{Count: b.virtual, Bytes: u.Committed}}})
		}
	}
}
