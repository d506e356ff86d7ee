package worker

import (
	"cmp"
	"context"
	"slices"

	"heapdrift/ingest"
	"heapdrift/ingest/etl/tracecapture"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
)

// readTrace reads a trace together with those other files of its run that are of the same recording, as the sessions of
// kernel and heap write them before a merge. It returns the ids of those too. The reading is nil where all is stored
// already.
func (w *Worker) readTrace(ctx context.Context, job *queue.Job, e store.Evidence) (*ingest.Reading, []int64, error) {
	var files []store.Evidence
	var done bool
	err := w.Store.View(ctx, func(v store.View) (err error) {
		files, done, err = v.TraceFiles(ctx, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if done {
		return nil, idsOf(files), nil
	}
	job.Progress(0, "opening the trace")
	p := &pieces{worker: w}
	defer p.close()
	if err := p.begin(ctx, e); err != nil {
		return nil, nil, err
	}
	for _, f := range files[1:] {
		if f.State == "failed" && f.ErrorCode != tracecapture.CodeNoMemory { // the kernel's half may hold none
			continue
		}
		if err := p.join(ctx, f); err != nil {
			return nil, nil, err
		}
	}
	opt := ingest.Options{Progress: progress(job, 0, 80, "reading the trace")}
	if len(p.sources) == 1 {
		reading, err := ingest.Read(ctx, p.sources[0].Source, opt)
		return reading, p.ids, err
	}
	// In the order of upload: the same files give the same captures, whichever of them this job is for.
	slices.SortFunc(p.sources, func(a, b piece) int { return cmp.Compare(a.id, b.id) })
	sources := make([]ingest.Source, len(p.sources))
	for i := range p.sources {
		sources[i] = p.sources[i].Source
	}
	reading, err := ingest.ReadTogether(ctx, sources, opt)
	return reading, p.ids, err
}

func idsOf(files []store.Evidence) []int64 {
	ids := make([]int64, len(files))
	for i := range files {
		ids[i] = files[i].ID
	}
	return ids
}
