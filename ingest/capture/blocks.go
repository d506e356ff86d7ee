package capture

import (
	"encoding/binary"
	"iter"
	"slices"
)

// A Block is one outstanding allocation.
type Block struct {
	Site    uint32 // index into Capture.Sites
	Address uint64 // as the program sees it
	Size    uint64 // requested bytes
}

// Blocks is a compact list of blocks in the order of the evidence: about six bytes a block, because
// neighbours in a heap are near each other. The zero value is empty.
type Blocks struct {
	log  []byte // per block: zigzag Δsite, zigzag Δaddress, size; varints
	n    int
	last Block
}

// Len is the number of blocks.
func (b *Blocks) Len() int { return b.n }

// Add appends a block.
func (b *Blocks) Add(block Block) {
	if cap(b.log)-len(b.log) < 3*binary.MaxVarintLen64 {
		b.log = slices.Grow(b.log, max(1<<16, len(b.log)/2))
	}
	log, n := b.log[len(b.log):cap(b.log)], 0
	for _, v := range [3]uint64{zigzag(int64(block.Site) - int64(b.last.Site)), zigzag(int64(block.Address - b.last.Address)), block.Size} {
		for v >= 0x80 {
			log[n] = byte(v) | 0x80
			v >>= 7
			n++
		}
		log[n] = byte(v)
		n++
	}
	b.log = b.log[:len(b.log)+n]
	b.last = block
	b.n++
}

// zigzag maps small numbers of either sign to small numbers, as binary.Varint reads them.
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

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

// next decodes the block at the head of log on top of the block before it.
func next(log []byte, at *Block) (rest []byte, ok bool) {
	site, n := binary.Varint(log)
	if n <= 0 {
		return nil, false
	}
	log = log[n:]
	address, n := binary.Varint(log)
	if n <= 0 {
		return nil, false
	}
	log = log[n:]
	size, n := binary.Uvarint(log)
	if n <= 0 {
		return nil, false
	}
	at.Site += uint32(site)
	at.Address += uint64(address)
	at.Size = size
	return log[n:], true
}
