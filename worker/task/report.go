package task

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/jobs"
)

// A Report is the task that makes the report of a run, or that on a window of its trace. The Host opens the artifact of
// each capture by its index, the names of frames by NamesFile, and the allocation table of a capture by TableFile.
type Report struct {
	// Captures are those of the run; captures of one piece of evidence follow one another.
	Captures []CaptureFile `json:"captures"`
	HasNames bool          `json:"has_names"` // false before the first search for symbols
	Settings Settings      `json:"settings"`
	Window   *TraceWindow  `json:"window,omitempty"` // nil for the report of the run
}

// NamesFile is the index of the names of frames.
func (t *Report) NamesFile() int { return len(t.Captures) }

// TableFile is the index of the allocation table of a capture.
func (t *Report) TableFile(index int) int { return len(t.Captures) + 1 + index }

// Settings are what the project and its policy set for a report.
type Settings struct {
	Process      string                       `json:"process,omitempty"`     // as analysis.Options.Process
	NamesError   string                       `json:"names_error,omitempty"` // why the last search for symbols failed; "" where it did not
	WorkUnit     string                       `json:"work_unit,omitempty"`   // of EvidenceFile.Work
	Rules        string                       `json:"rules,omitempty"`       // text of the project's rules
	RulesVersion int                          `json:"rules_version,omitempty"`
	OwnModules   []string                     `json:"own_modules,omitempty"` // as analysis.Options.OwnModules
	Matters      *analysis.RequestedThreshold `json:"matters,omitempty"`
	Settle       time.Duration                `json:"settle,omitempty"` // as analysis.Options.Settle
}

// A Made is what the report rests on.
type Made struct {
	// Table is the CaptureFile.Table that the report's sites have rows in; "" for none.
	Table string `json:"table"`
}

// Do makes the report and hands it to the Host. Its error is an *analysis.Error where the captures do not give one.
func (t *Report) Do(ctx context.Context, h Host) (made Made, err error) {
	list, err := load(ctx, h, t.Captures)
	if err != nil {
		return made, err
	}
	var names *capture.Names
	if t.HasNames {
		if names, err = openNames(ctx, h, t.NamesFile()); err != nil {
			return made, err
		}
	}
	h.Progress(jobs.ReportStages.Begin(jobs.Analysing))
	opt, err := t.Settings.options(names)
	if err != nil {
		return made, err
	}
	var r *analysis.Report
	if t.Window != nil {
		r, err = t.ofWindow(ctx, h, list, opt)
	} else {
		r, err = analyzeChosen(ctx, inputsOf(list), opt)
	}
	if err != nil {
		return made, err
	}
	t.Settings.warn(r)
	if used := tableOf(r, list); used != nil {
		made.Table = used.table
	}
	h.Progress(jobs.ReportStages.Begin(jobs.WritingReport))
	return made, h.StoreReport(ctx, r, func(out io.Writer) error { return compress(out, r) })
}

// options are the options of the analysis.
func (s *Settings) options(names *capture.Names) (analysis.Options, error) {
	opt := analysis.Options{Names: names, WorkUnit: s.WorkUnit, Matters: s.Matters, Settle: s.Settle, Process: s.Process,
		OwnModules: map[string]bool{}}
	for _, name := range s.OwnModules {
		opt.OwnModules[name] = true
	}
	var err error
	if opt.Rules, err = blame.ParseRules(s.Rules); err != nil {
		return opt, &analysis.Error{Code: "bad-rules",
			Message: fmt.Sprintf("version %d of the project's rules: %v; correct them on the page of rules",
				s.RulesVersion, err)}
	}
	return opt, nil
}

// warn warns, with the reason, where frames may lack names that another search would find.
func (s *Settings) warn(r *analysis.Report) {
	if s.NamesError != "" {
		r.Warnings = append(r.Warnings,
			analysis.Warning{Code: capture.NoSymbols, Message: "the last search for symbols failed: " + s.NamesError, Count: 1})
	}
}

// compress writes the report as the API serves it.
func compress(out io.Writer, r *analysis.Report) error {
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return fmt.Errorf("task: compress report: %w", err)
	}
	if err := r.WriteJSON(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("task: compress report: %w", err)
	}
	return nil
}

// uncompress reads what compress wrote, with what it has left out, until ctx is done.
func uncompress(ctx context.Context, in io.Reader, rest *analysis.Unwritten) (*analysis.Report, error) {
	z, err := zstd.NewReader(readerUntil{ctx, in}, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("task: report: %w", err)
	}
	defer z.Close()
	r, err := analysis.ReadJSON(z)
	if err != nil {
		return nil, err
	}
	return r, r.Restore(rest)
}

// A readerUntil reads until its context is done.
type readerUntil struct {
	ctx context.Context
	io.Reader
}

func (r readerUntil) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// analyzeChosen reports on the chosen process. Where the evidence has been replaced and no longer shows that process,
// the analysis chooses one itself.
func analyzeChosen(ctx context.Context, inputs []analysis.Input, opt analysis.Options) (*analysis.Report, error) {
	report, err := analysis.Analyze(ctx, inputs, opt)
	if !isNoSuchProcess(err) {
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
