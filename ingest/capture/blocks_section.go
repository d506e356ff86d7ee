package capture

import (
	"encoding/binary"
	"math/bits"
)

// In an artifact a block is one byte that says how long its three numbers are, and the numbers, little-endian in as few
// bytes as they need: the change of the site (1 to 4 bytes: bits 0–1 of the first byte hold the length − 1), the change
// of the address (1 to 8: bits 2–4) and the size (1 to 8: bits 5–7). Changes are zigzag, against the block before. That
// is about seven bytes a block, because neighbours in a heap are near each other.

// leastBlock is the shortest that a block can be, longestBlock the longest with room for its last number to be written
// as a whole word.
const (
	leastBlock   = 4
	longestBlock = 1 + 4 + 8 + 8 + 8
)

func (c *Capture) putBlocks(e *encoder) {
	e.uint(uint64(c.Blocks.n))
	var last Block
	for b := range c.Blocks.All() {
		e.b = appendBlock(e.b, &last, b)
	}
}

// takeBlocks relies on the sites section before it.
func (c *Capture) takeBlocks(d *decoder) {
	n := d.count(leastBlock)
	var at Block
	for len(d.b) > 0 {
		if c.Blocks.n == n || !d.block(&at) || int(at.Site) >= len(c.Sites) {
			d.bad = true
			return
		}
		c.Blocks.Add(at)
	}
	d.bad = d.bad || c.Blocks.n < n
}

// appendBlock writes a block on top of the last one.
func appendBlock(log []byte, last *Block, block Block) []byte {
	site := uint64(zigzag32(int32(block.Site - last.Site)))
	address := zigzag(int64(block.Address - last.Address))
	siteLen, addressLen, sizeLen := byteLen(site), byteLen(address), byteLen(block.Size)
	*last = block
	var b [longestBlock]byte
	b[0] = byte(siteLen-1) | byte(addressLen-1)<<2 | byte(sizeLen-1)<<5
	// Whole words are written; what is too much is written over by the next number.
	binary.LittleEndian.PutUint64(b[1:], site)
	binary.LittleEndian.PutUint64(b[1+siteLen:], address)
	binary.LittleEndian.PutUint64(b[1+siteLen+addressLen:], block.Size)
	return append(log, b[:1+siteLen+addressLen+sizeLen]...)
}

// byteLen is how many bytes a number needs, at least one.
func byteLen(v uint64) int { return (bits.Len64(v|1) + 7) / 8 }

// zigzag maps small numbers of either sign to small numbers.
func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func zigzag32(v int32) uint32 { return uint32(v)<<1 ^ uint32(v>>31) }

// unzigzag undoes zigzag, of either width.
func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// block decodes a block on top of the block before it, and reports false where the log ends inside it.
func (d *decoder) block(at *Block) bool {
	lengths := d.b[0]
	siteEnd := 2 + int(lengths&3)
	addressEnd := siteEnd + 1 + int(lengths>>2&7)
	end := addressEnd + 1 + int(lengths>>5)
	if end > len(d.b) {
		return false
	}
	at.Site += uint32(unzigzag(number(d.b[1:siteEnd])))
	at.Address += unzigzag(number(d.b[siteEnd:addressEnd]))
	at.Size = number(d.b[addressEnd:end])
	d.b = d.b[end:]
	return true
}

func number(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}
