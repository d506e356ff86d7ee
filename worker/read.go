package worker

import (
	"context"
	"errors"
	"fmt"

	"heapdrift/ingest"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/ingest/evidence"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/outage"
	"heapdrift/internal/queue"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols/symsrv"
	"heapdrift/worker/task"
)

// formats are those that evidence may be of.
var formats = ingest.Formats()

// read turns a piece of evidence into captures. A trace is read together with those other files of its run that are of
// the same recording.
func (w *Worker) read(ctx context.Context, job *queue.Job) error {
	files, stored, err := w.filesOf(ctx, *job.EvidenceID)
	if err != nil {
		return err
	}
	if stored {
		return w.Store.CreateCaptures(ctx, job.Lease, nil, idsOf(files)...)
	}
	t := task.Read{Trace: isTrace(files[0])}
	for _, f := range files {
		t.Files = append(t.Files, task.File{Name: f.Name, SHA256: f.SHA256})
	}
	h := &host{worker: w, job: job, open: func(ctx context.Context, file int) (blob.Content, error) {
		r, err := w.openEvidence(ctx, files[file])
		if err != nil || !formats.Of(evidence.Kind(files[file].Kind)).Random {
			return r, err
		}
		return blob.Local(ctx, r)
	}}
	covered, err := task.RunRead(symsrv.WithRunLimit(ctx), w.Sandbox, t, h)
	if err != nil {
		return refusal(err)
	}
	var together []int64
	for _, file := range covered {
		if file < 0 || file >= len(files) {
			return fmt.Errorf("worker: the reader names file %d of %d", file, len(files))
		}
		together = append(together, files[file].ID)
	}
	return w.Store.CreateCaptures(ctx, job.Lease, h.captures, together...)
}

// filesOf are a piece of evidence and, of a trace, the files of its run that may be of the same recording. stored says
// that they have been read together already.
func (w *Worker) filesOf(ctx context.Context, id int64) (files []store.Evidence, stored bool, err error) {
	err = w.Store.View(ctx, func(v store.View) error {
		e, err := v.FindEvidence(ctx, id)
		if err != nil {
			return err
		}
		files = []store.Evidence{e}
		if isTrace(e) {
			files, stored, err = v.ListTraceFiles(ctx, e)
		}
		return err
	})
	if err != nil || stored {
		return files, stored, err
	}
	return readable(files), false, nil
}

// readable are a file, and those of the others that may be read with it.
func readable(files []store.Evidence) []store.Evidence {
	kept := files[:1]
	for _, f := range files[1:] {
		if f.State != "failed" || f.ErrorCode == tracecapture.CodeNoMemory { // the kernel's half may hold none
			kept = append(kept, f)
		}
	}
	return kept
}

func isTrace(e store.Evidence) bool { return formats.Of(evidence.Kind(e.Kind)).Together }

func idsOf(files []store.Evidence) []int64 {
	ids := make([]int64, len(files))
	for i := range files {
		ids[i] = files[i].ID
	}
	return ids
}

// openEvidence opens a file as it was uploaded.
func (w *Worker) openEvidence(ctx context.Context, e store.Evidence) (blob.Content, error) {
	r, err := w.Blobs.Open(ctx, blob.ContentKey(e.SHA256))
	if errors.Is(err, blob.ErrNotFound) {
		return nil, &evidence.Error{Code: "blob-missing", File: e.Name, Message: "the file is not in the blob store any more",
			Do: "upload it again"}
	}
	if err != nil {
		return nil, fmt.Errorf("worker: open %s: %w", e.Name, err)
	}
	return r, nil
}

// refusal is the error of a task that another attempt would end in the same way, or of a process that ended before its
// task. What a reader says of a file in an outage is not believed: it may have met the outage.
func refusal(err error) error {
	if outage.Of(err) != outage.None {
		return err
	}
	if refused := (*analysis.Error)(nil); errors.As(err, &refused) {
		return &queue.Error{Code: refused.Code, Message: refused.Message, Final: true}
	}
	if refused := evidence.Refusal(err); refused != nil {
		return &queue.Error{Code: refused.Code, Message: refused.Error(), Final: true}
	}
	if ended := (*sandbox.ProcessError)(nil); errors.As(err, &ended) {
		return &queue.Error{Code: ended.Code, Message: ended.Message, Final: !ended.Again, Cause: ended.Said}
	}
	return err
}
