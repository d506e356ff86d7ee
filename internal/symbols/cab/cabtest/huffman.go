package cabtest

import (
	"cmp"
	"slices"
)

// A bitWriter writes bits, highest first, into little-endian words of 16 bits.
type bitWriter struct {
	out   []byte
	hold  uint64
	count int
}

func (w *bitWriter) put(v uint32, n int) {
	w.hold = w.hold<<n | uint64(v)&(1<<n-1)
	w.count += n
	for w.count >= 16 {
		w.count -= 16
		w.out = le.AppendUint16(w.out, uint16(w.hold>>w.count))
	}
}

// flush fills up the last word.
func (w *bitWriter) flush() {
	if w.count > 0 {
		w.put(0, 16-w.count)
	}
}

// toBytes goes to the next word, by at least one bit.
func (w *bitWriter) toBytes() {
	w.put(0, 16-w.count%16)
}

// codeLengths is the lengths of a Huffman code for symbols that occur count times. If a length exceeds longest bits,
// the counts are halved until none does. The code is complete, as other readers require: a single symbol gets another
// one beside it.
func codeLengths(count []int, longest int) []uint8 {
	type node struct {
		count, symbol int
		left, right   *node
	}
	count = slices.Clone(count)
	for {
		var nodes []*node
		for symbol, n := range count {
			if n > 0 {
				nodes = append(nodes, &node{count: n, symbol: symbol})
			}
		}
		lengths := make([]uint8, len(count))
		if len(nodes) == 1 {
			lengths[nodes[0].symbol] = 1
			lengths[(nodes[0].symbol+1)%len(lengths)] = 1
			return lengths
		}
		for len(nodes) > 1 {
			slices.SortStableFunc(nodes, func(a, b *node) int { return cmp.Compare(b.count, a.count) })
			a, b := nodes[len(nodes)-2], nodes[len(nodes)-1]
			nodes = append(nodes[:len(nodes)-2], &node{a.count + b.count, -1, a, b})
		}
		deepest := 0
		var walk func(n *node, depth int)
		walk = func(n *node, depth int) {
			if n.left == nil {
				lengths[n.symbol] = uint8(depth)
				deepest = max(deepest, depth)
				return
			}
			walk(n.left, depth+1)
			walk(n.right, depth+1)
		}
		if len(nodes) == 1 {
			walk(nodes[0], 0)
		}
		if deepest <= longest {
			return lengths
		}
		for symbol := range count {
			count[symbol] = (count[symbol] + 1) / 2
		}
	}
}

// codes are the canonical codes: ascending with length, then symbol.
func codes(lengths []uint8) []uint32 {
	out := make([]uint32, len(lengths))
	code := uint32(0)
	for n := uint8(1); n <= 16; n++ {
		for symbol, length := range lengths {
			if length == n {
				out[symbol] = code
				code++
			}
		}
		code <<= 1
	}
	return out
}
