package pdb

import (
	"cmp"
	"slices"
)

// Identical functions that the linker has folded together are at one address, each with its procedure, and with a block
// of lines where it has any. Which block is whose is told by their order alone: a compiler writes procedure and lines
// of a function together, and linkers keep that order, so that the blocks of a module come in the order of its
// procedures in the stream.

// pair finds the procedures of blocks that begin where several procedures do.
func (m *module) pair() {
	if m.paired {
		return
	}
	m.paired = true
	if !m.pairInOrder() {
		m.pairByCount()
	}
}

// pairInOrder lets each block of the stream follow the procedure of the one before. A block is paired where the first
// procedure that it can belong to, seen from the beginning, is the last one, seen from the end. It reports false where
// the blocks are in another order than the procedures.
func (m *module) pairInOrder() bool {
	procs := make([]int32, len(m.procs))
	for i := range procs {
		procs[i] = int32(i)
	}
	slices.SortFunc(procs, func(a, b int32) int { return cmp.Compare(m.procs[a].record, m.procs[b].record) })
	var blocks []int32
	for i := range m.blocks {
		if at, _ := slices.BinarySearchFunc(m.procs, m.blocks[i].start, startsBefore); at < len(m.procs) &&
			m.procs[at].start == m.blocks[i].start {
			blocks = append(blocks, int32(i))
		}
	}
	slices.SortFunc(blocks, func(a, b int32) int { return cmp.Compare(m.blocks[a].place, m.blocks[b].place) })

	first, k := make([]int32, len(blocks)), 0
	for i, b := range blocks {
		for k < len(procs) && m.procs[procs[k]].start != m.blocks[b].start {
			k++
		}
		if k == len(procs) {
			return false
		}
		first[i] = procs[k]
		k++
	}
	k = len(procs) - 1
	for i, b := range slices.Backward(blocks) {
		for m.procs[procs[k]].start != m.blocks[b].start { // there is one: the way forward has found it
			k--
		}
		if first[i] == procs[k] {
			m.blocks[b].owner = m.procs[procs[k]].record
		}
		k--
	}
	return true
}

func startsBefore(p proc, rva uint32) int { return compareUint32(p.start, rva) }

// pairByCount pairs the blocks at an address with the procedures there, where there are as many.
func (m *module) pairByCount() {
	for i := 0; i < len(m.blocks); {
		end := i + 1
		for end < len(m.blocks) && m.blocks[end].start == m.blocks[i].start {
			end++
		}
		from, _ := slices.BinarySearchFunc(m.procs, m.blocks[i].start, startsBefore)
		to := from
		for to < len(m.procs) && m.procs[to].start == m.blocks[i].start {
			to++
		}
		for k := range end - i {
			if to-from == end-i {
				m.blocks[i+k].owner = m.procs[from+k].record
			}
		}
		i = end
	}
}
