package allocations

import "encoding/binary"

// unpackHybrid fills dst from src: runs of one value and bit-packed groups of eight, of width bits up to 32 (Parquet's
// RLE/bit-packing hybrid). It says whether there was just enough.
func unpackHybrid(dst []uint32, src []byte, width int) bool {
	if width < 0 || width > 32 {
		return false
	}
	for len(dst) > 0 {
		head, n := binary.Uvarint(src)
		if n <= 0 || head>>1 == 0 {
			return false
		}
		src = src[n:]
		if head&1 == 0 {
			size := (width + 7) / 8
			if len(src) < size {
				return false
			}
			var value uint32
			for i := range size {
				value |= uint32(src[i]) << (8 * i)
			}
			src = src[size:]
			run := dst[:min(head>>1, uint64(len(dst)))]
			for i := range run {
				run[i] = value
			}
			dst = dst[len(run):]
			continue
		}
		// The last group is whole even where values end in it.
		groups := head >> 1
		if groups > uint64(len(dst)+7)/8 {
			return false
		}
		size := int(groups) * width
		if len(src) < size {
			return false
		}
		count := min(int(groups)*8, len(dst))
		unpackBits(dst[:count], src, width)
		src, dst = src[size:], dst[count:]
	}
	return len(src) == 0
}

// unpackBits unpacks values of up to 32 bits; src has at least the bytes of dst's values, rounded up to groups of
// eight.
func unpackBits(dst []uint32, src []byte, width int) {
	mask := uint64(1)<<width - 1
	safe := 0 // values that an 8-byte read at their first byte cannot take beyond src
	if len(src) >= 8 && width > 0 {
		safe = min(len(dst), (len(src)-8)*8/width)
	}
	bit := 0
	for i := range dst[:safe] {
		dst[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	for i := safe; i < len(dst); i++ {
		var word [8]byte
		copy(word[:], src[min(bit>>3, len(src)):])
		dst[i] = uint32(binary.LittleEndian.Uint64(word[:]) >> (bit & 7) & mask)
		bit += width
	}
}

// The largest block and mini-block of differences that is read; writers use 128 and 32.
const (
	deltaBlock = 1 << 12
	deltaMini  = 1 << 8
)

// unpackDelta fills dst from src: DELTA_BINARY_PACKED. It says whether there was just enough.
func unpackDelta(dst []int64, src []byte) bool {
	c := &thriftCursor{b: src} // its integers are written the same way
	block, minis, total, value := c.uvarint(), c.uvarint(), c.uvarint(), c.integer()
	if c.bad || total != uint64(len(dst)) || block == 0 || block > deltaBlock || minis == 0 || block%minis != 0 {
		return false
	}
	mini := int(block / minis)
	if mini > deltaMini || mini%8 != 0 {
		return false
	}
	if len(dst) == 0 {
		return c.at == len(src)
	}
	dst[0] = value
	dst = dst[1:]
	for len(dst) > 0 {
		least := c.integer()
		if c.bad || uint64(len(src)-c.at) < minis {
			return false
		}
		widths := src[c.at : c.at+int(minis)]
		c.at += int(minis)
		for _, width := range widths {
			if len(dst) == 0 {
				break
			}
			size := int(width) * mini / 8
			if width > 64 || len(src)-c.at < size {
				return false
			}
			n := min(mini, len(dst))
			value = addDeltas(dst[:n], src[c.at:], int(width), least, value)
			c.at += size
			dst = dst[n:]
		}
	}
	return c.at == len(src)
}

// addDeltas fills dst with value and the sums of the differences after it. src has at least width × len(dst) bits.
func addDeltas(dst []int64, src []byte, width int, least, value int64) int64 {
	if width == 0 {
		for i := range dst {
			value += least
			dst[i] = value
		}
		return value
	}
	if len(src) < (len(dst)*width+7)/8+8 { // the last of them, which is padded for reads of eight bytes
		var padded [deltaMini*8 + 8]byte
		copy(padded[:], src)
		src = padded[:]
	}
	bit := 0
	if width <= 56 {
		mask := uint64(1)<<width - 1
		for i := range dst {
			value += least + int64(binary.LittleEndian.Uint64(src[bit>>3:])>>(bit&7)&mask)
			dst[i] = value
			bit += width
		}
		return value
	}
	mask := ^uint64(0) >> (64 - width)
	for i := range dst {
		low := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7)
		high := uint64(src[bit>>3+8]) << (64 - bit&7) // nothing, as it should be, where a byte begins
		value += least + int64((low|high)&mask)
		dst[i] = value
		bit += width
	}
	return value
}
