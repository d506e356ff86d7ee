package exitlog

import (
	"cmp"
	"slices"

	"heapdrift/ingest/sorting"
)

// The debug CRT numbers the blocks of a process in the order in which they are allocated. That tells two things:
//
//   - A block with one number, address and size in two lists of a process is one block. It counts in the first list. A
//     list at the end repeats what the lists of tests have, unless they begin at a checkpoint.
//   - A block of a list outside of tests may have a lower number than all blocks of tests. If the log names each test,
//     and each has its list from the first on, the block was there before the first test ran. A static may have
//     allocated it, and may free it after the list. Equal numbers in several processes tell less: a fixture of all
//     tests allocates as regularly.

// A period is when a process printed a list.
type period uint8

const (
	outsideOfTests period = iota
	inTest
	inTestBehindOthers // of which one may have no list: its blocks may be in a list outside
)

// period is when the process prints what it prints now.
func (at *lane) period() period {
	switch {
	case at.tests.inner == "":
		return outsideOfTests
	case at.missed || !at.tests.announced:
		return inTestBehindOthers
	}
	return inTest
}

// isSame reports whether two blocks of the debug CRT are one.
func (b *shownBlock) isSame(o *shownBlock) bool {
	return b.process == o.process && b.number == o.number && b.address == o.address && b.size == o.size && b.number > 0
}

// countOnce takes blocks out of the counts that a list before has as well. If the same list has it twice, two
// processes ran the test, which the log does not tell apart: both count.
func (o *collector) countOnce() {
	byProcess := func(a, b shownBlock) int { return cmp.Compare(a.process, b.process) }
	if !slices.IsSortedFunc(o.crtShown, byProcess) { // processes print in turns
		sorting.Stable(o.crtShown, byProcess)
	}
	kept := o.crtShown[:0]
	for rest := o.crtShown; len(rest) > 0; {
		var of []shownBlock
		of, rest = nextProcess(rest)
		if mayRepeat(of) {
			of = o.dropRepeated(of)
		}
		kept = append(kept, of...)
	}
	o.crtShown = kept
}

// nextProcess cuts off the blocks of the first process.
func nextProcess(blocks []shownBlock) (of, rest []shownBlock) {
	n := 1
	for n < len(blocks) && blocks[n].process == blocks[0].process {
		n++
	}
	return blocks[:n], blocks[n:]
}

// A numberRange is the numbers of the blocks of a list.
type numberRange struct {
	list        int32
	least, most int64
}

// mayRepeat reports whether numbers of two lists of a process lie in each other's range, which those of lists that
// begin at a checkpoint do not.
func mayRepeat(blocks []shownBlock) bool {
	var ranges []numberRange
	for _, b := range blocks {
		n := len(ranges) - 1
		if n < 0 || ranges[n].list != b.list {
			ranges = append(ranges, numberRange{b.list, b.number, b.number})
			continue
		}
		ranges[n].least, ranges[n].most = min(ranges[n].least, b.number), max(ranges[n].most, b.number)
	}
	sorting.Unstable(ranges, func(a, b numberRange) int { return cmp.Compare(a.least, b.least) })
	most := int64(-1)
	for i, r := range ranges {
		if r.least <= most && r.list != ranges[i-1].list {
			return true
		}
		most = max(most, r.most)
	}
	return false
}

// dropRepeated takes blocks of one process out of the counts that a list before has as well, and returns the others.
func (o *collector) dropRepeated(blocks []shownBlock) []shownBlock {
	sorting.Unstable(blocks, func(a, b shownBlock) int {
		if c := cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.address, b.address)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.list, b.list), cmp.Compare(a.of, b.of))
	})
	kept, first := blocks[:0], shownBlock{}
	for _, b := range blocks {
		switch {
		case !b.isSame(&first):
			first = b
		case b.list != first.list:
			o.crt.counts[b.of]--
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

// beforeTests counts, by place in crtBlocks.blocks, the blocks that were there before the first test of their process
// ran.
func (o *collector) beforeTests() map[int32]int64 {
	type lowest struct {
		number int64
		period period
	}
	tests := map[uint32]lowest{}
	outside := false
	for i := range o.crtShown {
		b := &o.crtShown[i]
		if b.period == outsideOfTests {
			outside = true
		} else if at, ok := tests[b.process]; !ok || b.number < at.number {
			tests[b.process] = lowest{b.number, b.period}
		}
	}
	if !outside || len(tests) == 0 {
		return nil
	}
	early := map[int32]int64{}
	for i := range o.crtShown {
		b := &o.crtShown[i]
		if at := tests[b.process]; b.period == outsideOfTests && at.period == inTest && b.number > 0 && b.number < at.number {
			early[b.of]++
		}
	}
	return early
}
