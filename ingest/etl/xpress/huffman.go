package xpress

import "encoding/binary"

// Sizes of the LZ77+Huffman codec, [MS-XCA] 2.2.
const (
	symbols   = 512     // 0–255 literals; 256–511 matches: low half byte length − 3, high half byte bits of the distance
	tableSize = 256     // bytes in front of each block: lengths of the symbols' codes, half a byte each, the low half first
	block     = 1 << 16 // bytes of output that a table serves; a match may reach over its end
	codeBits  = 15      // of the longest code
)

// DecodeHuffman fills dst from an LZ77+Huffman stream and returns what Decode returns for a plain one. No trace with
// this codec has been seen; the decoder follows the document and its example.
func DecodeHuffman(dst, src []byte) (int, error) {
	h := huffman{dst: dst, src: src}
	for h.d < len(dst) {
		at := h.s
		code := h.table()
		for end := h.d + block; code == "" && h.d < len(dst) && h.d < end; {
			at = h.s
			code = h.item()
		}
		if code != "" {
			return h.d, failure(code, at, h.d)
		}
	}
	return len(dst), nil
}

// huffman is the position of a decoder. Codes are read from little-endian words of 16 bits, the highest bit first.
// Bytes of long lengths lie between the words: after the last word that was read.
type huffman struct {
	dst, src []byte
	d, s     int
	bits     uint32 // to come, the next one in bit 31
	extra    int    // valid bits beyond the 16 that are always there
	past     int    // words taken from behind the input's end, as zeros
	lengths  [symbols]uint8
	symbol   [1 << codeBits]uint16 // by the next bits
}

// table reads a block's code lengths and its first bits. The codes must fill the space of codes exactly.
func (h *huffman) table() string {
	if len(h.src)-h.s < tableSize {
		return CodeTruncated
	}
	for i, b := range h.src[h.s : h.s+tableSize] {
		h.lengths[2*i], h.lengths[2*i+1] = b&15, b>>4
	}
	filled := 0
	for length := 1; length <= codeBits; length++ {
		for symbol, l := range h.lengths {
			if int(l) != length {
				continue
			}
			run := 1 << (codeBits - length)
			if run > len(h.symbol)-filled {
				return CodeBadTable
			}
			for i := range h.symbol[filled : filled+run] {
				h.symbol[filled+i] = uint16(symbol)
			}
			filled += run
		}
	}
	if filled < len(h.symbol) {
		return CodeBadTable
	}
	h.s += tableSize
	h.past = 0
	h.bits = h.word() << 16
	h.bits |= h.word()
	h.extra = 16
	return ""
}

// word is the next 16 bits of input. Behind the end they are zeros: the decoder reads ahead, and only bits that are
// used must be there.
func (h *huffman) word() uint32 {
	if len(h.src)-h.s < 2 {
		h.past++
		return 0
	}
	v := binary.LittleEndian.Uint16(h.src[h.s:])
	h.s += 2
	return uint32(v)
}

// skip uses up n bits, at most 15; it reports whether they were there.
func (h *huffman) skip(n int) bool {
	h.bits <<= n
	h.extra -= n
	if h.extra < 0 {
		h.bits |= h.word() << -h.extra
		h.extra += 16
	}
	return 16+h.extra >= 16*h.past
}

// item decodes a literal or a match; it returns what is wrong with it, or "".
func (h *huffman) item() string {
	symbol := int(h.symbol[h.bits>>(32-codeBits)])
	if !h.skip(int(h.lengths[symbol])) {
		return CodeTruncated
	}
	if symbol < 256 {
		h.dst[h.d] = byte(symbol)
		h.d++
		return ""
	}
	length, distanceBits := symbol&15, symbol>>4&15
	if length == 15 {
		var code string
		if length, code = h.long(); code != "" {
			return code
		}
	}
	length += 3
	distance := 1<<distanceBits + int(uint64(h.bits)>>(32-distanceBits))
	if !h.skip(distanceBits) {
		return CodeTruncated
	}
	if distance > h.d {
		return CodeBadDistance
	}
	if length > len(h.dst)-h.d {
		return CodeBadLength
	}
	repeat(h.dst[h.d-distance:h.d+length], distance)
	h.d += length
	return ""
}

// long decodes a length that does not fit its symbol, and returns length − 3.
func (h *huffman) long() (int, string) {
	if h.past > 0 { // the words that were read ahead come before these bytes
		return 0, CodeTruncated
	}
	length, next, code := longer(h.src, h.s, 15)
	h.s = next
	return length, code
}
