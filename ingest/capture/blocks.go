package capture

import "iter"

// A Block is one outstanding allocation.
type Block struct {
	Site    uint32 // index into Capture.Sites
	Address uint64 // as the program sees it
	Size    uint64 // requested bytes
}

// Blocks is a list of blocks in the order of the evidence, as columns: twelve bytes a block, because the blocks of a
// page are mostly within 4 GiB. The zero value is empty.
type Blocks struct {
	pages  []*blockPage // all but the last are full
	n      int
	last   uint64 // address
	breaks []int  // blocks before which addresses do not ascend; no more than mostBreaks + 1
}

// pageBlocks is how many blocks a page holds.
const pageBlocks = 1 << 13

// mostBreaks bounds the places that are kept at which the addresses of a list begin anew: a heap has a few.
const mostBreaks = 1 << 10

// A blockPage is the columns of neighbouring blocks. They have one length and one capacity.
type blockPage struct {
	base  uint64 // address that near counts from
	sites []uint32
	near  []uint32 // address less base
	sizes []uint32 // their low halves
	far   []uint64 // addresses, where one of them is not near; else nil
	high  []uint32 // high halves of sizes, where one of them has any; else nil
}

// Len is the number of blocks.
func (b *Blocks) Len() int { return b.n }

// Add appends a block.
func (b *Blocks) Add(block Block) {
	if b.n%pageBlocks == 0 {
		b.turn(block.Address)
	}
	p := b.pages[len(b.pages)-1]
	at := len(p.sites)
	if at == cap(p.sites) {
		p.grow()
	}
	near := block.Address - p.base
	p.sites, p.near, p.sizes = p.sites[:at+1], p.near[:at+1], p.sizes[:at+1]
	p.sites[at], p.near[at], p.sizes[at] = block.Site, uint32(near), uint32(block.Size)
	if p.far != nil || near>>32 != 0 {
		p.addFar(block.Address)
	}
	if p.high != nil || block.Size>>32 != 0 {
		p.addHigh(uint32(block.Size >> 32))
	}
	if block.Address <= b.last && b.n > 0 && len(b.breaks) <= mostBreaks {
		b.breaks = append(b.breaks, b.n)
	}
	b.last = block.Address
	b.n++
}

// turn begins a page. Addresses on both sides of its first are near.
func (b *Blocks) turn(first uint64) {
	p := &blockPage{base: first - 1<<31}
	if b.n > 0 {
		p.room(pageBlocks)
	}
	b.pages = append(b.pages, p)
}

// grow makes room for more blocks in the first page, which may be the only one and have few.
func (p *blockPage) grow() { p.room(min(pageBlocks, max(16, 2*len(p.sites)))) }

func (p *blockPage) room(n int) {
	column := func(c []uint32) []uint32 { return append(make([]uint32, 0, n), c...) }
	p.sites, p.near, p.sizes = column(p.sites), column(p.near), column(p.sizes)
}

// addFar adds the address of the block that is added last, and makes the column where there is none.
func (p *blockPage) addFar(address uint64) {
	if p.far == nil {
		p.far = make([]uint64, 0, pageBlocks)
		for _, near := range p.near[:len(p.near)-1] {
			p.far = append(p.far, p.base+uint64(near))
		}
	}
	p.far = append(p.far, address)
}

// addHigh does the same for the high half of its size.
func (p *blockPage) addHigh(half uint32) {
	if p.high == nil {
		p.high = make([]uint32, len(p.sizes)-1, pageBlocks)
	}
	p.high = append(p.high, half)
}

// at is a block of the page.
func (p *blockPage) at(i int) Block {
	b := Block{p.sites[i], p.address(i), uint64(p.sizes[i])}
	if p.high != nil {
		b.Size |= uint64(p.high[i]) << 32
	}
	return b
}

// All yields the blocks in the order they were added.
func (b *Blocks) All() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for _, p := range b.pages {
			for i := range p.sites {
				if !yield(p.at(i)) {
					return
				}
			}
		}
	}
}
