package allocations

import (
	"encoding/binary"
	"math/bits"
)

// packRows is how many rows are packed together: few enough that their columns stay in the cache.
const packRows = 2048

// Rows are packed by column. A column is the least of its values and, for each row, the difference from it in as many
// bytes as the largest difference needs; where all are alike that is none. A row's process, heap, stack and kind are
// not packed: its site stands for them.
const (
	packEnd = iota // FreeTime; for Never the value of the row before, which needs no bytes
	packAge        // packEnd minus AllocTime; 0 for allocations from before the trace
	packAddress
	packSize
	packSite
	packThread
	packFreeStack
	packFlags
	packColumns
)

// The bits of packFlags: End in the lowest three.
const (
	packEndBits = 7
	packPart    = 1 << 3
	packUnknown = 1 << 4
	packBefore  = 1 << 5 // AllocTime is BeforeTrace
	packNever   = 1 << 6 // FreeTime is Never
)

const (
	packColumnHead = 9 // bytes: the least value, and the width of differences
	packSlack      = 8 // bytes behind the last column, as differences are read eight bytes at a time
	packMost       = packColumns*(packColumnHead+8*packRows) + packSlack
)

// A packer gathers rows by column. The eight spare elements keep the columns, whose length would be a power of two,
// from mapping to the same sets of the processor's cache.
type packer struct {
	n       int
	columns [packColumns][packRows + 8]int64
}

// add takes a row in, for which there must be room.
func (p *packer) add(r *Row) {
	flags, end, age := int64(r.End), r.FreeTime, int64(0)
	if r.Part {
		flags |= packPart
	}
	if r.UnknownFree {
		flags |= packUnknown
	}
	if r.FreeTime == Never {
		flags |= packNever
		if end = r.AllocTime; p.n > 0 {
			end = p.columns[packEnd][p.n-1]
		}
	}
	if r.AllocTime == BeforeTrace {
		flags |= packBefore
	} else {
		age = end - r.AllocTime
	}
	for column, v := range [packColumns]int64{end, age, int64(r.Address), int64(r.Size), int64(r.Site), int64(r.Thread),
		int64(r.FreeStack), flags} {
		p.columns[column][p.n] = v
	}
	p.n++
}

// pack appends the rows to b and forgets them.
func (p *packer) pack(b []byte) []byte {
	for column := range p.columns {
		values := p.columns[column][:p.n]
		least, most := values[0], values[0]
		for _, v := range values {
			least, most = min(least, v), max(most, v)
		}
		width := (bits.Len64(uint64(most)-uint64(least)) + 7) / 8
		b = append(binary.LittleEndian.AppendUint64(b, uint64(least)), byte(width))
		at := len(b)
		b = append(b, make([]byte, width*p.n+packSlack)...)
		if width > 0 {
			for _, v := range values {
				binary.LittleEndian.PutUint64(b[at:], uint64(v)-uint64(least))
				at += width
			}
		}
		b = b[:len(b)-packSlack]
	}
	p.n = 0
	return b[:len(b)+packSlack]
}

// An unpacker reads packed rows.
type unpacker struct {
	columns [packColumns]struct {
		least int64
		width int
		rest  []byte
	}
	values [packColumns][unpackRows]int64
}

// unpackRows is how many rows are unpacked at a time.
const unpackRows = 512

// open begins to read n rows that were packed.
func (u *unpacker) open(b []byte, n int) {
	for i := range u.columns {
		c := &u.columns[i]
		c.least, c.width = int64(binary.LittleEndian.Uint64(b)), int(b[8])
		c.rest = b[packColumnHead:]
		b = c.rest[c.width*n:]
	}
}

// next unpacks rows that follow, but for what their site stands for.
func (u *unpacker) next(rows []Row) {
	for i := range u.columns {
		u.column(i, len(rows))
	}
	for i := range rows {
		end, flags := u.values[packEnd][i], u.values[packFlags][i]
		r := &rows[i]
		*r = Row{
			AllocTime: end - u.values[packAge][i], FreeTime: end, Address: uint64(u.values[packAddress][i]),
			Size: uint64(u.values[packSize][i]),
			Site: uint32(u.values[packSite][i]), Thread: uint32(u.values[packThread][i]),
			FreeStack: uint32(u.values[packFreeStack][i]),
			End:       End(flags & packEndBits), Part: flags&packPart != 0, UnknownFree: flags&packUnknown != 0,
		}
		if flags&packBefore != 0 {
			r.AllocTime = BeforeTrace
		}
		if flags&packNever != 0 {
			r.FreeTime = Never
		}
	}
}

// column unpacks the next n values of a column.
func (u *unpacker) column(i, n int) {
	c, values := &u.columns[i], u.values[i][:n]
	if c.width == 0 {
		for k := range values {
			values[k] = c.least
		}
		return
	}
	mask, at := ^uint64(0)>>(64-8*c.width), 0
	for k := range values {
		values[k] = int64(binary.LittleEndian.Uint64(c.rest[at:])&mask + uint64(c.least))
		at += c.width
	}
	c.rest = c.rest[at:]
}
