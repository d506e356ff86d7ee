package xpress

import (
	"encoding/binary"
	"math/bits"
)

// The bytes that must be left of input and output for the fast loop to read and write whole words unchecked. Enough are
// flags, 32 literals and the longest item of the input (10 bytes: match, half byte, byte, word and dword).
const (
	roomIn  = 48
	roomOut = 48
)

// stretch decodes as far as there is room and nothing is wrong. It stops in front of the first item it does not like,
// which the checked loop then decodes or refuses.
func (p *plainDecoder) stretch() {
	dst, src := p.dst, p.src
	d, s, flags, items := p.d, p.s, p.flags, p.items
	for len(dst)-d >= roomOut && len(src)-s >= roomIn {
		if items == 0 {
			flags, items = binary.LittleEndian.Uint32(src[s:]), 32
			s += 4
		}
		// Literals come in runs: copy the longest one the flags promise in whole words, and count what was meant.
		if run := min(bits.LeadingZeros32(flags), items); run > 0 {
			from, to := src[s:s+32], dst[d:d+32]
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
			if run > 8 {
				copy(to[8:], from[8:])
			}
			d, s = d+run, s+run
			flags, items = flags<<run, items-run
			continue
		}
		m := int(binary.LittleEndian.Uint16(src[s:]))
		distance, length := m>>3+1, m&7+3
		if distance > d {
			break
		}
		if length < 10 {
			s += 2
			from, to := dst[d-distance:], dst[d:d+16]
			if distance >= 8 {
				binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(from))
				to[8] = from[8]
			} else {
				for i := range length {
					to[i] = from[i]
				}
			}
			d += length
			flags, items = flags<<1, items-1
			continue
		}
		p.s = s + 2
		half := p.half
		length, code := p.long()
		length += 3
		if code != "" || length > len(dst)-d-16 {
			p.half = half
			break
		}
		s = p.s
		if distance >= 8 {
			for n := 0; n < length; n += 8 {
				binary.LittleEndian.PutUint64(dst[d+n:], binary.LittleEndian.Uint64(dst[d-distance+n:]))
			}
		} else {
			repeat(dst[d-distance:d+length], distance)
		}
		d += length
		flags, items = flags<<1, items-1
	}
	p.d, p.s, p.flags, p.items = d, s, flags, items
}
