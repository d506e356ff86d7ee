package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// A TraceWindow is a window of a run's trace, and what the run's report is about.
type TraceWindow struct {
	capture.Window
	// Head is the report of the run without its sites, as analysis.Report.WriteJSON writes it.
	Head []byte `json:"head"`
}

// ofWindow makes the report on the window, about the process that the run's report is about.
func (t *Report) ofWindow(ctx context.Context, h Host, list []evidenceCaptures,
	opt analysis.Options) (*analysis.Report, error) {
	head, err := analysis.ReadJSON(bytes.NewReader(t.Window.Head))
	if err != nil {
		return nil, err
	}
	if err := t.narrow(ctx, h, list, head); err != nil {
		return nil, err
	}
	opt.Process = "" // the captures of the process are all that is left
	r, err := analysis.Analyze(ctx, inputsOf(list), opt)
	if err != nil {
		return nil, err
	}
	r.Warnings = append(choices(head.Warnings), r.Warnings...)
	return r, nil
}

// narrow leaves of all captures only those of the report's process, with the numbers of the window.
func (t *Report) narrow(ctx context.Context, h Host, list []evidenceCaptures, head *analysis.Report) error {
	found := tableOf(head, list)
	if found == nil {
		return ReadAgain()
	}
	used := found.table
	content, err := h.Open(ctx, t.TableFile(found.first))
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // read only
	table, err := allocations.Open(content, content.Size())
	if err != nil {
		return fmt.Errorf("task: allocation table: %w", err)
	}
	left := 0
	for i := range list {
		if list[i].table != used {
			list[i].Captures = nil
			continue
		}
		all := list[i].Captures
		if !IsWhole(t.Window.Window, head.Trace) { // else they know the peaks better than the table
			if all, err = capture.CutToWindow(ctx, all, table, t.Window.Window); err != nil {
				return err
			}
		}
		list[i].Captures = slices.DeleteFunc(all, func(c *capture.Capture) bool { return !isAbout(head, c) })
		left += len(list[i].Captures)
	}
	if left == 0 { // with the kernel's half of a pair the process got its name, for one
		return ReadAgain()
	}
	return nil
}

// IsWhole reports whether a window holds all of a trace.
func IsWhole(w capture.Window, t *analysis.Trace) bool {
	return w.From <= min(0, t.FromNS) && w.To >= t.ToNS
}

// ReadAgain is the error of a trace whose captures are newer than the report.
func ReadAgain() error {
	return &analysis.Error{Code: analysis.CodeReadAgain,
		Message: "the run's trace was read again since its report; ask again when the next report is there"}
}

func isNoSuchProcess(err error) bool {
	var refused *analysis.Error
	return errors.As(err, &refused) && refused.Code == analysis.CodeNoSuchProcess
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
