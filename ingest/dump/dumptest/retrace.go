package dumptest

import (
	"bytes"
	"encoding/binary"
	"slices"

	"heapdrift/ingest/ntheap/ntheaptest"
)

// Retrace gives the blocks of a 64-bit process other stacks: each of the given ones, innermost frame first, takes the
// place of one of its own that is as deep or deeper. It returns how many blocks each has, and panics where there are
// not enough deep ones.
func Retrace(p *ntheaptest.Process, stacks [][]uint64) []int {
	var own [][]uint64
	for _, b := range p.Blocks {
		if !slices.ContainsFunc(own, func(s []uint64) bool { return slices.Equal(s, b.Stack) }) && len(b.Stack) > 0 {
			own = append(own, b.Stack)
		}
	}
	counts := make([]int, len(stacks))
	for i, stack := range stacks {
		at := slices.IndexFunc(own, func(s []uint64) bool { return len(s) >= len(stack) })
		old := own[at]
		own = slices.Delete(own, at, at+1)
		p.Memory = p.Memory.Map(func(_ uint64, memory []byte) []byte { return replace(memory, old, stack) })
		for k := range p.Blocks {
			if slices.Equal(p.Blocks[k].Stack, old) {
				p.Blocks[k].Stack = stack
				counts[i]++
			}
		}
	}
	return counts
}

// replace writes a stack over another. Its depth stands before it: u16 four and two bytes before the frames of
// _RTL_STACK_TRACE_ENTRY, of which plain +ust uses one and page heap the other.
func replace(memory []byte, old, stack []uint64) []byte {
	at := bytes.Index(memory, frames(old))
	if at < 4 {
		return memory
	}
	copy(memory[at:], frames(stack))
	binary.LittleEndian.PutUint16(memory[at-4:], uint16(len(stack)))
	binary.LittleEndian.PutUint16(memory[at-2:], uint16(len(stack)))
	return memory
}

func frames(stack []uint64) []byte {
	var b []byte
	for _, f := range stack {
		b = binary.LittleEndian.AppendUint64(b, f)
	}
	return b
}
