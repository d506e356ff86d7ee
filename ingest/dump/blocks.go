package dump

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync/atomic"

	"heapdrift/ingest/sorting"
)

// A block is a busy block of a heap.
type block struct {
	address uint64
	size    uint64 // requested bytes
	owner   uint32 // number of its owner
}

// end is the first address behind it; a block of no bytes has one, so that its own address is in it.
func (b *block) end() uint64 { return b.address + max(b.size, 1) }

// blocks are the busy blocks of all heaps, eight bytes each for nearly all of them: a large process has ten millions.
// They lie in pages of a megabyte of address space; a block of such a page is one number,
//
//	bits 47–63  address in the page / 8
//	bits 27–46  requested bytes
//	bits 0–26   owner
//
// and what does not fit is in a list of its own. They are added in any order and looked up after seal.
type blocks struct {
	pages  map[uint64]*page
	order  []uint64                     // numbers of pages, ascending; after seal
	sealed []*page                      // in order; after seal
	near   map[uint64]*[nearPages]int32 // places in order, plus 1, by page number; after seal
	first  []int                        // ordinal of the first block of each page in order, and the number of all behind the last
	large  []block                      // ascending after seal; their ordinals follow those of the pages
	n      int
	room   *budget // nil for no limit
	may    int     // how many more may be kept without asking
	left   int     // blocks that there was no room for
}

// A budget is how many blocks may be kept in all, shared by those who walk heaps at the same time.
type budget struct{ room atomic.Int64 }

// grant is how many are taken from a budget at once.
const grant = 1 << 16

// has reports whether there is room for one more.
func (s *blocks) has() bool {
	if s.room == nil {
		return true
	}
	if s.may == 0 && s.left == 0 && s.room.room.Add(-grant) >= 0 {
		s.may = grant
	}
	if s.may == 0 {
		return false
	}
	s.may--
	return true
}

// A page is a megabyte of address space. After seal, starts[k] is the first block that begins in the kth 4 KB of it or
// behind: looking one up is what a search for pointers does most.
type page struct {
	list   []uint64
	starts []uint32
}

const startShift, pageStarts = 12, 1 << (pageShift - 12)

// nearPages are the pages of 4 GB, which are looked up without a search.
const nearShift, nearPages = 12, 1 << 12

// worthNear is how many pages more of 4 GB make a table of theirs worth its room, and worthStarts how many blocks of a
// page.
const worthNear, worthStarts = 64, 64

const (
	pageShift  = 20
	ownerBits  = 27
	sizeBits   = 20
	maxOwners  = 1 << ownerBits
	ownerMask  = maxOwners - 1
	sizeMask   = 1<<sizeBits - 1
	offsetUnit = 8
)

func newBlocks() *blocks { return &blocks{pages: map[uint64]*page{}} }

// add adds a block.
func (s *blocks) add(b block) {
	if !s.has() {
		s.left++
		return
	}
	s.n++
	if b.address%offsetUnit != 0 || b.size > sizeMask {
		s.large = append(s.large, b)
		return
	}
	number := b.address >> pageShift
	p := s.pages[number]
	if p == nil {
		p = &page{}
		s.pages[number] = p
	}
	p.list = append(p.list, pack(b))
}

func pack(b block) uint64 {
	return b.address&(1<<pageShift-1)/offsetUnit<<(sizeBits+ownerBits) | b.size<<ownerBits | uint64(b.owner)
}

func unpack(number, v uint64) block {
	return block{number<<pageShift | v>>(sizeBits+ownerBits)*offsetUnit, v >> ownerBits & sizeMask, uint32(v & ownerMask)}
}

// take moves the blocks of another list over, whose owners are numbered on from the given number.
func (s *blocks) take(other *blocks, from uint32) {
	for number, p := range other.pages {
		for i := range p.list {
			p.list[i] += uint64(from)
		}
		if mine := s.pages[number]; mine != nil {
			mine.list = append(mine.list, p.list...)
		} else {
			s.pages[number] = p
		}
	}
	for _, b := range other.large {
		b.owner += from
		s.large = append(s.large, b)
	}
	s.n, s.left = s.n+other.n, s.left+other.left
	other.pages, other.large = nil, nil
}

// seal puts the blocks in the order of their addresses. A block that was given twice is kept once.
func (s *blocks) seal(ctx context.Context) error {
	s.order, s.first = make([]uint64, 0, len(s.pages)), make([]int, 0, len(s.pages)+1)
	for number := range s.pages {
		s.order = append(s.order, number)
	}
	slices.Sort(s.order)
	s.n = 0
	for _, number := range s.order {
		if ctx.Err() != nil {
			return fmt.Errorf("dump: %w", context.Cause(ctx))
		}
		p := s.pages[number]
		slices.Sort(p.list)
		p.list = slices.CompactFunc(p.list,
			func(a, b uint64) bool { return a>>(sizeBits+ownerBits) == b>>(sizeBits+ownerBits) })
		p.index()
		s.first = append(s.first, s.n)
		s.n += len(p.list)
	}
	s.near = map[uint64]*[nearPages]int32{}
	for i, number := range s.order {
		s.sealed = append(s.sealed, s.pages[number])
		places := s.near[number>>nearShift]
		if last := i + worthNear; places == nil && last < len(s.order) && s.order[last]>>nearShift == number>>nearShift {
			places = &[nearPages]int32{}
			s.near[number>>nearShift] = places
		}
		if places != nil {
			places[number%nearPages] = int32(i + 1)
		}
	}
	s.first = append(s.first, s.n)
	sorting.Unstable(s.large, func(a, b block) int { return cmp.Compare(a.address, b.address) })
	s.large = slices.CompactFunc(s.large, func(a, b block) bool { return a.address == b.address })
	s.n += len(s.large)
	return nil
}

// all yields the blocks with their ordinals, ascending by address but for the large ones, which come last.
func (s *blocks) all() iter.Seq2[int, block] {
	return func(yield func(int, block) bool) {
		for i, number := range s.order {
			for k, v := range s.sealed[i].list {
				if !yield(s.first[i]+k, unpack(number, v)) {
					return
				}
			}
		}
		for i, b := range s.large {
			if !yield(s.n-len(s.large)+i, b) {
				return
			}
		}
	}
}

// at is the block with an ordinal.
func (s *blocks) at(ordinal int) block {
	if small := s.n - len(s.large); ordinal >= small {
		return s.large[ordinal-small]
	}
	i := sort.SearchInts(s.first, ordinal+1) - 1
	return unpack(s.order[i], s.sealed[i].list[ordinal-s.first[i]])
}

// index fills starts.
func (p *page) index() {
	if len(p.list) < worthStarts {
		return
	}
	p.starts = make([]uint32, pageStarts+1)
	k := uint32(0)
	for i := range p.starts {
		for int(k) < len(p.list) && p.list[k]>>(sizeBits+ownerBits) < uint64(i)<<startShift/offsetUnit {
			k++
		}
		p.starts[i] = k
	}
}

// place is the place of a page in order; −1 where no block begins in it.
func (s *blocks) place(number uint64) int {
	if places := s.near[number>>nearShift]; places != nil {
		return int(places[number%nearPages]) - 1
	}
	if i, ok := slices.BinarySearch(s.order, number); ok {
		return i
	}
	return -1
}

// find is the ordinal of the block that holds an address; −1 for none.
func (s *blocks) find(address uint64) int {
	number := address >> pageShift
	if i := s.place(number); i >= 0 {
		if at := s.inPage(i, address); at >= 0 {
			return at
		}
	}
	// A block may reach over from the page before; no small one is longer than a page.
	if i := s.place(number - 1); i >= 0 {
		list := s.sealed[i].list
		if b := unpack(s.order[i], list[len(list)-1]); address < b.end() && address >= b.address {
			return s.first[i+1] - 1
		}
	}
	if len(s.large) == 0 {
		return -1
	}
	i, ok := slices.BinarySearchFunc(s.large, address, func(b block, a uint64) int { return cmp.Compare(b.address, a) })
	if !ok {
		i--
	}
	if i >= 0 && address < s.large[i].end() {
		return s.n - len(s.large) + i
	}
	return -1
}

// ahead reads the first block that find will look at.
func (s *blocks) ahead(address uint64) uint64 {
	i := s.place(address >> pageShift)
	if i < 0 {
		return 0
	}
	p := s.sealed[i]
	if p.starts == nil {
		return p.list[0]
	}
	if k := p.starts[address&(1<<pageShift-1)>>startShift]; int(k) < len(p.list) {
		return p.list[k]
	}
	return 0
}

// inPage finds an address among the blocks that begin in the page at a place in the order.
func (s *blocks) inPage(i int, address uint64) int {
	p := s.sealed[i]
	offset := address & (1<<pageShift - 1)
	// The last block that begins at or before the address: it begins in the same 4 KB, or is the last before them.
	low, high := 0, len(p.list)
	if p.starts != nil {
		low, high = int(p.starts[offset>>startShift]), int(p.starts[offset>>startShift+1])
	}
	key := offset/offsetUnit<<(sizeBits+ownerBits) | (1<<(sizeBits+ownerBits) - 1)
	for low < high {
		if middle := int(uint(low+high) >> 1); p.list[middle] <= key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return -1
	}
	if b := unpack(s.order[i], p.list[low-1]); address < b.end() {
		return s.first[i] + low - 1
	}
	return -1
}
