package xpresstest

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// endOfStream is the symbol of the shortest nearest match too; only behind the output's end it means the end.
const endOfStream = 256

// An item is a literal, or a match of a distance and a length of at least 3, or with length 0 the end.
type item struct {
	symbol           int
	distance, length int
}

// AppendHuffman appends src to dst as an LZ77+Huffman stream of [MS-XCA] 2.1. Each 64 KiB of output begin with a table
// of code lengths. Words of bits follow, with the bytes of long lengths between them.
func (e *Encoder) AppendHuffman(dst, src []byte) []byte {
	clear(e.heads[:])
	for i := 0; i < len(src); {
		end := min(len(src), i+1<<16)
		var items []item
		var counts [512]int
		for i < end {
			it := item{symbol: int(src[i]), length: 1}
			if from := e.find(src, i); from >= 0 && i-from < 1<<16 {
				if n := min(common(src, from, i), end-i); n > 3 {
					it = item{distance: i - from, length: n}
					it.symbol = 256 + (bits.Len(uint(i-from))-1)*16 + min(n-3, 15)
				}
			}
			counts[it.symbol]++
			items = append(items, it)
			i += it.length
		}
		if i == len(src) {
			items = append(items, item{symbol: endOfStream})
			counts[endOfStream]++
		}
		dst = appendBlock(dst, items, &counts)
	}
	return dst
}

// appendBlock appends a table and the items that it is made for.
func appendBlock(dst []byte, items []item, counts *[512]int) []byte {
	lengths := codeLengths(counts)
	for i := 0; i < len(lengths); i += 2 {
		dst = append(dst, lengths[i]|lengths[i+1]<<4)
	}
	codes, next := [512]uint32{}, uint32(0)
	for n := uint8(1); n <= 15; n++ {
		for symbol, l := range lengths {
			if l == n {
				codes[symbol] = next
				next++
			}
		}
		next <<= 1
	}
	// The decoder reads two words ahead of the bytes between: room for a word is taken when a bit goes over the one before
	// the last.
	first, second := len(dst), len(dst)+2
	dst = append(dst, 0, 0, 0, 0)
	word, free := uint32(0), 16
	put := func(n int, v uint32) {
		if n <= free {
			free -= n
			word = word<<n | v
			return
		}
		n -= free
		word = word<<free | v>>n
		binary.LittleEndian.PutUint16(dst[first:], uint16(word))
		first, second = second, len(dst)
		dst = append(dst, 0, 0)
		free, word = 16-n, v&(1<<n-1)
	}
	for _, it := range items {
		put(int(lengths[it.symbol]), codes[it.symbol])
		if it.symbol < 256 || it.length == 0 {
			continue
		}
		if rest := it.length - 3; rest >= 15 {
			switch {
			case rest < 15+255:
				dst = append(dst, byte(rest-15))
			default: // blocks are short enough for a word
				dst = binary.LittleEndian.AppendUint16(append(dst, 255), uint16(rest))
			}
		}
		n := bits.Len(uint(it.distance)) - 1
		put(n, uint32(it.distance)&(1<<n-1))
	}
	binary.LittleEndian.PutUint16(dst[first:], uint16(word<<free))
	return dst
}

// codeLengths are those of a Huffman code for the counts, at most 15 bits each.
func codeLengths(counts *[512]int) (lengths [512]uint8) {
	type node struct {
		count   int
		symbols []int
	}
	var nodes []node
	for symbol, n := range counts {
		if n > 0 {
			nodes = append(nodes, node{n, []int{symbol}})
		}
	}
	if len(nodes) == 1 { // a code needs two
		other := (nodes[0].symbols[0] + 1) % 512
		nodes = append(nodes, node{0, []int{other}})
	}
	for len(nodes) > 1 {
		slices.SortFunc(nodes, func(a, b node) int { return a.count - b.count })
		merged := node{nodes[0].count + nodes[1].count, slices.Concat(nodes[0].symbols, nodes[1].symbols)}
		for _, symbol := range merged.symbols {
			lengths[symbol]++
		}
		nodes = append(nodes[2:], merged)
	}
	if slices.Max(lengths[:]) > 15 { // flatter counts give shorter codes
		flat := *counts
		for i, n := range flat {
			if n > 0 {
				flat[i] = n/2 + 1
			}
		}
		return codeLengths(&flat)
	}
	return lengths
}
