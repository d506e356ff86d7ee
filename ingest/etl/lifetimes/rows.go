package lifetimes

import (
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/evidence"
)

// batch is how many rows a Sink gets at once, at most: few enough that they are in the processor's first cache still.
const batch = 128

// rows gathers rows for the sink. After an error it drops what comes.
type rows struct {
	sink allocations.Sink
	buf  []allocations.Row
	err  error
}

// next is an empty row to fill in.
func (r *rows) next() *allocations.Row {
	if len(r.buf) == cap(r.buf) {
		r.flush()
	}
	r.buf = append(r.buf, allocations.Row{})
	return &r.buf[len(r.buf)-1]
}

func (r *rows) flush() {
	if len(r.buf) > 0 && r.err == nil && r.sink != nil {
		if err := r.sink.AddRows(r.buf); err != nil {
			r.err = &evidence.Error{Code: CodeSink, Message: "the rows could not be passed on", Err: err, Internal: true}
		}
	}
	r.buf = r.buf[:0]
}
