package cab

// A huffman decodes canonical codes of up to 16 bits: those of up to table bits by one look, longer ones by comparing
// with the last code of each length.
type huffman struct {
	bits    uint8
	table   []uint16 // by the next bits: symbol<<5 | length; 0 for longer or unknown codes
	limit   [18]uint32
	first   [18]int32 // place in sorted of code 0 of the length
	sorted  []uint16  // symbols by code
	longest uint8
}

const huffmanMax = 16

// build makes the decoder from code lengths, 0 for symbols that do not occur; bits is how much the table looks at. It
// is false where the lengths need more codes than there are. Fewer are accepted: trees of one symbol exist, and an
// unknown code is an error when it occurs.
func (h *huffman) build(lengths []uint8, bits uint8) bool {
	var count [huffmanMax + 2]uint32
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	h.bits, h.longest = bits, 0
	h.sorted = append(h.sorted[:0], make([]uint16, len(lengths))...)
	var at [huffmanMax + 2]uint32 // of the next symbol of each length in sorted
	var code, place uint32
	for n := uint8(1); n <= huffmanMax; n++ {
		h.first[n] = int32(place) - int32(code)
		at[n] = place
		code += count[n]
		place += count[n]
		h.limit[n] = code << (huffmanMax - n)
		if code > 1<<n {
			return false
		}
		if count[n] > 0 {
			h.longest = n
		}
		code <<= 1
	}
	for symbol, n := range lengths {
		if n > 0 {
			h.sorted[at[n]] = uint16(symbol)
			at[n]++
		}
	}
	if cap(h.table) < 1<<bits {
		h.table = make([]uint16, 1<<bits)
	}
	h.table = h.table[:1<<bits]
	clear(h.table)
	next := 0
	for place, n := uint32(0), uint8(1); n <= bits; n++ {
		for range count[n] {
			entry := h.sorted[place]<<5 | uint16(n)
			place++
			for range 1 << (bits - n) {
				h.table[next] = entry
				next++
			}
		}
	}
	return true
}

// next decodes a symbol; -1 for a code that no symbol has.
func (h *huffman) next(r *bitReader) int {
	if r.count < 32 {
		r.fill()
	}
	if e := h.table[r.hold>>(64-h.bits)]; e != 0 {
		r.drop(int(e & 31))
		return int(e >> 5)
	}
	code := uint32(r.hold >> (64 - huffmanMax))
	for n := h.bits + 1; n <= h.longest; n++ {
		if code < h.limit[n] {
			r.drop(int(n))
			return int(h.sorted[h.first[n]+int32(code>>(huffmanMax-n))])
		}
	}
	return -1
}
