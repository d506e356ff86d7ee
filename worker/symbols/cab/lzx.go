package cab

import "errors"

// LZX as cabinets have it ([MS-PATCH] 2 describes it with the extensions of LZX DELTA, which cabinets do not use):
//
//	stream  1 bit: calls are translated; then, if so, 32 bits: the size that takes part in it. Blocks follow.
//	block   3 bits: type; 24 bits: bytes that it unpacks to; then
//	  1 verbatim      code lengths of the main tree (256 literals, then 8 matches for each position slot) and of the
//	                  length tree, as differences from those of the block before; symbols
//	  2 aligned       8 code lengths of 3 bits for the lowest bits of offsets; then as verbatim
//	  3 uncompressed  1 to 16 bits up to a word; R0, R1, R2 of 32 bits; bytes; one more where their number is odd
//
// A CFDATA holds one frame: 32 KiB of output, the last one less. Blocks go on over frames, and the bits of a frame begin
// at a word. Trees, the three last offsets and the window outlive blocks and frames.
const (
	lzxVerbatim     = 1
	lzxAligned      = 2
	lzxUncompressed = 3

	lzxLiterals    = 256
	lzxLengths     = 249
	lzxMatchMin    = 2
	lzxLengthMask  = 7       // a main symbol's length header; 7: the length tree has more
	lzxFramesMax   = 1 << 15 // translation ends after 1 GiB
	lzxTranslation = 10      // bytes at a frame's end that are not translated
)

// An lzx unpacks LZX.
type lzx struct {
	window []byte // a ring
	slots  int
	at     int // in the window
	filled int // bytes of the window that have been written

	in      bitReader
	started bool
	pad     bool // a byte after an uncompressed block of odd size is still to come

	kind      int
	remaining int // bytes of the block that have not been unpacked
	recent    [3]uint32
	mainTree  huffman
	lengths   huffman
	aligned   huffman
	pretree   huffman
	mainLen   [lzxLiterals + 8*50]uint8
	lengthLen [lzxLengths]uint8

	over      int // bytes that a match has written beyond its frame
	frame     int
	translate int32 // size that takes part in the translation of calls; 0: none
	out       [blockMax]byte
}

var (
	errLZXEnd    = errors.New("an LZX block ends before what it describes")
	errLZXTree   = errors.New("the code lengths of an LZX tree do not make a tree")
	errLZXBlock  = errors.New("an LZX block has a type that does not exist")
	errLZXSize   = errors.New("an LZX block has no bytes")
	errLZXOffset = errors.New("an LZX match refers to what comes before the stream")
)

// lzxSlots is the number of position slots for windows of 2^15 to 2^21.
var lzxSlots = [...]int{30, 32, 34, 36, 38, 42, 50}

// lzxBase and lzxExtra are the first offset and the bits of each position slot.
var lzxBase, lzxExtra = func() (base [50]uint32, extra [50]uint8) {
	for slot := 1; slot < len(base); slot++ {
		extra[slot] = uint8(min(17, max(0, slot/2-1)))
		base[slot] = base[slot-1] + 1<<extra[slot-1]
	}
	return base, extra
}()

func newLZX(bits int) *lzx {
	// A match may reach into the next frame: there is room for two frames, so that it never overwrites its own.
	window := make([]byte, max(1<<bits, 2*blockMax))
	return &lzx{window: window, slots: lzxSlots[bits-15], recent: [3]uint32{1, 1, 1}}
}

// unpack unpacks a frame.
func (z *lzx) unpack(data []byte, size int) ([]byte, error) {
	z.in = bitReader{data: data}
	start := z.at - z.over
	need := size - z.over
	z.over = 0
	if !z.started {
		z.header()
	}
	for need > 0 {
		if z.remaining == 0 {
			if err := z.block(); err != nil {
				return nil, err
			}
		}
		n := min(need, z.remaining)
		done := n
		var err error
		if z.kind == lzxUncompressed {
			err = z.raw(n)
		} else {
			done, err = z.symbols(n)
		}
		switch {
		case err != nil:
			return nil, err
		case z.in.short:
			return nil, errLZXEnd
		case done > z.remaining:
			return nil, errors.New("an LZX match runs past the end of its block")
		}
		z.remaining -= done
		need -= done
		if z.remaining == 0 && z.kind == lzxUncompressed && z.pad && z.in.rest() > 0 {
			z.in.skip(1)
			z.pad = false
		}
	}
	z.over = -need
	return z.translated(start, size), nil
}

// header reads what comes before the first block.
func (z *lzx) header() {
	z.started = true
	if z.in.bits(1) == 1 {
		high := z.in.bits(16)
		z.translate = int32(high<<16 | z.in.bits(16))
	}
}

// block reads a block's header.
func (z *lzx) block() error {
	if z.pad {
		z.in.skip(1)
		z.pad = false
	}
	z.kind = int(z.in.bits(3))
	high := z.in.bits(16)
	z.remaining = int(high<<8 | z.in.bits(8))
	switch {
	case z.in.short:
		return errLZXEnd
	case z.remaining == 0:
		return errLZXSize
	}
	switch z.kind {
	case lzxUncompressed:
		z.in.toBytes()
		for i := range z.recent {
			z.recent[i] = z.in.u32()
		}
		z.pad = z.remaining%2 == 1
		return nil
	case lzxAligned:
		var lengths [8]uint8
		for i := range lengths {
			lengths[i] = uint8(z.in.bits(3))
		}
		if !z.aligned.build(lengths[:], 7) {
			return errLZXTree
		}
	case lzxVerbatim:
	default:
		return errLZXBlock
	}
	used := lzxLiterals + 8*z.slots
	for _, part := range [][]uint8{z.mainLen[:lzxLiterals], z.mainLen[lzxLiterals:used], z.lengthLen[:]} {
		if err := z.codeLengths(part); err != nil {
			return err
		}
	}
	if !z.mainTree.build(z.mainLen[:used], 11) || !z.lengths.build(z.lengthLen[:], 10) {
		return errLZXTree
	}
	return nil
}

// codeLengths reads code lengths as differences from the ones that are there: a tree of 20 codes with 4 bits of length
// each; code 0 to 16 is the difference, 17 and 18 are runs of zeros, 19 is a run of one difference.
func (z *lzx) codeLengths(lengths []uint8) error {
	var pre [20]uint8
	for i := range pre {
		pre[i] = uint8(z.in.bits(4))
	}
	if !z.pretree.build(pre[:], 6) {
		return errLZXTree
	}
	for i := 0; i < len(lengths); {
		code, run := z.pretree.next(&z.in), 1
		var length uint8
		switch code {
		case 17:
			run = 4 + int(z.in.bits(4))
		case 18:
			run = 20 + int(z.in.bits(5))
		case 19:
			run = 4 + int(z.in.bits(1))
			code = z.pretree.next(&z.in)
			if code > 16 {
				return errLZXTree
			}
			fallthrough
		default:
			if code < 0 {
				return errLZXTree
			}
			length = uint8((int(lengths[i]) + 17 - code) % 17)
		}
		if z.in.short {
			return errLZXEnd
		}
		if run > len(lengths)-i {
			return errLZXTree
		}
		for ; run > 0; run-- {
			lengths[i] = length
			i++
		}
	}
	return nil
}

// raw copies n bytes of an uncompressed block.
func (z *lzx) raw(n int) error {
	b := z.in.bytes(n)
	if b == nil {
		return errLZXEnd
	}
	for _, c := range b {
		z.window[z.at] = c
		z.at = (z.at + 1) & (len(z.window) - 1)
	}
	z.filled = min(z.filled+n, len(z.window))
	return nil
}

// symbols unpacks at least n bytes and returns how many: the last match may reach into the next frame.
func (z *lzx) symbols(n int) (int, error) {
	done := 0
	mask := len(z.window) - 1
	for done < n {
		symbol := z.mainTree.next(&z.in)
		switch {
		case z.in.short:
			return 0, errLZXEnd
		case symbol < 0:
			return 0, errLZXTree
		case symbol < lzxLiterals:
			z.window[z.at] = byte(symbol)
			z.at = (z.at + 1) & mask
			z.filled = min(z.filled+1, len(z.window))
			done++
			continue
		}
		symbol -= lzxLiterals
		length := symbol & lzxLengthMask
		if length == lzxLengthMask {
			more := z.lengths.next(&z.in)
			if more < 0 {
				return 0, errLZXTree
			}
			length += more
		}
		length += lzxMatchMin
		offset, err := z.offset(symbol >> 3)
		switch {
		case err != nil:
			return 0, err
		case offset == 0 || offset > uint32(z.filled):
			return 0, errLZXOffset
		}
		from := (z.at - int(offset)) & mask
		if from+length <= len(z.window) && z.at+length <= len(z.window) && int(offset) >= length {
			copy(z.window[z.at:z.at+length], z.window[from:from+length])
			z.at = (z.at + length) & mask
		} else {
			for range length {
				z.window[z.at] = z.window[from]
				z.at, from = (z.at+1)&mask, (from+1)&mask
			}
		}
		z.filled = min(z.filled+length, len(z.window))
		done += length
	}
	return done, nil
}

// offset reads the offset that belongs to a position slot: 0 to 2 are the last three, others have extra bits.
func (z *lzx) offset(slot int) (uint32, error) {
	r := &z.recent
	switch slot {
	case 0:
	case 1, 2:
		r[0], r[slot] = r[slot], r[0]
	default:
		extra := lzxExtra[slot]
		offset := lzxBase[slot] - 2
		if z.kind == lzxAligned && extra >= 3 {
			offset += z.in.bits(extra-3) << 3
			low := z.aligned.next(&z.in)
			if low < 0 {
				return 0, errLZXTree
			}
			offset += uint32(low)
		} else {
			offset += z.in.bits(extra)
		}
		r[0], r[1], r[2] = offset, r[0], r[1]
	}
	return r[0], nil
}

// translated returns a frame of the window. Compressors of programs have replaced the operands of what looks like CALL
// (E8) by where it goes to in the file, if that is in the first translate bytes, so that equal targets look equal; this
// is undone in the copy only.
func (z *lzx) translated(start, size int) []byte {
	mask := len(z.window) - 1
	out := z.out[:size]
	start &= mask
	n := copy(out, z.window[start:])
	copy(out[n:], z.window)
	if z.frame == lzxFramesMax {
		return out
	}
	position := int32(z.frame) * blockMax
	z.frame++
	if z.translate <= 0 || size <= lzxTranslation {
		return out
	}
	for i := 0; i < size-lzxTranslation; i++ {
		if out[i] != 0xE8 {
			continue
		}
		at := position + int32(i)
		switch to := int32(le.Uint32(out[i+1:])); {
		case to >= 0 && to < z.translate:
			le.PutUint32(out[i+1:], uint32(to-at))
		case to < 0 && to >= -at:
			le.PutUint32(out[i+1:], uint32(to+z.translate))
		}
		i += 4
	}
	return out
}
