package ntheap

import "encoding/binary"

// The marks that page heap puts around what stands before a block, _DPH_BLOCK_INFORMATION: at its start and at its end,
// for blocks on pages of their own (full) and for those in an ordinary heap (light).
const (
	stampFullStart  = 0xABCDBBBB
	stampFullEnd    = 0xDCBABBBB
	stampLightStart = 0xABCDAAAA
	stampLightEnd   = 0xDCBAAAAA
	stampLightFree  = 0xABCDAAA9
)

// A stampInfo is a _DPH_BLOCK_INFORMATION.
type stampInfo struct {
	start, end        uint32
	requested, actual uint64
	trace             uint64
}

// readStampAt reads the mark at an address.
func (t *ntLayout) readStampAt(w *window, at uint64) (s stampInfo, ok bool) {
	b := w.bytes(at, int(t.stampSize))
	if b == nil || t.stampSize == 0 {
		return s, false
	}
	number := func(offset uint64) uint64 {
		if w.wide {
			return binary.LittleEndian.Uint64(b[offset:])
		}
		return uint64(binary.LittleEndian.Uint32(b[offset:]))
	}
	return stampInfo{
		binary.LittleEndian.Uint32(b[t.stampStart:]), binary.LittleEndian.Uint32(b[t.stampEnd:]),
		number(t.stampRequest), number(t.stampActual), number(t.stampTrace),
	}, true
}

// stamp corrects a block that light page heap has marked: its data begin behind the mark, which knows what was asked
// for. It reports false for one that the program has freed and page heap still keeps.
func (n *ntWalk) stamp(w *window, b *Block) bool {
	s, ok := n.layout.readStampAt(w, b.Address)
	total := b.Size + b.Overhead
	switch {
	case !ok:
	case s.start == stampLightFree:
		n.free(total)
		return false
	case s.start == stampLightStart && s.end == stampLightEnd && s.requested <= total:
		b.Address += n.layout.stampSize
		b.Size, b.Overhead = s.requested, total-s.requested
		b.Trace = n.heaps.stacks.known(s.trace)
	}
	return true
}
