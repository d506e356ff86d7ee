package capture

import (
	"encoding/binary"
	"iter"
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
	b.log = binary.AppendVarint(b.log, int64(block.Site)-int64(b.last.Site))
	b.log = binary.AppendVarint(b.log, int64(block.Address-b.last.Address))
	b.log = binary.AppendUvarint(b.log, block.Size)
	b.last = block
	b.n++
}

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
