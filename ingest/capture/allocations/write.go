//go:build !client

package allocations

import (
	"context"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// maxEncoders bounds how many row groups are encoded at once: each takes about 25 MB.
const maxEncoders = 4

// Write writes rows as a table, in the order in which a Scan with a single sink passes them. That should be roughly the
// order in which they ended: windows leave out the row groups that ended before them. Rows and meta that are the same
// make the same bytes.
func Write(ctx context.Context, w io.Writer, rows Scanner, meta *Meta) error {
	if meta == nil {
		meta = &Meta{}
	}
	e, err := newEncoder(w, meta)
	if err != nil {
		return err
	}
	err = rows.Scan(ctx, BeforeTrace, Never, e)
	if err == nil {
		err = e.group()
	}
	if broken := e.wait(); broken != nil {
		err = broken // the scan ended because of it
	}
	if err != nil {
		return err
	}
	if err := e.file.Close(); err != nil {
		return failure(CodeWrite, err, "the table's end cannot be written")
	}
	return nil
}

// An encoder gathers rows and has full groups of them encoded by goroutines, which write them one after the other.
type encoder struct {
	file    *parquet.GenericWriter[tableRow]
	pids    map[uint32]uint32
	rows    []Row
	empty   chan []Row // to gather the next in
	full    chan encoderGroup
	last    chan struct{} // closed when what was gathered before is written
	running sync.WaitGroup
	mu      sync.Mutex
	err     error
}

// An encoderGroup is written once before is closed, and then closes done.
type encoderGroup struct {
	rows         []Row
	before, done chan struct{}
}

func newEncoder(w io.Writer, meta *Meta) (*encoder, error) {
	encoders := min(runtime.GOMAXPROCS(0), maxEncoders)
	e := &encoder{
		file: parquet.NewGenericWriter[tableRow](w, tableSchema,
			parquet.DataPageStatistics(false), parquet.CreatedBy("heapdrift", tableVersion, "")),
		pids:  map[uint32]uint32{},
		empty: make(chan []Row, encoders+1),
		full:  make(chan encoderGroup),
		last:  make(chan struct{}),
	}
	pairs, err := meta.pairs()
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		e.file.SetKeyValueMetadata(key, pairs[key])
	}
	for _, p := range meta.Processes {
		e.pids[p.Number] = p.PID
	}
	for range encoders + 1 {
		e.empty <- nil
	}
	close(e.last)
	e.rows = <-e.empty
	for range encoders {
		e.running.Go(e.run)
	}
	return e, nil
}

// AddRows gathers rows: an encoder is a Sink.
func (e *encoder) AddRows(rows []Row) error {
	for len(rows) > 0 {
		if len(e.rows) == groupRows {
			if err := e.group(); err != nil {
				return err
			}
		}
		n := min(len(rows), groupRows-len(e.rows))
		e.rows = append(e.rows, rows[:n]...)
		rows = rows[n:]
	}
	return nil
}

// group hands what was gathered to a goroutine.
func (e *encoder) group() error {
	if len(e.rows) > 0 {
		g := encoderGroup{rows: e.rows, before: e.last, done: make(chan struct{})}
		e.full <- g
		e.last = g.done
		e.rows = (<-e.empty)[:0]
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// wait ends the goroutines and gives the first error of any.
func (e *encoder) wait() error {
	close(e.full)
	e.running.Wait()
	return e.err
}

func (e *encoder) run() {
	var group *parquet.ConcurrentRowGroupWriter // has large buffers, and most goroutines of a small table have no group
	values := make([]parquet.Value, valuesAtOnce)
	for g := range e.full {
		if group == nil {
			group = e.file.BeginRowGroup()
		}
		err := e.encode(group, g.rows, values)
		e.empty <- g.rows
		<-g.before
		e.mu.Lock()
		if err == nil && e.err == nil {
			_, err = group.Commit()
		}
		if err != nil && e.err == nil {
			e.err = failure(CodeWrite, err, "a row group cannot be written")
		}
		e.mu.Unlock()
		close(g.done)
	}
}

// valuesAtOnce is how many values a column is written by.
const valuesAtOnce = 1 << 12

func (e *encoder) encode(group *parquet.ConcurrentRowGroupWriter, rows []Row, values []parquet.Value) error {
	for i, column := range group.ColumnWriters() {
		for chunk := range slices.Chunk(rows, valuesAtOnce) {
			e.values(i, chunk, values)
			if _, err := column.WriteRowValues(values[:len(chunk)]); err != nil {
				return err
			}
		}
		if err := column.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// values fills values with a column of rows. Each column has a loop of its own: one loop that chooses the column by a
// function would call that for each of millions of values.
func (e *encoder) values(column int, rows []Row, values []parquet.Value) {
	values = values[:len(rows)]
	switch column {
	case columnAllocTime:
		for i := range rows {
			values[i] = timeValue(rows[i].AllocTime, BeforeTrace, column)
		}
	case columnFreeTime:
		for i := range rows {
			values[i] = timeValue(rows[i].FreeTime, Never, column)
		}
	case columnSize:
		for i := range rows {
			values[i] = parquet.Int64Value(int64(rows[i].Size))
		}
	case columnSite:
		for i := range rows {
			values[i] = parquet.Int32Value(int32(rows[i].Site))
		}
	case columnEnd:
		for i := range rows {
			values[i] = endValues[min(rows[i].End, EndLost)]
		}
	case columnPart:
		for i := range rows {
			values[i] = parquet.BooleanValue(rows[i].Part)
		}
	case columnUnknown:
		for i := range rows {
			values[i] = parquet.BooleanValue(rows[i].UnknownFree)
		}
	case columnAddress:
		for i := range rows {
			values[i] = parquet.Int64Value(int64(rows[i].Address))
		}
	case columnHeap:
		for i := range rows {
			values[i] = parquet.Int64Value(int64(rows[i].Heap))
		}
	case columnProcess:
		for i := range rows {
			values[i] = parquet.Int32Value(int32(rows[i].Process))
		}
	case columnPID:
		for i := range rows {
			values[i] = parquet.Int32Value(int32(e.pids[rows[i].Process]))
		}
	case columnThread:
		for i := range rows {
			values[i] = parquet.Int32Value(int32(rows[i].Thread))
		}
	case columnStack:
		for i := range rows {
			values[i] = parquet.Int32Value(int32(rows[i].Stack))
		}
	case columnFreeStack:
		for i := range rows {
			values[i] = parquet.Int32Value(int32(rows[i].FreeStack))
		}
	case columnKind:
		for i := range rows {
			values[i] = kindValues[min(rows[i].Kind, KindHeapVirtual)]
		}
	}
}

// timeValue is null for a time that lies outside of the trace.
func timeValue(t, outside int64, column int) parquet.Value {
	if t == outside {
		return parquet.NullValue().Level(0, 0, column)
	}
	return parquet.Int64Value(t).Level(0, 1, column)
}

var endValues, kindValues = nameValues(EndLost), nameValues(KindHeapVirtual)

// nameValues are the names of numbers up to last.
func nameValues[T namedNumber](last T) []parquet.Value {
	var values []parquet.Value
	for n := T(0); n <= last; n++ {
		values = append(values, parquet.ByteArrayValue([]byte(n.String())))
	}
	return values
}
