package ingest

import (
	"context"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/sorting"
)

// A Reading is what was read from files that belong together.
type Reading struct {
	Captures []*capture.Capture
	Rows     *allocations.Spool // of a trace, else nil; Close releases it
	Meta     *allocations.Meta  // of Rows: what their numbers stand for
}

// Close releases the temporary disk that the rows of a trace lie on. It may be called on nil.
func (r *Reading) Close() error {
	if r == nil || r.Rows == nil {
		return nil
	}
	return r.Rows.Close()
}

// Read reads one file or archive: one trace, where it holds any .etl file, or else all other evidence in the order of
// the names. Captures that were read are returned beside an error that ended the reading.
func Read(ctx context.Context, src Source, opt Options) (*Reading, error) {
	type file struct {
		name     string
		captures []*capture.Capture
	}
	var files []file
	traces := &UnpackedTraces{progress: newProgress(opt.Progress, src)}
	defer func() { _ = traces.Close() }() // temporary files that were read to the end
	err := traces.gather(ctx, src, func(m Member, f *format) error {
		captures, err := f.read(ctx, m, opt)
		if len(captures) > 0 {
			files = append(files, file{m.Name, captures})
		}
		return err
	})
	if len(traces.Files) > 0 {
		if err != nil {
			return &Reading{}, err
		}
		return traces.read(ctx, true)
	}
	r := &Reading{}
	sorting.Stable(files, func(a, b file) int { return NaturalOrder(a.name, b.name) }) // a 7z has an order of its own
	for _, f := range files {
		r.Captures = append(r.Captures, f.captures...)
	}
	if len(r.Captures) > 0 {
		r.Captures[0].Warnings = append(r.Captures[0].Warnings, traces.Warnings...)
	}
	return r, err
}

// ReadTogether reads .etl files, each of which may be packed, as the one trace that they are: kernel.etl with its
// heap.etl.
func ReadTogether(ctx context.Context, srcs []Source, opt Options) (*Reading, error) {
	traces, err := OpenTraces(ctx, srcs, opt.Progress)
	if err != nil {
		return &Reading{}, err
	}
	defer func() { _ = traces.Close() }()
	return traces.read(ctx, false)
}

// read reads the files as one trace. Where they are of different recordings and that is no mistake of whoever gave
// them, the only one with memory events is read.
func (t *UnpackedTraces) read(ctx context.Context, apart bool) (*Reading, error) {
	if err := t.readOnce(ctx); err != nil {
		return &Reading{}, readError(t.Files[0].Name, err)
	}
	result, err := tracecapture.Read(ctx, t.Files, tracecapture.Options{})
	if apart && isRefused(err, etl.CodeOtherBoot) {
		result, err = t.readApart(ctx)
	}
	if err != nil {
		return &Reading{}, readError(t.Files[0].Name, err)
	}
	for _, c := range result.Captures {
		c.Warnings = append(c.Warnings, t.Warnings...)
	}
	t.progress.done()
	return &Reading{Captures: result.Captures, Rows: result.Rows, Meta: result.Meta}, nil
}
