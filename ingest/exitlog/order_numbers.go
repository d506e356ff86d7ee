package exitlog

import (
	"cmp"
	"slices"
)

// The debug CRT numbers the blocks of a process in the order in which they are allocated. That tells two things:
//
//   - A block with one number, address and size in two lists of a process is one block: a list at the end repeats what the
//     lists of tests have, unless they begin at a checkpoint. It counts in the first.
//   - Where the log names each test, and each has its list from the first on, a block of a list outside of tests that has a lower number than all
//     blocks of tests was there before the first test ran. A static may have allocated it, and may free it after the list.
//     That the same numbers come in several processes does not tell as much: a fixture of all tests allocates as regularly.

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

// countOnce takes blocks out of the counts that a list before has as well. If the same list has it twice, two processes
// ran the test, which the log does not tell apart: both count.
func (o *collector) countOnce() {
	slices.SortStableFunc(o.crtShown, func(a, b shownBlock) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.number, b.number), cmp.Compare(a.address, b.address),
			cmp.Compare(a.size, b.size))
	})
	kept, first := o.crtShown[:0], shownBlock{}
	for _, b := range o.crtShown {
		switch {
		case !b.isSame(&first):
			first = b
		case b.list != first.list:
			o.crt.counts[b.of]--
			continue
		}
		kept = append(kept, b)
	}
	o.crtShown = kept
}

// beforeTests counts, by place in crtBlocks.counts, the blocks that were there before the first test of their process
// ran. The blocks are in the order of their numbers.
func (o *collector) beforeTests() map[int32]int64 {
	early := map[int32]int64{}
	for rest := o.crtShown; len(rest) > 0; {
		var of []shownBlock
		of, rest = cutProcess(rest, rest[0].process)
		first := slices.IndexFunc(of, func(b shownBlock) bool { return b.period != outsideOfTests })
		if first < 0 || of[first].period != inTest {
			continue
		}
		for _, b := range of[:first] {
			if b.number > 0 && b.number < of[first].number {
				early[b.of]++
			}
		}
	}
	return early
}
