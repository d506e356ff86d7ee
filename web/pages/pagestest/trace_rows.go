package pagestest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
)

// heldRows are rows in memory.
type heldRows []allocations.Row

func (r heldRows) Len() int64 { return int64(len(r)) }

func (r heldRows) Scan(_ context.Context, _, _ int64, sinks ...allocations.Sink) error {
	return sinks[0].AddRows(r)
}

// TraceWindows answers for windows of traces whose rows are in memory.
type TraceWindows struct {
	Runs  map[int64]TracedRun // by the id of the run
	Asked atomic.Int64        // how often Window was called
	Held  atomic.Int64        // calls of Prepare whose done was not called
	// Meanwhile is called once, before the next answer; nil for nothing.
	Meanwhile func()
}

// A TracedRun is the report of a trace with its rows.
type TracedRun struct {
	Report *analysis.Report
	Rows   allocations.Scanner
}

// Prepare never waits.
func (w *TraceWindows) Prepare(context.Context, int64) (func(), error) {
	w.Held.Add(1)
	return sync.OnceFunc(func() { w.Held.Add(-1) }), nil
}

// Table gives the rows that the test has stored.
func (w *TraceWindows) Table(_ context.Context, run int64, _ string) (*query.Table, func(), error) {
	r, ok := w.Runs[run]
	if !ok {
		return nil, func() {}, nil
	}
	return &query.Table{Scanner: r.Rows}, func() {}, nil
}

// Window answers like the real one in a View which sees the report that the test has stored.
func (w *TraceWindows) Window(ctx context.Context, _ store.View, run int64,
	at capture.Window) (*analysis.WindowNumbers, error) {
	w.Asked.Add(1)
	r, ok := w.Runs[run]
	if meanwhile := w.Meanwhile; meanwhile != nil {
		w.Meanwhile = nil
		meanwhile()
	}
	if !ok {
		return nil, &analysis.Error{Code: "table-missing", Message: "the allocation table of the trace is not there any more"}
	}
	return r.Report.TraceSites().InWindow(ctx, r.Rows, at, true)
}

// AddTrace stores a run with the report of a process's trace and returns the run's id.
func AddTrace(t testing.TB, s *Server, to leaks.UploadTarget, p TracedProcess) int64 {
	t.Helper()
	e := AddEvidence(t, s.Store, to, fmt.Sprintf("%s.etl", p.Name))
	c := p.Capture(t)
	if err := s.Store.CreateCaptures(t.Context(), Claim(t, s.Store, store.JobRead, e.RunID),
		[]store.StoredCapture{{Capture: c, ArtifactKey: "artifact", Bytes: 5, Table: store.AllocationTable{Key: "table"}}}); err != nil {
		t.Fatal(err)
	}
	inputs := []analysis.Input{{Files: []analysis.File{{Name: e.Name, SHA256: e.SHA256, Bytes: e.Bytes}},
		Captures: []*capture.Capture{c}}}
	r := Must[*analysis.Report](t)(analysis.Analyze(t.Context(), inputs, analysis.Options{}))
	SaveReport(t, s.Store, e.RunID, r)
	s.Windows.Runs[e.RunID] = TracedRun{r, p.rows()}
	return e.RunID
}

// Report is used by the API alone; the pages only link to it.
func (w *TraceWindows) Report(context.Context, *analysis.Report, store.AnalysisInput,
	capture.Window) (*analysis.Report, error) {
	return nil, &analysis.Error{Code: "table-missing", Message: "a made-up trace has no captures to report on"}
}
