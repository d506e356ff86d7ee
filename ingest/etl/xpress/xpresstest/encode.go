// Package xpresstest encodes XPRESS streams, for tests and generators. It is written from the format's description
// and shares no code with the decoders.
package xpresstest

import (
	"encoding/binary"
	"slices"
)

// An Encoder compresses streams. It keeps its tables between streams, and is for one goroutine.
type Encoder struct {
	heads [1 << hashBits]int32 // of the last place where four bytes were seen, plus one
}

const (
	hashBits = 14
	window   = 1 << 13 // 13 bits of distance − 1
	least    = 3       // bytes of a match
)

// A plainStream is an output with its open flags and half byte.
type plainStream struct {
	out   []byte
	at    int // of the flags that are open
	flags uint32
	items int
	half  int // where a half byte is free, plus one
}

// AppendPlain appends src to dst as a plain LZ77 stream.
func (e *Encoder) AppendPlain(dst, src []byte) []byte {
	clear(e.heads[:])
	p := plainStream{out: append(dst, 0, 0, 0, 0), at: len(dst)}
	for i := 0; i < len(src); {
		from := e.find(src, i)
		length := 0
		if from >= 0 && i-from <= window {
			length = common(src, from, i)
		}
		if length < least+1 {
			p.out = append(p.out, src[i])
			p.item(0)
			i++
			continue
		}
		p.match(i-from, length)
		for end := i + length; ; {
			if i += 3; i >= end { // a table entry for every third byte: more would cost time and save little
				i = end
				break
			}
			e.find(src, i)
		}
	}
	// The flags nobody needs are ones, as [MS-XCA] says.
	binary.LittleEndian.PutUint32(p.out[p.at:], p.flags<<(32-p.items)|uint32(1<<(32-p.items)-1))
	return p.out
}

// find returns where the four bytes at i were seen last, or -1, and notes i.
func (e *Encoder) find(src []byte, i int) int {
	if len(src)-i < 4 {
		return -1
	}
	slot := &e.heads[binary.LittleEndian.Uint32(src[i:])*2654435761>>(32-hashBits)]
	from := int(*slot) - 1
	*slot = int32(i + 1)
	return from
}

// common counts the bytes from i on that are those from an earlier place on.
func common(src []byte, from, i int) int {
	n := 0
	for i+n+8 <= len(src) && binary.LittleEndian.Uint64(src[from+n:]) == binary.LittleEndian.Uint64(src[i+n:]) {
		n += 8
	}
	for i+n < len(src) && src[from+n] == src[i+n] {
		n++
	}
	return n
}

// item closes an item: bit is 0 for a literal and 1 for a match.
func (p *plainStream) item(bit uint32) {
	p.flags, p.items = p.flags<<1|bit, p.items+1
	if p.items == 32 {
		binary.LittleEndian.PutUint32(p.out[p.at:], p.flags)
		p.at, p.flags, p.items = len(p.out), 0, 0
		p.out = append(p.out, 0, 0, 0, 0)
	}
}

// match writes a match of [MS-XCA] 2.4, its length in as many steps as it takes.
func (p *plainStream) match(distance, length int) {
	le := binary.LittleEndian
	rest := length - least
	p.out = le.AppendUint16(p.out, uint16((distance-1)<<3|min(rest, 7)))
	if rest >= 7 {
		p.halfByte(byte(min(rest-7, 15)))
		switch {
		case rest < 7+15:
		case rest < 7+15+255:
			p.out = append(p.out, byte(rest-7-15))
		case rest < 1<<16:
			p.out = le.AppendUint16(append(p.out, 255), uint16(rest))
		default:
			p.out = le.AppendUint32(append(p.out, 255, 0, 0), uint32(rest))
		}
	}
	p.item(1)
}

// halfByte fills the half byte that is free, or the first half of a new one.
func (p *plainStream) halfByte(v byte) {
	if p.half > 0 {
		p.out[p.half-1] |= v << 4
		p.half = 0
		return
	}
	p.out = append(p.out, v)
	p.half = len(p.out)
}

// Plain is AppendPlain with an encoder of its own.
func Plain(src []byte) []byte {
	return slices.Clip(new(Encoder).AppendPlain(nil, src))
}
