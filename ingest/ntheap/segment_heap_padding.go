package ntheap

// Blocks of segment heaps of 15063 to 19045 begin with bytes of the heap's own in ordinary programs, and not in those
// of Windows (svchost, csrss, services and others). What the program has lies behind.
//
//	_RTLP_HP_PADDING_HEADER   PaddingSize, a pointer: a granule, or four of them for large blocks, the first and the last of which have it.
//	                          15063 and 16299 leave it out
const (
	firstPaddedBuild  = 10586
	firstCountedBuild = 17134 // PaddingSize is there
	lastPaddedBuild   = 19045
)

// The largest blocks with one granule of padding, with it: what more was asked for has four. With 32 bits the border is
// not known to the byte, between blocks of 0x7EFF0 and 0x7F000 bytes.
const (
	mostPadded32 = 0x7EFF0 + 8
	mostPadded64 = 0xFEFF8 + 16
)

// heldBlocks is how many blocks of a heap are looked at before it is said whether they begin with padding.
const heldBlocks = 256

// padding is whether the blocks of a heap begin with bytes of the heap's own. The first blocks are held until it is
// known.
type padding struct {
	settled, is bool
	held        []Block
}

// hand hands out a block as the heap has it.
func (s *segmentWalk) hand(b Block) error {
	p := &s.padding
	if !p.settled {
		if p.held = append(p.held, b); len(p.held) < heldBlocks {
			return nil
		}
		return s.settle()
	}
	if p.is {
		s.strip(&b)
	}
	return s.busy(b)
}

// settle says whether the blocks held begin with padding, and hands them out.
func (s *segmentWalk) settle() error {
	p := &s.padding
	if p.settled {
		return nil
	}
	p.settled = true
	build := s.keys.build
	switch {
	case build < firstPaddedBuild || build > lastPaddedBuild:
	case build < firstCountedBuild: // blocks that are less than padding have none
		p.is = true
		for i := range p.held {
			p.is = p.is && p.held[i].Size >= s.layout.granule
		}
		if p.is {
			s.notes = append(s.notes,
				"blocks begin with padding that has no mark; a program of Windows has none, and its sizes are too small by that")
		}
	default:
		counted, read := 0, 0
		for i := range p.held {
			size, ok := s.paddingOf(&p.held[i])
			if ok {
				read++
			}
			if size > 0 {
				counted++
			}
		}
		p.is = 2*counted > read
	}
	held := p.held
	p.held = nil
	for i := range held {
		if p.is {
			s.strip(&held[i])
		}
		if err := s.busy(held[i]); err != nil {
			return err
		}
	}
	return nil
}

// paddingOf is what a block says of its own padding, 0 where that is none; ok is false where it cannot be read.
func (s *segmentWalk) paddingOf(b *Block) (size uint64, ok bool) {
	size, ok = s.near.pointer(b.Address)
	if g := s.layout.granule; !ok || size != g && size != 4*g || size > b.Size {
		return 0, ok
	}
	return size, true
}

// paddingBySize is the padding that a block must have where it does not say so itself.
func (s *segmentWalk) paddingBySize(b *Block) uint64 {
	g, most := s.layout.granule, uint64(mostPadded32)
	if s.layout.wide {
		most = mostPadded64
	}
	if s.keys.build >= firstCountedBuild && b.Size > most {
		g *= 4
	}
	return min(g, b.Size)
}

// strip takes the padding off a block.
func (s *segmentWalk) strip(b *Block) {
	counted := s.keys.build >= firstCountedBuild
	size := s.paddingBySize(b)
	if counted {
		switch said, ok := s.paddingOf(b); {
		case !ok:
			s.unread.add(b.Address)
		case said == 0: // the program wrote before its block
			s.odd.add(b.Address)
		default:
			size = said
		}
	}
	if counted || b.Area != Large { // large blocks have it at their end, then
		b.Address += size
	}
	b.Size, b.Overhead = b.Size-size, b.Overhead+size
}
