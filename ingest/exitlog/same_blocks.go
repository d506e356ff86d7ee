package exitlog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/sorting"
)

// The debug CRT and Visual Leak Detector may both list what one process left. Both print the address of each block as
// the program knows it. A block of one address and size in both lists is one block, so that the stack of the second
// list is that of the block in the first.
const (
	// mostShown bounds the blocks whose addresses are remembered, by tool: those that follow are joined by their
	// lines only.
	mostShown = 1 << 18
	// mostSame bounds the stacks that one site of the debug CRT is given: with two that differ it is of no use
	// already.
	mostSame = 8
	// mostAtAddress bounds the blocks of one address that are compared, by tool: a process has one block at an address,
	// and a log of more is of several processes.
	mostAtAddress = 8
)

// A shownBlock is a block as a list shows it.
type shownBlock struct {
	process uint32
	of      int32 // the place of what it was counted as: in crtBlocks.blocks, or in the sites of the list
	list    int32 // its place in collector.order
	period  period
	address uint64
	size    int64
	number  int64 // of the debug CRT: how many blocks the process had allocated with it
}

func (b *shownBlock) compare(o *shownBlock) int {
	if c := cmp.Or(cmp.Compare(b.process, o.process), cmp.Compare(b.address, o.address)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(b.list, o.list), cmp.Compare(b.of, o.of), cmp.Compare(b.size, o.size),
		cmp.Compare(b.number, o.number))
}

// A listedStack is a site of a list with call stacks.
type listedStack struct {
	list *list
	site int32
}

// newProcess numbers a process that the log tells from those before.
func (o *collector) newProcess() uint32 {
	o.processes++
	return o.processes
}

// sameBlocks finds, by place in crtBlocks.blocks, the stacks of blocks that Visual Leak Detector lists as well. Where a
// process has more addresses at which the two disagree than blocks that they share, the lists are of several processes
// that the log does not tell apart, and nothing is joined. The result is nil where the context ends.
func (o *collector) sameBlocks(ctx context.Context) map[int32][]listedStack {
	if len(o.crtShown) == 0 || len(o.vldShown) == 0 {
		return nil
	}
	files := make([]string, len(o.crt.blocks))
	for n := range files {
		files[n] = fileName(o.crt.texts[o.crt.blocks[n].file])
	}
	byAddress := func(a, b shownBlock) int { return a.compare(&b) }
	sorting.Unstable(o.crtShown, byAddress)
	sorting.Unstable(o.vldShown, byAddress)
	all := map[int32][]listedStack{}
	for crt, vld := o.crtShown, o.vldShown; len(crt) > 0 && len(vld) > 0; {
		process := max(crt[0].process, vld[0].process)
		var ofCRT, ofVLD []shownBlock
		ofCRT, crt = cutProcess(crt, process)
		ofVLD, vld = cutProcess(vld, process)
		found, same, differ := o.sameInProcess(ctx, ofCRT, ofVLD, files)
		if ctx.Err() != nil {
			return nil
		}
		if differ > same {
			continue
		}
		for n, stacks := range found {
			all[n] = append(all[n], stacks...)
		}
	}
	return all
}

// cutProcess cuts off the blocks of a process, and those of processes before it.
func cutProcess(blocks []shownBlock, process uint32) (of, rest []shownBlock) {
	byProcess := func(b shownBlock, p uint32) int { return cmp.Compare(b.process, p) }
	from, _ := slices.BinarySearchFunc(blocks, process, byProcess)
	to, _ := slices.BinarySearchFunc(blocks, process+1, byProcess)
	return blocks[from:to], blocks[to:]
}

// sameInProcess matches the blocks of one process, and counts those that are in both lists and those that disagree. An
// address with very many blocks is one that disagrees: comparing each with each would take too long.
func (o *collector) sameInProcess(ctx context.Context, crt, vld []shownBlock, files []string) (
	found map[int32][]listedStack, same, differ int,
) {
	found = map[int32][]listedStack{}
	for len(crt) > 0 && len(vld) > 0 && ctx.Err() == nil {
		address := max(crt[0].address, vld[0].address)
		var ofCRT, ofVLD []shownBlock
		ofCRT, crt = cutAddress(crt, address)
		ofVLD, vld = cutAddress(vld, address)
		if min(len(ofCRT), len(ofVLD)) > 0 && max(len(ofCRT), len(ofVLD)) > mostAtAddress {
			differ++
			continue
		}
		for i := range ofCRT {
			for k := range ofVLD {
				if !o.isSame(&ofCRT[i], &ofVLD[k], files) {
					differ++
					continue
				}
				same++
				stack := listedStack{o.order[ofVLD[k].list], ofVLD[k].of}
				if n := ofCRT[i].of; len(found[n]) < mostSame && !slices.Contains(found[n], stack) {
					found[n] = append(found[n], stack)
				}
			}
		}
	}
	return found, same, differ
}

// cutAddress cuts off the blocks at an address, and those at lower ones.
func cutAddress(blocks []shownBlock, address uint64) (at, rest []shownBlock) {
	from := 0
	for from < len(blocks) && blocks[from].address < address {
		from++
	}
	to := from
	for to < len(blocks) && blocks[to].address == address {
		to++
	}
	return blocks[from:to], blocks[to:]
}

// isSame reports whether blocks at one address are one block.
func (o *collector) isSame(crt, vld *shownBlock, files []string) bool {
	return vld.size == crt.size && o.order[vld.list].calls(int(vld.of), files[crt.of])
}

// calls reports whether a call in the stack of a site is in a file: true where either names no file.
func (l *list) calls(site int, file string) bool {
	if file == "" {
		return true
	}
	named := false
	for _, id := range l.Stacks.Stack(l.Sites[site].Stack) {
		if text := l.Stacks.Text(l.Stacks.Frame(id)); text != nil && text.File != "" {
			if fileName(text.File) == file {
				return true
			}
			named = true
		}
	}
	return !named
}

// fileName is the name of a file without its folder, in lower case.
func fileName(path string) string { return strings.ToLower(path[strings.LastIndexAny(path, `\/`)+1:]) }

// addSame gives a site of a list without call stacks those of the same blocks in other lists.
func (l *list) addSame(site int, stacks []listedStack) {
	if site < 0 {
		return
	}
	s := &l.Lines[site]
	for _, from := range stacks {
		other := &from.list.Stacks
		var ids []capture.FrameID
		for _, id := range other.Stack(from.list.Sites[from.site].Stack) {
			f := other.Frame(id)
			if text := other.Text(f); text != nil {
				ids = append(ids, l.Stacks.AddText(*text, f.Address))
			} else {
				ids = append(ids, l.Stacks.AddAddress(f.Address))
			}
		}
		if stack := l.Stacks.AddStack(ids); len(s.SameBlocks) < mostSame && !slices.Contains(s.SameBlocks, stack) {
			s.SameBlocks = append(s.SameBlocks, stack)
		}
	}
}
