package pdb

// Operations of the binary annotations of inline sites (cvinfo.h, BinaryAnnotationOpcode).
const (
	opCodeOffset             = 1
	opChangeCodeOffsetBase   = 2
	opChangeCodeOffset       = 3
	opChangeCodeLength       = 4
	opChangeFile             = 5
	opChangeLineOffset       = 6
	opCodeAndLineOffset      = 11
	opCodeLengthAndOffset    = 12
	opChangeColumnEnd        = 13
	annotationLineEnd        = 7
	annotationRangeKind      = 8
	annotationColumnStart    = 9
	annotationColumnEndDelta = 10
)

// An annotations reads compressed numbers: 7 bits, 14 after the bits 10, 29 after 110, the higher bytes first. Signed
// ones have their sign in the lowest bit.
type annotations struct {
	b  []byte
	ok bool
}

func (a *annotations) number() uint32 {
	b := a.b
	switch {
	case len(b) >= 1 && b[0]&0x80 == 0:
		a.b = b[1:]
		return uint32(b[0])
	case len(b) >= 2 && b[0]&0xC0 == 0x80:
		a.b = b[2:]
		return uint32(b[0]&0x3F)<<8 | uint32(b[1])
	case len(b) >= 4 && b[0]&0xE0 == 0xC0:
		a.b = b[4:]
		return uint32(b[0]&0x1F)<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	a.ok, a.b = false, nil
	return 0
}

func signed(v uint32) uint32 {
	if v&1 != 0 {
		return -(v >> 1)
	}
	return v >> 1
}

// An inlineRange is a range of code of an inlined call and the line it is from.
type inlineRange struct {
	start, end uint32 // in the source space
	file       uint32 // offset in the checksums
	line       uint32
}

// appendRanges decodes an inline site's annotations. The ranges count from the start of the procedure and keep inside
// it.
//
// An offset begins a range and ends the one before. A length (4) ends the range too, and the next offset counts from
// its end; the length that comes together with an offset (12) does not move anything. Readers that treat both alike put
// ranges outside the function.
func appendRanges(to []inlineRange, encoded []byte, p *proc, from inlinee) []inlineRange {
	a := annotations{encoded, true}
	at, file, line := uint32(0), from.file, from.line
	open, elsewhere := false, false
	closeAt := func(end uint32) {
		if !open {
			return
		}
		open = false
		r := &to[len(to)-1]
		r.end = min(p.start+min(end, 1<<31), p.end)
		if r.end <= r.start {
			to = to[:len(to)-1]
		}
	}
	begin := func() {
		closeAt(at)
		if start := p.start + at; at < p.end-p.start && !elsewhere {
			to = append(to, inlineRange{start, start, file, line})
			open = true
		}
	}
	for len(a.b) > 0 {
		op := a.number()
		if op == 0 { // what fills up to a multiple of 4
			break
		}
		v := a.number()
		switch op {
		case opCodeOffset:
			at = v
			begin()
		case opChangeCodeOffsetBase: // the number of a block that was separated from the procedure; 0 is the procedure
			closeAt(at)
			at, elsewhere = 0, v != 0
		case opChangeCodeOffset:
			at += v
			begin()
		case opChangeCodeLength:
			closeAt(at + v)
			at += v
		case opChangeFile:
			file = v
		case opChangeLineOffset:
			line += signed(v)
		case opCodeAndLineOffset:
			at += v & 15
			line += signed(v >> 4)
			begin()
		case opCodeLengthAndOffset:
			at += a.number()
			begin()
			closeAt(at + v)
		case annotationLineEnd, annotationRangeKind, annotationColumnStart, annotationColumnEndDelta, opChangeColumnEnd:
		default:
			a.ok = false
		}
		if !a.ok {
			break
		}
	}
	closeAt(p.end - p.start)
	return to
}
