package dump

import (
	"cmp"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/sorting"
)

// A loss is how many bytes of blocks that nothing points to lie in a span of whole pieces of lossBytes: in one of them,
// or in many that one block fills.
type loss struct {
	span
	bytes uint64
}

// lossBytes is how finely the map tells blocks without a pointer from others: the granularity of reservations.
const lossBytes = 64 << 10

// losses are where blocks are that nothing points to, by address; nil where nobody looked.
func (b *builder) losses() (list []loss) {
	if b.reach == nil {
		return nil
	}
	for ordinal, block := range b.blocks.all() {
		if !b.reach.isMarked(ordinal) {
			list = addLosses(list, span{block.address, block.size})
		}
	}
	sorting.Stable(list, func(a, b loss) int { return cmp.Compare(a.address, b.address) })
	return joinLosses(list)
}

// addLosses adds the bytes of one block: its first piece, those that it fills, and its last piece.
func addLosses(list []loss, block span) []loss {
	block.size = min(block.size, ^uint64(0)-lossBytes-min(block.address, ^uint64(0)-lossBytes)) // a damaged heap may claim anything
	for block.size > 0 {
		l := loss{span: span{block.address &^ (lossBytes - 1), lossBytes}}
		if whole := block.size &^ (lossBytes - 1); l.address == block.address && whole > 0 {
			l.size = whole
		}
		l.bytes = min(l.end(), block.end()) - block.address
		if n := len(list); n > 0 && list[n-1].span == l.span {
			list[n-1].bytes += l.bytes
		} else {
			list = append(list, l)
		}
		block = span{block.address + l.bytes, block.size - l.bytes}
	}
	return list
}

// joinLosses joins those of one piece: large blocks are listed behind all others.
func joinLosses(list []loss) []loss {
	joined := list[:0]
	for _, l := range list {
		if n := len(joined); n > 0 && joined[n-1].span == l.span {
			joined[n-1].bytes += l.bytes
			continue
		}
		joined = append(joined, l)
	}
	return joined
}

// stretches adds the piece as the map of the address space has it: of heaps, the parts that are mostly blocks without a
// pointer are told apart.
func (at *piece) stretches(list []capture.AddressRange, losses []loss) []capture.AddressRange {
	s := capture.AddressRange{Address: capture.Address(at.address), Size: int64(at.size), Use: at.use}
	if at.state == minidump.MemCommit {
		s.Committed = s.Size
	}
	if at.use != capture.UseHeap && at.use != capture.UsePageHeap || s.Committed == 0 {
		return append(list, s)
	}
	from := at.address
	add := func(to uint64, use capture.UseName) {
		if to > from {
			list = append(list, capture.AddressRange{Address: capture.Address(from), Size: int64(to - from), Use: use,
				Committed: int64(to - from)})
			from = to
		}
	}
	i, _ := slices.BinarySearchFunc(losses, at.address, func(l loss, a uint64) int { return cmp.Compare(l.end()-1, a) })
	for ; i < len(losses) && losses[i].address < at.end(); i++ {
		l := &losses[i]
		begin, end := max(l.address, at.address), min(l.end(), at.end())
		if l.bytes <= (end-begin)/2 {
			continue
		}
		add(begin, at.use)
		add(end, capture.UseUnreached)
	}
	add(at.end(), at.use)
	return list
}
