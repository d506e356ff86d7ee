package allocations

import (
	"encoding/binary"
	"fmt"
)

// groupColumns are the values of a row group, column by column, and what reading one takes. One goroutine reads into it
// again and again.
type groupColumns struct {
	rows      int
	allocTime []int64
	freeTime  []int64
	size      []int64
	address   []int64
	heap      []int64
	site      []uint32
	process   []uint32
	thread    []uint32
	stack     []uint32
	freeStack []uint32
	end       []uint8
	kind      []uint8
	part      []uint8 // 1 for true
	unknown   []uint8

	chunk []byte
	index []uint32 // into a dictionary; levels before
	longs []int64  // a dictionary
	ints  []uint32
	bytes []uint8
}

var endNames, kindNames = namesUpTo(EndLost), namesUpTo(KindHeapVirtual)

// A namedNumber is a number that has a name in a table.
type namedNumber interface {
	~uint8
	String() string
}

func namesUpTo[T namedNumber](last T) map[string]uint8 {
	numbers := map[string]uint8{}
	for n := T(0); n <= last; n++ {
		numbers[n.String()] = uint8(n)
	}
	return numbers
}

// resize gives a slice of n elements whose content does not matter.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// column decodes the bytes of a column's chunk, which has g.rows values.
func (g *groupColumns) column(column int, chunk []byte) error {
	switch column {
	case columnAllocTime:
		return g.int64s(&g.allocTime, chunk, BeforeTrace)
	case columnFreeTime:
		return g.int64s(&g.freeTime, chunk, Never)
	case columnSize:
		return g.int64s(&g.size, chunk, 0)
	case columnAddress:
		return g.int64s(&g.address, chunk, 0)
	case columnHeap:
		return g.int64s(&g.heap, chunk, 0)
	case columnSite:
		return g.uint32s(&g.site, chunk)
	case columnProcess:
		return g.uint32s(&g.process, chunk)
	case columnThread:
		return g.uint32s(&g.thread, chunk)
	case columnStack:
		return g.uint32s(&g.stack, chunk)
	case columnFreeStack:
		return g.uint32s(&g.freeStack, chunk)
	case columnEnd:
		return g.names(&g.end, chunk, endNames)
	case columnKind:
		return g.names(&g.kind, chunk, kindNames)
	case columnPart:
		return g.booleans(&g.part, chunk)
	default:
		return g.booleans(&g.unknown, chunk)
	}
}

// pages calls values for each page of values with the place of its rows, and dictionary for each dictionary.
func (g *groupColumns) pages(chunk []byte, optional bool, dictionary func(p *page) bool,
	values func(p *page, from, to int) bool) error {
	row := 0
	for row < g.rows {
		p, rest, wrong := nextPage(chunk)
		if wrong != "" {
			return fmt.Errorf("row %d: %s", row, wrong)
		}
		chunk = rest
		switch {
		case p.kind == pageDictionary:
			// As many values as its bytes can hold are enough of a bound for what is made for it.
			if p.encoding != encodingPlain || p.values > int64(len(p.body)) || !dictionary(&p) {
				return fmt.Errorf("row %d: a dictionary cannot be decoded", row)
			}
		case !optional && (p.nulls != 0 || len(p.levels) != 0):
			return fmt.Errorf("row %d: nulls in a column that has none", row)
		case p.values == 0 || p.values > int64(g.rows-row):
			return fmt.Errorf("row %d: a page of %d values, and %d rows are left", row, p.values, g.rows-row)
		default:
			to := row + int(p.values)
			if !values(&p, row, to) {
				return fmt.Errorf("row %d: %d values of encoding %d cannot be decoded", row, p.values, p.encoding)
			}
			row = to
		}
	}
	return nil
}

// indexes decodes indexes into a dictionary of n values.
func (g *groupColumns) indexes(p *page, count, n int) ([]uint32, bool) {
	if len(p.body) == 0 {
		return nil, count == 0
	}
	g.index = resize(g.index, count)
	if !unpackHybrid(g.index, p.body[1:], int(p.body[0])) {
		return nil, false
	}
	var most uint32
	for _, i := range g.index {
		most = max(most, i)
	}
	return g.index, count == 0 || int64(most) < int64(n)
}

// int64s decodes a column of 64 bits; null is what takes the place of nulls, 0 for a column that has none.
func (g *groupColumns) int64s(out *[]int64, chunk []byte, null int64) error {
	*out = resize(*out, g.rows)
	g.longs = g.longs[:0]
	return g.pages(chunk, null != 0, func(p *page) bool {
		g.longs = resize(g.longs, int(p.values))
		return plainInt64s(g.longs, p.body)
	}, func(p *page, from, to int) bool {
		dst := (*out)[from : to-int(p.nulls)]
		ok := false
		switch p.encoding {
		case encodingDelta:
			ok = unpackDelta(dst, p.body)
		case encodingPlain:
			ok = plainInt64s(dst, p.body)
		case encodingDictionary:
			var index []uint32
			if index, ok = g.indexes(p, len(dst), len(g.longs)); ok {
				for i := range dst {
					dst[i] = g.longs[index[i]]
				}
			}
		}
		if p.nulls == 0 {
			return ok
		}
		return ok && g.spread((*out)[from:to], p, null)
	})
}

// spread puts nulls between values, which stand at the beginning.
func (g *groupColumns) spread(values []int64, p *page, null int64) bool {
	g.index = resize(g.index, len(values))
	if !unpackHybrid(g.index, p.levels, 1) {
		return false
	}
	next := len(values) - int(p.nulls) // values before it are still to be placed
	for i := len(values) - 1; i >= 0; i-- {
		if g.index[i] == 0 {
			values[i] = null
			continue
		}
		if next--; next < 0 {
			return false
		}
		values[i] = values[next]
	}
	return next == 0
}

func plainInt64s(dst []int64, src []byte) bool {
	if len(src) != 8*len(dst) {
		return false
	}
	for i := range dst {
		dst[i] = int64(binary.LittleEndian.Uint64(src[8*i:]))
	}
	return true
}

func plainUint32s(dst []uint32, src []byte) bool {
	if len(src) != 4*len(dst) {
		return false
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(src[4*i:])
	}
	return true
}

func (g *groupColumns) uint32s(out *[]uint32, chunk []byte) error {
	*out = resize(*out, g.rows)
	g.ints = g.ints[:0]
	return g.pages(chunk, false, func(p *page) bool {
		g.ints = resize(g.ints, int(p.values))
		return plainUint32s(g.ints, p.body)
	}, func(p *page, from, to int) bool {
		dst := (*out)[from:to]
		switch p.encoding {
		case encodingPlain:
			return plainUint32s(dst, p.body)
		case encodingDictionary:
			index, ok := g.indexes(p, len(dst), len(g.ints))
			if !ok {
				return false
			}
			for i := range dst {
				dst[i] = g.ints[index[i]]
			}
			return true
		}
		return false
	})
}

// names decodes a column of few names into the numbers that they stand for.
func (g *groupColumns) names(out *[]uint8, chunk []byte, numbers map[string]uint8) error {
	*out = resize(*out, g.rows)
	g.bytes = g.bytes[:0]
	return g.pages(chunk, false, func(p *page) bool {
		g.bytes = g.bytes[:0]
		b := p.body
		for range p.values {
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return false
			}
			n := 4 + int(binary.LittleEndian.Uint32(b))
			number, ok := numbers[string(b[4:n])]
			if !ok {
				return false
			}
			g.bytes, b = append(g.bytes, number), b[n:]
		}
		return true
	}, func(p *page, from, to int) bool {
		dst := (*out)[from:to]
		index, ok := g.indexes(p, len(dst), len(g.bytes))
		if !ok || p.encoding != encodingDictionary {
			return false
		}
		for i := range dst {
			dst[i] = g.bytes[index[i]]
		}
		return true
	})
}

func (g *groupColumns) booleans(out *[]uint8, chunk []byte) error {
	*out = resize(*out, g.rows)
	return g.pages(chunk, false, func(*page) bool { return false }, func(p *page, from, to int) bool {
		dst := (*out)[from:to]
		if p.encoding != encodingPlain || len(p.body) != (len(dst)+7)/8 {
			return false
		}
		clear(dst)
		for i, eight := range p.body {
			for bit := 0; eight != 0 && 8*i+bit < len(dst); bit++ { // few are true
				dst[8*i+bit], eight = eight&1, eight>>1
			}
		}
		return true
	})
}
