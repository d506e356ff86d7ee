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
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/blob"
	"heapdrift/internal/jobs"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
)

// analyse makes a run's report from all captures that have been read for it.
func (w *Worker) analyse(ctx context.Context, job *queue.Job) error {
	in, err := store.Read(ctx, w.Store, func(v store.View) (store.AnalysisInput, error) {
		return v.FindAnalysisInput(ctx, job.RunID)
	})
	if err != nil {
		return err
	}
	kept, _ := job.Left().(keptCaptures)
	list, err := load(ctx, w.Blobs, kept, in.Captures, func(done, captures int) {
		job.Progress(jobs.ReportStages.At(jobs.LoadingCaptures, int64(done), int64(captures)))
	})
	if err != nil {
		return err
	}
	names, err := loadNames(ctx, w.Blobs, in.NamesKey)
	if err != nil {
		return err
	}
	job.Progress(jobs.ReportStages.Begin(jobs.Analysing))
	report, err := reportOn(ctx, in, list, names)
	var refused *analysis.Error
	if errors.As(err, &refused) {
		return &queue.Error{Code: refused.Code, Message: refused.Message, Final: true}
	}
	if err != nil {
		return err
	}
	warnOfNames(report, in)
	job.Progress(jobs.ReportStages.Begin(jobs.WritingReport))
	digest, err := w.put(ctx, func(out io.Writer) error { return compress(out, report) })
	if err != nil {
		return err
	}
	job.Progress(jobs.ReportStages.Begin(jobs.StoringSites))
	return w.Store.UpdateResult(ctx, job.Lease, store.Result{Report: report, ReportKey: blob.ContentKey(digest.SHA256),
		Revision: in.Revision, Table: tableOf(report, list)})
}

// reportOn reports on the process that was chosen for the run.
func reportOn(ctx context.Context, in store.AnalysisInput, list []evidenceCaptures,
	names *capture.Names) (*analysis.Report, error) {
	opt, err := optionsOf(in, names)
	if err != nil {
		return nil, err
	}
	opt.Process = in.Process
	return analyzeChosen(ctx, inputsOf(list), opt)
}

// optionsOf are the options that the run's project sets.
func optionsOf(in store.AnalysisInput, names *capture.Names) (analysis.Options, error) {
	opt := analysis.Options{Names: names, WorkUnit: in.WorkUnit, Matters: in.Matters, Settle: in.Settle,
		OwnModules: map[string]bool{}}
	for _, name := range in.OwnModules {
		opt.OwnModules[name] = true
	}
	var err error
	if opt.Rules, err = blame.ParseRules(in.Rules.Text); err != nil {
		return opt, &analysis.Error{Code: "bad-rules",
			Message: fmt.Sprintf("version %d of the project's rules: %v; correct them on the page of rules",
				in.Rules.Version, err)}
	}
	return opt, nil
}

// analyzeChosen reports on the chosen process. Where the evidence has been replaced and no longer shows that process,
// the analysis chooses one itself.
func analyzeChosen(ctx context.Context, inputs []analysis.Input, opt analysis.Options) (*analysis.Report, error) {
	report, err := analysis.Analyze(ctx, inputs, opt)
	var refused *analysis.Error
	if !errors.As(err, &refused) || refused.Code != analysis.CodeNoSuchProcess {
		return report, err
	}
	chosen := opt.Process
	opt.Process = ""
	if report, err = analysis.Analyze(ctx, inputs, opt); err != nil {
		return nil, err
	}
	report.Warnings = append(report.Warnings, analysis.Warning{Code: capture.ProcessGone, Count: 1, Message: fmt.Sprintf(
		"the evidence does not show %q any more, the process that was chosen; this report is about the one that holds the most", chosen)})
	return report, nil
}

// warnOfNames warns, with the reason, where frames may lack names that another search would find.
func warnOfNames(r *analysis.Report, in store.AnalysisInput) {
	if in.NamesError != "" {
		r.Warnings = append(r.Warnings,
			analysis.Warning{Code: capture.NoSymbols, Message: "the last search for symbols failed: " + in.NamesError, Count: 1})
	}
}

// evidenceCaptures groups the captures that were read from one uploaded file.
type evidenceCaptures struct {
	analysis.Input
	taken *time.Time // the first of them; nil where it has no clock
	table store.AllocationTable
}

// isTimeless reports whether the evidence has no clock and nothing depends on its time.
func (in *evidenceCaptures) isTimeless() bool {
	return in.taken == nil &&
		!slices.ContainsFunc(in.Captures, func(c *capture.Capture) bool { return c.Shape != capture.ShapeFacts })
}

// load reads the captures' artifacts, where they are not kept, and puts the evidence in the order of time.
func load(ctx context.Context, blobs blob.Store, kept keptCaptures, refs []store.CaptureRef,
	progress func(done, captures int)) ([]evidenceCaptures, error) {
	var list []evidenceCaptures
	for i, ref := range refs {
		progress(i, len(refs))
		c := kept.take(ref.ArtifactKey)
		if c == nil {
			var err error
			if c, err = loadCapture(ctx, blobs, ref); err != nil {
				return nil, err
			}
		}
		if i == 0 || refs[i-1].EvidenceID != ref.EvidenceID {
			in := evidenceCaptures{taken: ref.TakenAt, table: ref.Table}
			if c.Trace != nil {
				in.taken = &c.Trace.Start
			}
			slices.SortStableFunc(ref.Files, func(a, b store.EvidenceFile) int { return ingest.NaturalOrder(a.Name, b.Name) })
			for _, f := range ref.Files {
				in.Files = append(in.Files, analysis.File{Name: f.Name, SHA256: f.SHA256, Bytes: f.Bytes})
				if f.Work != nil {
					in.Work = f.Work
				}
			}
			list = append(list, in)
		}
		last := &list[len(list)-1]
		last.Captures = append(last.Captures, c)
	}
	// Files arrive in any order. Their clock decides where all have one; it may be as coarse as a minute, so the
	// number in the name decides the rest. Evidence without sites and without a clock comes last.
	clock := !slices.ContainsFunc(list, func(in evidenceCaptures) bool { return in.taken == nil && !in.isTimeless() })
	slices.SortStableFunc(list, func(a, b evidenceCaptures) int {
		if x, y := a.isTimeless(), b.isTimeless(); x != y {
			if x {
				return 1
			}
			return -1
		}
		if clock && a.taken != nil && b.taken != nil {
			if c := a.taken.Compare(*b.taken); c != 0 {
				return c
			}
		}
		return cmp.Or(ingest.NaturalOrder(a.Files[0].Name, b.Files[0].Name),
			cmp.Compare(a.Files[0].SHA256, b.Files[0].SHA256))
	})
	return list, nil
}

func inputsOf(list []evidenceCaptures) []analysis.Input {
	inputs := make([]analysis.Input, len(list))
	for i := range list {
		inputs[i] = list[i].Input
	}
	return inputs
}

// tableOf is the allocation table that a report's sites have rows in; none where it is of snapshots.
func tableOf(r *analysis.Report, list []evidenceCaptures) store.AllocationTable {
	if r.Trace == nil {
		return store.AllocationTable{}
	}
	for _, e := range r.Evidence {
		for i := range list {
			if e.Used && list[i].table.Key != "" && list[i].Files[0].SHA256 == e.SHA256 {
				return list[i].table
			}
		}
	}
	return store.AllocationTable{}
}

func loadCapture(ctx context.Context, blobs blob.Store, ref store.CaptureRef) (*capture.Capture, error) {
	r, err := blobs.Open(ctx, ref.ArtifactKey)
	if err != nil {
		return nil, fmt.Errorf("worker: capture of %s: %w", ref.Files[0].Name, err)
	}
	defer func() { _ = r.Close() }()
	c, err := capture.Read(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return nil, fmt.Errorf("worker: capture of %s: %w", ref.Files[0].Name, err)
	}
	return c, nil
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
