package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/internal/blob"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/worker/analysis"
)

// analyse makes a run's report from all captures that have been read for it.
func (w *Worker) analyse(ctx context.Context, job *queue.Job) error {
	in, err := w.Store.InputOfRun(ctx, job.RunID)
	if err != nil {
		return err
	}
	inputs, err := w.load(ctx, in.Captures, func(percent int) { job.Progress(percent/2, "loading captures") })
	if err != nil {
		return err
	}
	names, err := w.loadNames(ctx, in.Names)
	if err != nil {
		return err
	}
	job.Progress(50, "analysing")
	report, err := analysis.Analyze(ctx, inputs, analysis.Options{Names: names})
	var refused *analysis.Error
	if errors.As(err, &refused) {
		return &queue.Error{Code: refused.Code, Message: refused.Message, Final: true}
	}
	if err != nil {
		return err
	}
	if in.NamesError != "" {
		report.Warnings = append(report.Warnings, analysis.Warning{Code: capture.NoSymbols, Message: "the last search for symbols failed: " + in.NamesError, Count: 1})
	}
	job.Progress(70, "writing the report")
	digest, err := w.put(ctx, func(out io.Writer) error { return compress(out, report) })
	if err != nil {
		return err
	}
	job.Progress(85, "storing sites")
	return w.Store.SaveResult(ctx, job.Lease, store.Result{Report: report, Key: blob.ContentKey(digest.SHA256), Revision: in.Revision})
}

// load reads the captures' artifacts and puts the files in the order of time.
func (w *Worker) load(ctx context.Context, refs []store.CaptureRef, progress func(percent int)) ([]analysis.Input, error) {
	var inputs []analysis.Input
	taken := map[string]time.Time{}
	for i, ref := range refs {
		progress(100 * i / len(refs))
		c, err := w.loadCapture(ctx, ref.Artifact)
		if err != nil {
			return nil, fmt.Errorf("worker: capture of %s: %w", ref.File, err)
		}
		if i == 0 || refs[i-1].Evidence != ref.Evidence {
			inputs = append(inputs, analysis.Input{File: ref.File, SHA256: ref.SHA256, Bytes: ref.Bytes})
			if ref.TakenAt != nil {
				taken[ref.SHA256] = *ref.TakenAt
			}
		}
		last := &inputs[len(inputs)-1]
		last.Captures = append(last.Captures, c)
	}
	// Files arrive in any order. Their clock decides where all have one; it may be as coarse as a minute, so the
	// number in the name decides the rest.
	clock := len(taken) == len(inputs)
	slices.SortStableFunc(inputs, func(a, b analysis.Input) int {
		if clock {
			if c := taken[a.SHA256].Compare(taken[b.SHA256]); c != 0 {
				return c
			}
		}
		return cmp.Or(ingest.NaturalOrder(a.File, b.File), cmp.Compare(a.SHA256, b.SHA256))
	})
	return inputs, nil
}

func (w *Worker) loadCapture(ctx context.Context, key string) (*capture.Capture, error) {
	r, err := w.Blobs.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return capture.Read(io.NewSectionReader(r, 0, r.Size()))
}

// compress writes the report as the API serves it.
func compress(out io.Writer, r *analysis.Report) error {
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return fmt.Errorf("worker: compress report: %w", err)
	}
	if err := r.WriteJSON(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("worker: compress report: %w", err)
	}
	return nil
}
