package allocations

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// groupRows is how many rows a row group has, but the last: it bounds the memory of writing and scanning.
const groupRows = 1 << 17

// maxFooter is the most bytes of a footer that are read: stacks take a quarter of it.
const maxFooter = 256 << 20

// The most rows in a group that are read, and the most bytes of a column of so many rows.
const (
	maxGroupRows     = 1 << 20
	maxBytesPerRow   = 32
	maxBytesPerChunk = 1 << 16
)

// The keys of a table's metadata.
const (
	keyVersion   = "heapdrift.allocations" // the version
	keyTrace     = "heapdrift.trace"
	keyProcesses = "heapdrift.processes"
	keySites     = "heapdrift.sites"
	keyImages    = "heapdrift.images"
	keyStacks    = "heapdrift.stacks"
	keyNote      = "heapdrift.note" // why something is left out
)

const tableVersion = "1"

const parquetMagic = "PAR1"

// A Table is a Parquet file of rows, as Write makes it. It may be scanned by any number of goroutines.
type Table struct {
	r          io.ReaderAt
	rows       int64
	groups     []rowGroup
	meta       map[string]string
	forWindows bool
	kept       *keptColumns
}

// Open opens a table of size bytes: it reads the footer and checks what it says. Pages are checked as they are read.
func Open(r io.ReaderAt, size int64) (*Table, error) {
	tail := make([]byte, 8)
	if size < 12 {
		return nil, failure(CodeForeign, nil, "%d bytes are no Parquet file", size)
	}
	if err := readFull(r, tail, size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != parquetMagic {
		return nil, failure(CodeForeign, nil, "no Parquet file, or one that was cut off: it does not end in PAR1")
	}
	if length > min(size-12, maxFooter) {
		return nil, failure(CodeDamaged, nil, "a footer of %d bytes in a file of %d", length, size)
	}
	b := make([]byte, length)
	if err := readFull(r, b, size-8-length); err != nil {
		return nil, err
	}
	f, err := readFooter(b)
	if err != nil {
		return nil, err
	}
	if err := f.check(size - 8 - length); err != nil {
		return nil, err
	}
	return &Table{r: r, rows: f.rows, groups: f.groups, meta: f.meta, kept: &keptColumns{}}, nil
}

func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	e := failure(CodeRead, err, "%d bytes of the table at offset %d cannot be read", len(b), at)
	if err == nil || errors.Is(err, io.EOF) {
		e.Code = CodeDamaged // shorter than it was said to be
	}
	return e
}

// check says what keeps a file whose pages end at end from being a table.
func (f *footer) check(end int64) error {
	version, ours := f.meta[keyVersion]
	switch {
	case !ours:
		return failure(CodeForeign, nil, "a Parquet file without the key "+keyVersion+": no allocation table")
	case version != tableVersion:
		return failure(CodeVersion, nil, "an allocation table of version %q; %s is known", version, tableVersion)
	case !f.ours():
		return failure(CodeForeign, nil, "a Parquet file with other columns than an allocation table")
	}
	var rows int64
	for i := range f.groups {
		g := &f.groups[i]
		if g.rows <= 0 || g.rows > maxGroupRows {
			return failure(CodeDamaged, nil, "row group %d has %d rows; up to %d are read", i, g.rows, maxGroupRows)
		}
		rows += g.rows
		for k := range g.chunks {
			c := &g.chunks[k]
			start, message := c.start(), ""
			switch {
			case c.codec != 0:
				message = "is compressed: it was written by another program"
			case c.values != g.rows:
				message = fmt.Sprintf("has %d values for %d rows", c.values, g.rows)
			case c.nulls < 0 || c.nulls > g.rows:
				message = fmt.Sprintf("has %d nulls in %d rows", c.nulls, g.rows)
			case start < 4 || c.size <= 0 || start > end || c.size > end-start:
				message = fmt.Sprintf("lies at %d with %d bytes, outside of the %d before the footer", start, c.size, end)
			case c.size > maxBytesPerChunk+maxBytesPerRow*g.rows:
				message = fmt.Sprintf("has %d bytes for %d rows", c.size, g.rows)
			default:
				continue
			}
			return failure(CodeDamaged, nil, "column %s of row group %d %s", columnShapes[k].name, i, message)
		}
	}
	if rows != f.rows {
		return failure(CodeDamaged, nil, "%d rows in its groups, %d in the table", rows, f.rows)
	}
	return nil
}

// Len is the number of rows.
func (t *Table) Len() int64 { return t.rows }

// ForWindows is the same table for scans that need only what Window, Samples and Peaks take: the times, Size, Site,
// End, Part and Unknown. It reads half of the bytes; other fields are zero.
func (t *Table) ForWindows() *Table {
	brief := *t
	brief.forWindows = true
	return &brief
}

// Scan passes the rows of all row groups that can matter to the window [from, to] to the sinks.
func (t *Table) Scan(ctx context.Context, from, to int64, sinks ...Sink) error {
	var groups []int
	for i := range t.groups {
		if t.groups[i].matters(from, to) {
			groups = append(groups, i)
		}
	}
	pool := sync.Pool{New: func() any { return &tableReader{} }}
	return deal(ctx, int64(len(groups)), sinks, func(part int64, sink Sink) error {
		r := pool.Get().(*tableReader)
		defer pool.Put(r)
		return r.group(ctx, t, groups[part], sink)
	})
}

// matters says whether a row of the group can matter to a window. A row without a time begins before or ends after all.
func (g *rowGroup) matters(from, to int64) bool {
	alloc, free := &g.chunks[columnAllocTime], &g.chunks[columnFreeTime]
	if low, _, ok := alloc.bounds(); ok && alloc.nulls == 0 && low > to {
		return false
	}
	_, high, ok := free.bounds()
	return !ok || free.nulls > 0 || high >= from
}

// A tableReader reads row groups for one goroutine at a time.
type tableReader struct {
	columns groupColumns
	rows    [512]Row
}

func (r *tableReader) group(ctx context.Context, t *Table, number int, sink Sink) error {
	kept, err := r.load(t, number)
	if err != nil {
		return err
	}
	for from, n := 0, int(t.groups[number].rows); from < n; from += len(r.rows) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rows := r.rows[:min(len(r.rows), n-from)]
		if kept != nil {
			kept.fillWindowFields(rows, from)
		} else {
			r.columns.fillWindowFields(rows, from)
		}
		if !t.forWindows {
			r.columns.others(rows, from)
		}
		if err := sink.AddRows(rows); err != nil {
			return err
		}
	}
	return nil
}

// load gets a row group ready: as it is kept, or, where that is nil, in the columns.
func (r *tableReader) load(t *Table, number int) (*keptGroup, error) {
	if t.forWindows {
		if kept := t.kept.get(number); kept != nil {
			return kept, nil
		}
	}
	if err := r.decode(t, number); err != nil || !t.forWindows || !t.kept.hasSpace(r.columns.rows) {
		return nil, err
	}
	kept := r.columns.handOver()
	if kept != nil {
		t.kept.put(number, kept)
	}
	return kept, nil
}

// decode reads the columns of a row group that the table's scans take.
func (r *tableReader) decode(t *Table, number int) error {
	g := &t.groups[number]
	r.columns.rows = int(g.rows)
	columns := columnCount
	if t.forWindows {
		columns = columnsOfWindows
	}
	for column := range columns {
		if column == columnPID { // Meta's, by process
			continue
		}
		c := &g.chunks[column]
		r.columns.chunk = resize(r.columns.chunk, int(c.size))
		if err := readFull(t.r, r.columns.chunk, c.start()); err != nil {
			return err
		}
		if err := r.columns.column(column, r.columns.chunk); err != nil {
			return failure(CodeDamaged, err, "column %s of row group %d, at offset %d",
				columnShapes[column].name, number, c.start())
		}
	}
	return nil
}

// fillWindowFields fills the fields that windows take from the columns.
func (g *groupColumns) fillWindowFields(rows []Row, from int) {
	to := from + len(rows)
	allocTime, freeTime, size, site := g.allocTime[from:to], g.freeTime[from:to], g.size[from:to], g.site[from:to]
	end, part, unknown := g.end[from:to], g.part[from:to], g.unknown[from:to]
	for i := range rows {
		r := &rows[i]
		r.AllocTime, r.FreeTime, r.Size, r.Site = allocTime[i], freeTime[i], uint64(size[i]), site[i]
		r.End, r.Part, r.UnknownFree = End(end[i]), part[i] != 0, unknown[i] != 0
	}
}

func (g *groupColumns) others(rows []Row, from int) {
	for i := range rows {
		r, k := &rows[i], from+i
		r.Address, r.Heap = uint64(g.address[k]), uint64(g.heap[k])
		r.Process, r.Thread, r.Stack, r.FreeStack = g.process[k], g.thread[k], g.stack[k], g.freeStack[k]
		r.Kind = Kind(g.kind[k])
	}
}
