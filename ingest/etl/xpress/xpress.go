// Package xpress decodes the two XPRESS codecs that Windows trace files compress their buffers with. The first buffer
// of the file names the codec: format 3 is plain LZ77, format 4 is LZ77 with Huffman codes.
//
// Source: [MS-XCA], the plain LZ77 decompression of section 2.4 and the LZ77+Huffman decompression of section 2.2.
//
//	plain LZ77, little-endian, repeated until the output is full
//	flags         4     of the 32 items that follow, from bit 31 down: 0 a literal, 1 a match
//	literal       1     a byte of the output
//	match         2     bits 0–2 length − 3, bits 3–15 distance − 1
//	  half byte   1     where those 3 bits are 7: length − 10. A byte holds two: the low half of the first match that
//	                    needs one, the high half of the next
//	  byte        1     where the half byte is 15: length − 25
//	  word        2     where the byte is 255: length − 3; below 22 it is an error
//	  dword       4     where the word is 0: length − 3
//
// The output's size is not in the stream: a caller knows it (FilledBytes − 0x48 of a buffer of a trace) and the
// decoders fill exactly what they are given. They allocate nothing unless they fail.
package xpress

import (
	"encoding/binary"
	"fmt"

	"heapdrift/ingest/evidence"
)

// The codes of errors. They are stable: callers tell cases apart by them.
const (
	CodeTruncated   = "truncated"
	CodeBadDistance = "bad-distance"
	CodeBadLength   = "bad-length"
	CodeBadTable    = "bad-table"
)

// messages say what the codes mean.
var messages = map[string]string{
	CodeTruncated:   "the stream ends before the output is full",
	CodeBadDistance: "a match begins before the output",
	CodeBadLength:   "a match ends behind the output, or its length is below the least",
	CodeBadTable:    "the Huffman table is not a prefix code",
}

// failure places a code: input counts bytes of the stream up to the item that is wrong, output those made before it.
func failure(code string, input, output int) error {
	return &evidence.Error{Code: code, Offset: int64(input),
		Message: fmt.Sprintf("%s; the output has %d bytes", messages[code], output)}
}

// Decode fills dst from a plain LZ77 stream and returns how many bytes it made: all of dst, or fewer beside an
// *evidence.Error. The bytes that were made before the error are right. Bytes of dst behind them may have been written
// to, bytes of src behind the last item that was needed are not looked at.
func Decode(dst, src []byte) (int, error) {
	p := plainDecoder{dst: dst, src: src}
	if err := p.run(); err != nil {
		return p.d, err
	}
	return len(dst), nil
}

// plainDecoder is where a decoder of a plain LZ77 stream stands.
type plainDecoder struct {
	dst, src []byte
	d, s     int    // bytes made and used
	flags    uint32 // of the items to come, the next one's in bit 31
	items    int    // how many of them
	half     int    // where in src the half byte is that nobody used yet; 0 for none: the stream begins with flags
}

// run decodes items one at a time with every check, leaving long stretches to the fast loop where there is room.
func (p *plainDecoder) run() error {
	p.stretch()
	for p.d < len(p.dst) {
		at := p.s
		if p.items == 0 {
			if len(p.src)-p.s < 4 {
				return p.fail(CodeTruncated, at)
			}
			p.flags, p.items = binary.LittleEndian.Uint32(p.src[p.s:]), 32
			p.s += 4
		}
		if p.flags>>31 == 0 {
			if p.s == len(p.src) {
				return p.fail(CodeTruncated, at)
			}
			p.dst[p.d] = p.src[p.s]
			p.d, p.s = p.d+1, p.s+1
		} else if code := p.match(); code != "" {
			return p.fail(code, at)
		}
		p.flags, p.items = p.flags<<1, p.items-1
	}
	return nil
}

// match decodes a match; it returns what is wrong with it, or "".
func (p *plainDecoder) match() string {
	if len(p.src)-p.s < 2 {
		return CodeTruncated
	}
	m := int(binary.LittleEndian.Uint16(p.src[p.s:]))
	p.s += 2
	distance, length := m>>3+1, m&7
	if length == 7 {
		var code string
		if length, code = p.long(); code != "" {
			return code
		}
	}
	length += 3
	if distance > p.d {
		return CodeBadDistance
	}
	if length > len(p.dst)-p.d {
		return CodeBadLength
	}
	repeat(p.dst[p.d-distance:p.d+length], distance)
	p.d += length
	return ""
}

// long decodes what follows a match whose 3 bits do not hold its length; it returns length − 3.
func (p *plainDecoder) long() (int, string) {
	var length int
	if p.half != 0 {
		length, p.half = int(p.src[p.half]>>4), 0
	} else {
		if p.s == len(p.src) {
			return 0, CodeTruncated
		}
		length, p.half = int(p.src[p.s]&15), p.s
		p.s++
	}
	if length < 15 {
		return 7 + length, ""
	}
	length, next, code := longer(p.src, p.s, 7+15)
	p.s = next
	return length, code
}

// longer decodes a length that takes whole bytes, as both codecs write it. A byte below 255 is added to least. After
// 255, a word is the length itself; after a word of 0, a dword is. next is where the input goes on.
func longer(src []byte, at, least int) (length, next int, code string) {
	if at == len(src) {
		return 0, at, CodeTruncated
	}
	length = int(src[at])
	at++
	if length < 255 {
		return least + length, at, ""
	}
	if len(src)-at < 2 {
		return 0, at, CodeTruncated
	}
	length = int(binary.LittleEndian.Uint16(src[at:]))
	at += 2
	if length == 0 {
		if len(src)-at < 4 {
			return 0, at, CodeTruncated
		}
		long := binary.LittleEndian.Uint32(src[at:])
		at += 4
		if long > 1<<31-8 { // an int may have 32 bits
			return 0, at, CodeBadLength
		}
		length = int(long)
	}
	if length < least {
		return 0, at, CodeBadLength
	}
	return length, at, ""
}

func (p *plainDecoder) fail(code string, at int) error { return failure(code, at, p.d) }

// repeat fills b with what its first distance bytes hold, over and over.
func repeat(b []byte, distance int) {
	for n := distance; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
