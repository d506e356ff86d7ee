package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/evidence"
)

// UnpackedTraces are .etl files out of whatever they were packed in.
type UnpackedTraces struct {
	Files    []etl.Source
	Warnings []capture.Warning // what was left out of archives

	temporary []io.Closer
	progress  *progress
}

// Close deletes what was unpacked. It may be called on nil.
func (t *UnpackedTraces) Close() error {
	if t == nil {
		return nil
	}
	var err error
	for _, c := range t.temporary {
		err = errors.Join(err, c.Close())
	}
	t.temporary = nil
	return err
}

// OpenTraces unpacks the .etl files of sources, each of which must hold at least one. The sources must stay open as
// long as the traces. Its error is an *evidence.Error unless reading itself failed. report gets the bytes of the
// sources that were consumed; it may be nil.
func OpenTraces(ctx context.Context, srcs []Source, report func(done, total int64)) (*UnpackedTraces, error) {
	t := &UnpackedTraces{progress: newProgress(report, srcs...)}
	for _, src := range srcs {
		held := len(t.Files)
		err := t.gather(ctx, src, nil)
		if err == nil && len(t.Files) == held {
			err = &evidence.Error{Code: evidence.CodeNoEvidence, File: src.Name, Message: "this holds no trace",
				Do: "give traces (.etl) only"}
		}
		if err != nil {
			_ = t.Close() // the error says more
			return nil, err
		}
	}
	return t, nil
}

// gather adds the traces of a source, and what to say about the rest. Where there is no trace it gives the other
// evidence to read, which may be nil; that such a file cannot be read is an error only there.
func (t *UnpackedTraces) gather(ctx context.Context, src Source, read func(Member, *format) error) error {
	others, held := 0, len(t.Files)
	var refused error // by a reader, and none is asked any more
	left, err := eachEvidence(ctx, src, t.progress.source(), func(m Member, f *format) error {
		if f.Together {
			return t.add(src, m)
		}
		others++
		if read == nil || len(t.Files) > held {
			return nil
		}
		err := read(m, f)
		if r := evidence.Refusal(err); r != nil && !isNoEvidence(r.Code) && !isOfArchive(r.Code) {
			refused, read, err = readError(m.Name, err), nil, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(t.Files) == held {
		t.Warnings = append(t.Warnings, leftOutOf(src.Name, left)...)
		return refused
	}
	if others > 0 {
		t.Warnings = append(t.Warnings, capture.Warning{Code: capture.Unsupported, Count: int64(others),
			Message: fmt.Sprintf("Upload the other evidence (%[2]d) as a run: %[1]s also holds a trace, and only the trace is read.", src.Name, others)})
	}
	t.Warnings = append(t.Warnings, leftBeside(src.Name, left)...)
	return nil
}

// add adds a trace: the source itself, or what comes out of it.
func (t *UnpackedTraces) add(src Source, m Member) error {
	if !m.Packed {
		t.Files = append(t.Files, etl.Source{Name: m.Name, ReaderAt: m.w.in, Size: src.Size})
		return nil
	}
	temp, size, err := unpack(m)
	if temp != nil {
		t.temporary = append(t.temporary, temp)
	}
	if err != nil {
		return err
	}
	t.Files = append(t.Files, t.progress.temporary(etl.Source{Name: m.Name, ReaderAt: temp, Size: size}))
	return nil
}
