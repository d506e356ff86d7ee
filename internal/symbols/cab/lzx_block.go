package cab

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

// codeLengths reads code lengths as differences from the previous ones. First comes a tree of 20 codes, with 4 bits for
// the length of each. Codes 0 to 16 are differences, 17 and 18 runs of zeros, 19 a run of one difference.
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
