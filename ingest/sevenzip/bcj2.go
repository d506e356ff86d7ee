package sevenzip

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// A bcj2Reader puts the branches of an x86 program back into its other bytes (Bcj2.c): the inputs are the program
// without them, the absolute targets of calls, those of jumps, and bits that say which E8, E9 and 0F 8x have a target
// there. The bits are packed by a range coder with a probability for each byte before an E8, for E9, and for 0F 8x.
type bcj2Reader struct {
	program, calls, jumps, bits *bufio.Reader
	width, code                 uint32 // of the range coder
	odds                        [258]uint16
	begun                       bool
	last                        byte
	written                     uint32
	pending                     [4]byte // bytes of a target that did not fit
	left                        int     // of these
}

const (
	bcj2OddsBits = 11
	bcj2MoveBits = 5
)

func openBCJ2(_ []byte, _ uint64, in []io.Reader) (io.Reader, error) {
	b := &bcj2Reader{bufio.NewReader(in[0]), bufio.NewReader(in[1]), bufio.NewReader(in[2]), bufio.NewReader(in[3]),
		0xFFFFFFFF, 0, [258]uint16{}, false, 0, 0, [4]byte{}, 0}
	for i := range b.odds {
		b.odds[i] = 1 << (bcj2OddsBits - 1)
	}
	return b, nil
}

func (b *bcj2Reader) Read(p []byte) (n int, err error) {
	if !b.begun {
		b.begun = true
		var start [5]byte
		if _, err := io.ReadFull(b.bits, start[:]); err != nil {
			return 0, damage(err)
		}
		b.code = binary.BigEndian.Uint32(start[1:])
	}
	for n < len(p) {
		if b.left > 0 {
			p[n] = b.pending[4-b.left]
			b.left--
			n++
			continue
		}
		c, err := b.program.ReadByte()
		if err != nil {
			return n, err
		}
		p[n] = c
		n++
		b.written++
		if err := b.branch(c); err != nil {
			return n, err
		}
	}
	return n, nil
}

// branch looks for a target behind the byte c.
func (b *bcj2Reader) branch(c byte) error {
	before := b.last
	b.last = c
	var odds *uint16
	from := b.jumps
	switch {
	case c == 0xE8:
		odds, from = &b.odds[before], b.calls
	case c == 0xE9:
		odds = &b.odds[256]
	case before == 0x0F && c&0xF0 == 0x80:
		odds = &b.odds[257]
	default:
		return nil
	}
	set, err := b.bit(odds)
	if err != nil || !set {
		return err
	}
	if _, err := io.ReadFull(from, b.pending[:]); err != nil {
		return damage(err)
	}
	b.written += 4
	binary.LittleEndian.PutUint32(b.pending[:], binary.BigEndian.Uint32(b.pending[:])-b.written)
	b.left, b.last = 4, b.pending[3]
	return nil
}

// bit decodes a bit whose probability to be 0 is odds.
func (b *bcj2Reader) bit(odds *uint16) (bool, error) {
	bound := b.width >> bcj2OddsBits * uint32(*odds)
	set := b.code >= bound
	if set {
		b.width, b.code = b.width-bound, b.code-bound
		*odds -= *odds >> bcj2MoveBits
	} else {
		b.width = bound
		*odds += (1<<bcj2OddsBits - *odds) >> bcj2MoveBits
	}
	if b.width >= 1<<24 {
		return set, nil
	}
	b.width <<= 8
	return set, b.shift()
}

// shift takes a byte into the range coder: zeros behind the end, which no bit needs that the program has.
func (b *bcj2Reader) shift() error {
	c, err := b.bits.ReadByte()
	b.code = b.code<<8 | uint32(c)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
