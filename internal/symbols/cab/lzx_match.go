package cab

// lzxBase and lzxExtra are the first offset and the bits of each position slot.
var lzxBase, lzxExtra = func() (base [50]uint32, extra [50]uint8) {
	for slot := 1; slot < len(base); slot++ {
		extra[slot] = uint8(min(17, max(0, slot/2-1)))
		base[slot] = base[slot-1] + 1<<extra[slot-1]
	}
	return base, extra
}()

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
