package worker

import (
	"context"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// Report makes the whole report on a window of a run's trace, about the process that the run's report is about. head is
// that report without its sites, in what it rests on; both are of one View. Errors are as those of Window.
func (w *WindowAnswers) Report(ctx context.Context, head *analysis.Report, in store.AnalysisInput,
	window capture.Window) (*analysis.Report, error) {
	if head.Trace == nil {
		return nil, notATrace()
	}
	if err := checkWindow(window, head.Trace); err != nil {
		return nil, err
	}
	names, err := loadNames(ctx, w.Blobs, in.NamesKey)
	if err != nil {
		return nil, err
	}
	list, err := load(ctx, w.Blobs, nil, in.Captures, func(int, int) {})
	if err != nil {
		return nil, err
	}
	if err := w.narrow(ctx, list, head, window); err != nil {
		return nil, err
	}
	opt, err := optionsOf(in, names)
	if err != nil {
		return nil, err
	}
	r, err := analysis.Analyze(ctx, inputsOf(list), opt)
	if err != nil {
		return nil, err
	}
	r.Warnings = append(choices(head.Warnings), r.Warnings...)
	warnOfNames(r, in)
	return r, nil
}

// narrow leaves of all captures only that of the report's process, with the numbers of the window.
func (w *WindowAnswers) narrow(ctx context.Context, list []evidenceCaptures, head *analysis.Report,
	window capture.Window) error {
	used := tableOf(head, list)
	if used.Key == "" {
		return readAgain()
	}
	table, blob, err := openAllocations(ctx, w.Blobs, used.Key)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }()
	left := 0
	for i := range list {
		if list[i].table != used {
			list[i].Captures = nil
			continue
		}
		all := list[i].Captures
		if !isWhole(window, head.Trace) { // else they know the peaks better than the table, as takePeaks says
			if all, err = capture.CutToWindow(ctx, all, table, window); err != nil {
				return err
			}
		}
		list[i].Captures = slices.DeleteFunc(all, func(c *capture.Capture) bool { return !isAbout(head, c) })
		left += len(list[i].Captures)
	}
	if left == 0 { // with the kernel's half of a pair the process got its name, for one
		return readAgain()
	}
	return nil
}

func readAgain() error {
	return &analysis.Error{Code: analysis.CodeReadAgain,
		Message: "the run's trace was read again since its report; ask again when the next report is there"}
}

// isAbout reports whether a report of a trace is about the process of a capture.
func isAbout(r *analysis.Report, c *capture.Capture) bool {
	began := allocations.BeforeTrace
	if at := r.Trace.BeganNS; at != nil {
		began = *at
	}
	return c.Trace != nil && c.Process.PID == r.Process.PID && c.Process.Name == r.Process.Name && c.Trace.Began == began
}

// choices are the warnings that say what a report leaves out.
func choices(warnings []analysis.Warning) []analysis.Warning {
	var list []analysis.Warning
	for _, w := range warnings {
		if w.Code == capture.SeveralProcesses || w.Code == capture.ProcessGone {
			list = append(list, w)
		}
	}
	return list
}
