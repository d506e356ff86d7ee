package worker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"heapdrift/ingest"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols/symsrv"
)

// formats are those that evidence may be of.
var formats = ingest.Formats()

// read turns a piece of evidence into captures.
func (w *Worker) read(ctx context.Context, job *queue.Job) error {
	e, err := store.Read(ctx, w.Store, func(v store.View) (store.Evidence, error) { return v.EvidenceByID(ctx, *job.EvidenceID) })
	if err != nil {
		return err
	}
	var reading *ingest.Reading
	var together []int64
	if formats.Of(evidence.Kind(e.Kind)).Together {
		reading, together, err = w.readTrace(ctx, job, e)
	} else {
		reading, err = w.readSnapshots(ctx, job, e)
	}
	defer func() { _ = reading.Close() }() // temporary disk
	if err != nil {
		return refusal(err)
	}
	stored, err := w.store(ctx, job, reading)
	if err != nil {
		return err
	}
	return w.Store.SaveCaptures(ctx, job.Lease, stored, together...)
}

// store puts captures and the allocation table of a trace into the blob store. A nil reading has none.
func (w *Worker) store(ctx context.Context, job *queue.Job, reading *ingest.Reading) ([]store.StoredCapture, error) {
	if reading == nil {
		return nil, nil
	}
	var table store.Table
	if reading.Rows != nil {
		job.Progress(80, "storing allocations")
		digest, err := w.put(ctx, func(out io.Writer) error { return allocations.Write(ctx, out, reading.Rows, reading.Meta) })
		if err != nil {
			return nil, err
		}
		table = store.Table{Key: blob.ContentKey(digest.SHA256), Bytes: digest.Bytes, Sites: len(reading.Meta.Sites)}
	}
	job.Progress(90, "storing captures")
	stored := make([]store.StoredCapture, len(reading.Captures))
	for i, c := range reading.Captures {
		digest, err := w.put(ctx, c.Write)
		if err != nil {
			return nil, err
		}
		stored[i] = store.StoredCapture{Capture: c, Artifact: blob.ContentKey(digest.SHA256), Bytes: digest.Bytes}
		if c.Trace != nil { // a capture with a table is one of a trace
			stored[i].Table = table
		}
	}
	return stored, nil
}

func (w *Worker) readSnapshots(ctx context.Context, job *queue.Job, e store.Evidence) (*ingest.Reading, error) {
	r, err := w.openEvidence(ctx, e)
	if err == nil && formats.Of(evidence.Kind(e.Kind)).Random {
		r, err = local(ctx, r, w.Remote)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	types := HeapTypes{Library: &teamLibrary{store: w.Store, blobs: w.Blobs, path: w.Symbols}}
	defer types.Close()
	ctx = symsrv.InRun(ctx)
	return ingest.Read(ctx, sourceOf(e, r), ingest.Options{Progress: progress(job, 0, 90, "reading"), Types: types.Find})
}

// openEvidence opens a file as it was uploaded.
func (w *Worker) openEvidence(ctx context.Context, e store.Evidence) (blob.Reader, error) {
	r, err := w.Blobs.Open(ctx, blob.ContentKey(e.SHA256))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &queue.Error{Code: "blob-missing", Final: true, Message: fmt.Sprintf("%s is not in the blob store any more; upload it again", e.Name)}
	}
	if err != nil {
		return nil, fmt.Errorf("worker: open %s: %w", e.Name, err)
	}
	return r, nil
}

func sourceOf(e store.Evidence, r blob.Reader) ingest.Source {
	return ingest.Source{Name: e.Name, ReaderAt: r, Size: r.Size()}
}

// progress maps bytes that are done to a part of the job's percents.
func progress(job *queue.Job, from, to int, stage string) func(done, total int64) {
	return func(done, total int64) { job.Progress(from+int(int64(to-from)*done/max(total, 1)), stage) }
}

// refusal is the error of a file that reading it again does not make better.
func refusal(err error) error {
	if refused := evidence.Refusal(err); refused != nil {
		return &queue.Error{Code: refused.Code, Message: refused.Error(), Final: true}
	}
	return err
}
