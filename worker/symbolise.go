package worker

import (
	"context"
	"fmt"

	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/symbols/symsrv"
	"heapdrift/worker/task"
)

// symbolise names the return addresses of a run's captures by all symbols that there are now. Nothing is read again
// but the captures.
func (w *Worker) symbolise(ctx context.Context, job *queue.Job) error {
	naming, err := w.Store.BeginSymbolSearch(ctx, job.RunID)
	if err != nil {
		return err
	}
	h := &host{worker: w, job: job, open: func(ctx context.Context, file int) (blob.Content, error) {
		r, err := w.Blobs.Open(ctx, naming.Captures[file].ArtifactKey)
		if err != nil {
			return nil, fmt.Errorf("worker: capture of %s: %w", naming.Captures[file].Files[0].Name, err)
		}
		return r, nil
	}}
	if err := task.RunName(symsrv.WithRunLimit(ctx), w.Sandbox, task.Name{Captures: len(naming.Captures)}, h); err != nil {
		return refusal(err)
	}
	return w.Store.UpdateNames(ctx, job.Lease, naming, h.names)
}
