package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/jobs"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/worker/task"
)

// analyse makes a run's report from all captures that have been read for it.
func (w *Worker) analyse(ctx context.Context, job *queue.Job) error {
	in, err := store.Read(ctx, w.Store, func(v store.View) (store.AnalysisInput, error) {
		return v.FindAnalysisInput(ctx, job.RunID)
	})
	if err != nil {
		return err
	}
	h := &host{worker: w, job: job, open: func(ctx context.Context, file int) (blob.Content, error) {
		return openInput(ctx, w.Blobs, &in, file)
	}}
	made, err := task.RunReport(ctx, w.Sandbox, reportTask(&in), h)
	if err != nil {
		return refusal(err)
	}
	table, ok := tableOf(made, in.Captures)
	if h.report == nil || !ok {
		return fmt.Errorf("worker: the report of run %d is not there, or rests on a table of another run", job.RunID)
	}
	job.Progress(jobs.ReportStages.Begin(jobs.StoringSites))
	return w.Store.UpdateResult(ctx, job.Lease, store.Result{Report: h.report, ReportKey: h.reportKey,
		Revision: in.Revision, Table: table})
}

// reportTask is the task that makes the report on the input.
func reportTask(in *store.AnalysisInput) task.Report {
	t := task.Report{HasNames: in.NamesKey != "", Settings: task.Settings{Process: in.Process, NamesError: in.NamesError,
		WorkUnit: in.WorkUnit, Rules: in.Rules.Text, RulesVersion: in.Rules.Version, OwnModules: in.OwnModules,
		Matters: in.Matters, Settle: in.Settle}}
	for _, ref := range in.Captures {
		c := task.CaptureFile{Evidence: ref.EvidenceID, TakenAt: ref.TakenAt, Table: ref.Table.Key}
		for _, f := range ref.Files {
			c.Files = append(c.Files, task.EvidenceFile{File: task.File{Name: f.Name, SHA256: f.SHA256}, Bytes: f.Bytes,
				Work: f.Work})
		}
		t.Captures = append(t.Captures, c)
	}
	return t
}

// openInput opens a file of the task that makes the report on the input.
func openInput(ctx context.Context, blobs blob.Store, in *store.AnalysisInput, file int) (blob.Content, error) {
	t := task.Report{Captures: make([]task.CaptureFile, len(in.Captures))}
	table := file - t.TableFile(0)
	key, what := "", "names"
	switch {
	case file >= 0 && file < len(in.Captures):
		key, what = in.Captures[file].ArtifactKey, "capture of "+in.Captures[file].Files[0].Name
	case file == t.NamesFile():
		key = in.NamesKey
	case table >= 0 && table < len(in.Captures):
		key, what = in.Captures[table].Table.Key, "allocation table"
	}
	if key == "" {
		return nil, fmt.Errorf("worker: a report has no file %d", file)
	}
	r, err := blobs.Open(ctx, key)
	if table >= 0 && errors.Is(err, blob.ErrNotFound) {
		return nil, analysis.ErrTableMissing
	}
	if err != nil {
		return nil, fmt.Errorf("worker: %s: %w", what, err)
	}
	return r, nil
}

// tableOf is the allocation table that a report's sites have rows in; zero where it is of snapshots. ok is false for a
// table that the captures do not have.
func tableOf(made task.Made, captures []store.CaptureRef) (table store.AllocationTable, ok bool) {
	if made.Table == "" {
		return table, true
	}
	at := slices.IndexFunc(captures, func(c store.CaptureRef) bool { return c.Table.Key == made.Table })
	if at < 0 {
		return table, false
	}
	return captures[at].Table, true
}

// StoreReport implements task.Host.
func (h *host) StoreReport(ctx context.Context, r *analysis.Report, write func(io.Writer) error) error {
	digest, err := h.worker.put(ctx, write)
	h.report, h.reportKey = r, blob.ContentKey(digest.SHA256)
	return err
}
