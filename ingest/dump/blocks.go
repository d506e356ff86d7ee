package dump

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync/atomic"
)

// A block is a busy block of a heap.
type block struct {
	address uint64
	size    uint64 // requested bytes
	owner   uint32 // number of its owner
}

// end is the first address behind it; a block of no bytes has one, so that its own address is in it.
func (b *block) end() uint64 { return b.address + max(b.size, 1) }

// blocks are the busy blocks of all heaps, eight bytes each for nearly all of them: a large process has ten millions. They lie
// in pages of a megabyte of address space; a block of such a page is one number,
//
//	bits 47–63  address in the page / 8
//	bits 27–46  requested bytes
//	bits 0–26   owner
//
// and what does not fit is in a list of its own. They are added in any order and looked up after seal.
type blocks struct {
	pages map[uint64]*page
	order []uint64 // numbers of pages, ascending; after seal
	first []int    // ordinal of the first block of each page in order, and the number of all behind the last
	large []block  // ascending after seal; their ordinals follow those of the pages
	n     int
	room  *budget // nil for no limit
	may   int     // how many more may be kept without asking
	left  int     // blocks that there was no room for
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

type page struct{ list []uint64 }

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
		p.list = slices.CompactFunc(p.list, func(a, b uint64) bool { return a>>(sizeBits+ownerBits) == b>>(sizeBits+ownerBits) })
		s.first = append(s.first, s.n)
		s.n += len(p.list)
	}
	s.first = append(s.first, s.n)
	slices.SortFunc(s.large, func(a, b block) int { return cmp.Compare(a.address, b.address) })
	s.large = slices.CompactFunc(s.large, func(a, b block) bool { return a.address == b.address })
	s.n += len(s.large)
	return nil
}

// all yields the blocks with their ordinals, ascending by address but for the large ones, which come last.
func (s *blocks) all() iter.Seq2[int, block] {
	return func(yield func(int, block) bool) {
		for i, number := range s.order {
			for k, v := range s.pages[number].list {
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
	return unpack(s.order[i], s.pages[s.order[i]].list[ordinal-s.first[i]])
}

// find is the ordinal of the block that holds an address; −1 for none.
func (s *blocks) find(address uint64) int {
	number := address >> pageShift
	if i, ok := slices.BinarySearch(s.order, number); ok || i > 0 {
		if ok {
			if at := s.inPage(i, address); at >= 0 {
				return at
			}
		}
		// A block may reach over from the page before; no small one is longer than a page.
		if i > 0 && s.order[i-1] == number-1 {
			list := s.pages[s.order[i-1]].list
			if b := unpack(s.order[i-1], list[len(list)-1]); address < b.end() && address >= b.address {
				return s.first[i] - 1
			}
		}
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

// inPage finds an address among the blocks that begin in the page at a place in the order.
func (s *blocks) inPage(i int, address uint64) int {
	list := s.pages[s.order[i]].list
	key := address&(1<<pageShift-1)/offsetUnit<<(sizeBits+ownerBits) | (1<<(sizeBits+ownerBits) - 1)
	k, ok := slices.BinarySearch(list, key)
	if ok {
		k++
	}
	if k == 0 {
		return -1
	}
	if b := unpack(s.order[i], list[k-1]); address < b.end() {
		return s.first[i] + k - 1
	}
	return -1
}
