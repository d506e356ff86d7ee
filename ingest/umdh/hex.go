package umdh

import "math/bits"

// Eight characters are read at once: loaded little-endian, so that the first character is the lowest byte.
const (
	eachByte  = 0x0101010101010101
	eachZero  = eachByte * '0'
	eachHigh  = eachByte * 0x80
	evenPairs = 0x00FF00FF00FF00FF
	evenFours = 0x0000FFFF0000FFFF
)

// hexLength counts the characters from '0' on that x begins with: the length of the number there, since blanks,
// line ends and the punctuation of the format are all below '0'. It is 8 where the number may go on.
func hexLength(x uint64) uint {
	// A byte plus 0x50 has its high bit set from '0' on. What carries out of a byte beyond ASCII only reaches those
	// behind it, and hexNibbles refuses that byte.
	return uint(bits.TrailingZeros64(^(x+eachByte*0x50)&eachHigh)) / 8
}

// hexNibbles reads the n digits that x begins with, 1 to 8 of them, upper-case as raw logs have them: one nibble
// in each byte. bad is 0 if they are digits all. (It and packed are two so that the compiler inlines both.)
func hexNibbles(x uint64, n uint) (v, bad uint64) {
	shift := (8 - n) * 8 & 63
	x = x<<shift | eachZero&(1<<shift-1) // right-aligned behind zeros
	v = x&(eachByte*0x0F) + x>>6&eachByte*9
	back := v + eachZero + (v+eachByte*6)>>4&eachByte*('A'-'9'-1)
	return v, back ^ x | v&(eachByte*0x10) // 'G' comes back as itself, but is 16
}

// packed is the number whose nibbles v has in its bytes.
func packed(v uint64) uint64 {
	v = bits.ReverseBytes64(v)
	v = (v | v>>4) & evenPairs
	v = (v | v>>8) & evenFours
	return (v | v>>16) & 0xFFFFFFFF
}

// hexPair is the value of two upper-case digits, indexed by the characters as loaded little-endian; isPair marks
// those that are digits. Only the cache lines of digits are ever touched.
var hexPair [1 << 16]uint16

func init() { // in place: as a value the table would be copied, and all of it touched
	const upper = "0123456789ABCDEF"
	for i := range upper {
		for k := range upper {
			hexPair[uint16(upper[i])|uint16(upper[k])<<8] = isPair | uint16(i<<4|k)
		}
	}
}

const isPair = 1 << 8

// hexShort is hexNibbles and packed in one for 1 to 4 digits; ok is isPair if they are digits all.
func hexShort(x uint64, n uint) (value uint64, ok uint16) {
	shift := (4 - n) * 8 & 31
	y := uint32(x)<<shift | eachZero&0xFFFFFFFF&(1<<shift-1)
	high, low := hexPair[uint16(y)], hexPair[uint16(y>>16)]
	return uint64(high&0xFF)<<8 | uint64(low&0xFF), high & low
}

// hexDigit is the value of each character, or −1.
var hexDigit = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i := range 10 {
		t['0'+i] = int8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = int8(10+i), int8(10+i)
	}
	return t
}()

// hexPrefix reads the hexadecimal number that s begins with, of either case. It has n digits; ok is false where
// there are none or where they exceed 64 bits.
func hexPrefix[T string | []byte](s T) (value uint64, n int, ok bool) {
	for n < len(s) {
		d := hexDigit[s[n]]
		if d < 0 {
			break
		}
		if value>>60 != 0 {
			return 0, n, false
		}
		value = value<<4 | uint64(d)
		n++
	}
	return value, n, n > 0
}

// hexAll reads s as one hexadecimal number.
func hexAll[T string | []byte](s T) (uint64, bool) {
	v, n, ok := hexPrefix(s)
	return v, ok && n == len(s)
}

// decimalAll reads s as one decimal number of at most 32 bits.
func decimalAll[T string | []byte](s T) (uint32, bool) {
	var v uint64
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		if v = v*10 + uint64(d); v >= 1<<32 {
			return 0, false
		}
	}
	return uint32(v), len(s) > 0
}
