package worker

import (
	"bytes"
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/symbols"
	"heapdrift/worker/task"
)

// Report makes the whole report on a window of a run's trace, about the process that the run's report is about. head is
// that report without its sites, in what it rests on; both are of one View. Errors are as those of Window, and those of
// a child process that ended before it was through.
func (w *WindowAnswers) Report(ctx context.Context, head *analysis.Report, in store.AnalysisInput,
	window capture.Window) (*analysis.Report, error) {
	if head.Trace == nil {
		return nil, notATrace()
	}
	if err := checkWindow(window, head.Trace); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := head.WriteJSON(&text); err != nil {
		return nil, err
	}
	t := reportTask(&in)
	t.Window = &task.TraceWindow{Window: window, Head: text.Bytes()}
	h := &windowHost{blobs: w.Blobs, in: &in}
	if _, err := task.RunReport(ctx, w.Sandbox, t, h); err != nil {
		return nil, err
	}
	return h.report, nil
}

// A windowHost has the files of a report on a window, and keeps the report in memory. The task asks for nothing else.
type windowHost struct {
	task.Host
	blobs  blob.Store
	in     *store.AnalysisInput
	report *analysis.Report
}

// Open implements task.Host.
func (h *windowHost) Open(ctx context.Context, file int) (symbols.Content, error) {
	return openInput(ctx, h.blobs, h.in, file)
}

// Report implements task.Host.
func (h *windowHost) StoreReport(_ context.Context, r *analysis.Report, _ func(io.Writer) error) error {
	h.report = r
	return nil
}

// Progress implements task.Host: nobody watches.
func (h *windowHost) Progress(int, string) {}
