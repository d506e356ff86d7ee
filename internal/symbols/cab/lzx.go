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
// A CFDATA holds one frame: 32 KiB of output, the last one less. Blocks go on over frames, and the bits of a frame
// begin at a word. Trees, the three last offsets and the window outlive blocks and frames.
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

// translated returns a frame of the window. Compressors replace the operand of what looks like CALL (E8) by the
// position in the file that it calls, so that equal targets look equal. They do so in the first translate bytes. This
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
