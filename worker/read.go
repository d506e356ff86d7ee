package worker

import (
	"context"
	"errors"
	"fmt"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
)

// read turns a piece of evidence into captures.
func (w *Worker) read(ctx context.Context, job *queue.Job) error {
	evidence, err := w.Store.EvidenceByID(ctx, *job.EvidenceID)
	if err != nil {
		return err
	}
	captures, err := w.readBlob(ctx, job, evidence)
	if err != nil {
		return err
	}
	job.Progress(90, "storing captures")
	stored := make([]store.StoredCapture, len(captures))
	for i, c := range captures {
		digest, err := w.put(ctx, c.Write)
		if err != nil {
			return err
		}
		stored[i] = store.StoredCapture{Capture: c, Artifact: blob.ContentKey(digest.SHA256), Bytes: digest.Bytes}
	}
	return w.Store.SaveCaptures(ctx, job.Lease, stored)
}

func (w *Worker) readBlob(ctx context.Context, job *queue.Job, e store.Evidence) ([]*capture.Capture, error) {
	r, err := w.Blobs.Open(ctx, blob.ContentKey(e.SHA256))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &queue.Error{Code: "blob-missing", Final: true, Message: fmt.Sprintf("%s is not in the blob store any more; upload it again", e.Name)}
	}
	if err != nil {
		return nil, fmt.Errorf("worker: open %s: %w", e.Name, err)
	}
	defer func() { _ = r.Close() }()
	captures, err := ingest.Read(ctx, ingest.Source{Name: e.Name, ReaderAt: r, Size: r.Size()}, ingest.Options{
		Progress: func(done, total int64) { job.Progress(int(90*done/max(total, 1)), "reading") },
	})
	var refused *ingest.Error
	if errors.As(err, &refused) {
		return nil, &queue.Error{Code: refused.Code, Message: refused.Error(), Final: true}
	}
	return captures, err
}
