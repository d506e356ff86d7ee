package capture

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
)

// A Block is one outstanding allocation.
type Block struct {
	Site    uint32 // index into Capture.Sites
	Address uint64 // as the program sees it
	Size    uint64 // requested bytes
}

// Blocks is a compact list of blocks in the order of the evidence: about seven bytes a block, because neighbours in a
// heap are near each other. The zero value is empty.
//
// A block is one byte that says how long its three numbers are, and the numbers, little-endian in as few bytes as they
// need: the change of the site (1 to 4 bytes: bits 0–1 of the first byte hold the length − 1), the change of the address
// (1 to 8: bits 2–4) and the size (1 to 8: bits 5–7). Changes are zigzag, against the block before.
type Blocks struct {
	log  []byte
	n    int
	last Block
}

// maxBlock is the longest that a block can be in the log, with room for the last number to be written as a whole word.
const maxBlock = 1 + 4 + 8 + 8 + 8

// Len is the number of blocks.
func (b *Blocks) Len() int { return b.n }

// Grow makes room for n more blocks as they mostly are.
func (b *Blocks) Grow(n int) {
	const mostly = 8 // bytes of a block
	b.log = slices.Grow(b.log, mostly*n)
}

// Add appends a block.
func (b *Blocks) Add(block Block) {
	if cap(b.log)-len(b.log) < maxBlock {
		b.log = slices.Grow(b.log, max(1<<16, len(b.log)/2))
	}
	site := uint64(zigzag32(int32(block.Site - b.last.Site)))
	address := zigzag(int64(block.Address - b.last.Address))
	siteLen, addressLen, sizeLen := byteLen(site), byteLen(address), byteLen(block.Size)
	at := len(b.log)
	log := b.log[at : at+maxBlock]
	log[0] = byte(siteLen-1) | byte(addressLen-1)<<2 | byte(sizeLen-1)<<5
	// Whole words are written; what is too much is written over by the next number.
	binary.LittleEndian.PutUint64(log[1:], site)
	binary.LittleEndian.PutUint64(log[1+siteLen:], address)
	binary.LittleEndian.PutUint64(log[1+siteLen+addressLen:], block.Size)
	b.log = b.log[:at+1+siteLen+addressLen+sizeLen]
	b.last = block
	b.n++
}

// byteLen is how many bytes a number needs, at least one.
func byteLen(v uint64) int { return (bits.Len64(v|1) + 7) / 8 }

// zigzag maps small numbers of either sign to small numbers.
func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func zigzag32(v int32) uint32 { return uint32(v)<<1 ^ uint32(v>>31) }

// unzigzag undoes zigzag, of either width.
func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// All yields the blocks in the order they were added.
func (b *Blocks) All() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		var at Block
		for log := b.log; len(log) > 0; {
			var ok bool
			if log, ok = next(log, &at); !ok || !yield(at) {
				return
			}
		}
	}
}

// next decodes the block at the head of log on top of the block before it; ok is false where the log ends inside it.
func next(log []byte, at *Block) (rest []byte, ok bool) {
	lengths := log[0]
	siteEnd := 2 + int(lengths&3)
	addressEnd := siteEnd + 1 + int(lengths>>2&7)
	end := addressEnd + 1 + int(lengths>>5)
	if end > len(log) {
		return nil, false
	}
	at.Site += uint32(unzigzag(number(log[1:siteEnd])))
	at.Address += unzigzag(number(log[siteEnd:addressEnd]))
	at.Size = number(log[addressEnd:end])
	return log[end:], true
}

func number(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}
