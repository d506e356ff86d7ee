package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/query"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/worker/task"
)

// WindowAnswers computes the numbers of windows of the traces of runs. It keeps the last few allocation tables open. It
// is safe for concurrent use.
type WindowAnswers struct {
	Store *store.Store
	Blobs blob.Store
	// ColumnBytes is how many bytes of the table that was used last are kept decoded; 0 for none.
	ColumnBytes int64
	// Sandbox makes the reports on windows in child processes; nil makes them in this process.
	Sandbox *sandbox.Runner

	tables tableCache
	turns  turns
}

// maxWindowsAtOnce is how many windows are computed at once: each takes all cores and up to 100 MB.
const maxWindowsAtOnce = 2

// turns lets a few do something at once; the others wait.
type turns struct {
	once sync.Once
	free chan struct{}
}

// take waits for a turn, which is given back by the function returned.
func (t *turns) take(ctx context.Context) (func(), error) {
	t.once.Do(func() { t.free = make(chan struct{}, maxWindowsAtOnce) })
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("worker: window: %w", context.Cause(ctx))
	}
}

// Prepare waits for what Window needs: it opens the allocation table of the run, which may have to be downloaded, and
// waits for its turn. Call it before you open the View for Window, since a snapshot of the database must not be held
// while waiting. done ends the use of both. Errors of the run are left to Window.
func (w *WindowAnswers) Prepare(ctx context.Context, run int64) (done func(), err error) {
	_, done, err = w.prepare(ctx, run)
	return done, err
}

// Table opens the allocation table that a report of a run rests on, and waits for its turn as Prepare does; the
// function ends the use of both. The table is nil where the run has none that can be opened. report is the digest of
// the report; the error says so where the run has another report by now.
func (w *WindowAnswers) Table(ctx context.Context, run int64, report string) (*query.Table, func(), error) {
	t, done, err := w.prepare(ctx, run)
	if t == nil || err != nil {
		return nil, done, err
	}
	if t.key.report != report {
		done()
		return nil, nil, task.ReadAgain()
	}
	return &query.Table{Scanner: t.table, Sites: t.sites.TableSiteCount, Meta: t.table.Meta}, done, nil
}

// prepare is Prepare with the table, nil where the run has none that can be opened.
func (w *WindowAnswers) prepare(ctx context.Context, run int64) (t *openTable, done func(), err error) {
	report, err := store.Read(ctx, w.Store, func(v store.View) (string, error) {
		report, table, err := v.FindTraceReport(ctx, run)
		if table.Key == "" {
			return "", err
		}
		return report, err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, nil, err
	}
	leave := func() {}
	if report != "" {
		t, err = w.enter(ctx, tableKey{run, report}, func() (*openTable, error) {
			trace, err := store.Read(ctx, w.Store, func(v store.View) (*store.RunTrace, error) {
				return v.FindRunTrace(ctx, run)
			})
			if err != nil {
				return nil, err
			}
			return w.load(context.WithoutCancel(ctx), run, trace)
		})
		var refused *analysis.Error
		switch {
		case err == nil:
			leave = func() { w.tables.leave(t) }
		case errors.As(err, &refused):
			t = nil
		default:
			return nil, nil, err
		}
	}
	turn, err := w.turns.take(ctx)
	if err != nil {
		leave()
		return nil, nil, err
	}
	return t, sync.OnceFunc(func() { turn(); leave() }), nil
}

// Window computes the numbers of a run's report in a window of its trace, with both taken from v. The caller has called
// Prepare: Window opens a table itself only where the report was replaced since. Its error is an *analysis.Error where
// there are no numbers to give, or store.ErrNotFound for a run without a report.
func (w *WindowAnswers) Window(ctx context.Context, v store.View, run int64,
	window capture.Window) (*analysis.WindowNumbers, error) {
	t, err := w.open(ctx, v, run)
	if err != nil {
		return nil, err
	}
	defer w.tables.leave(t)
	if err := checkWindow(window, t.head.Trace); err != nil {
		return nil, err
	}
	whole := task.IsWhole(window, t.head.Trace) // the report knows its peaks
	windowed, err := t.sites.InWindow(ctx, t.table, window, !whole)
	if err != nil {
		return nil, fmt.Errorf("worker: window of run %d: %w", run, err)
	}
	if whole {
		takePeaks(windowed, t.head)
	}
	return windowed, nil
}

// takePeaks takes the peaks of the whole trace from the report. Those were found while it was read, when the size of
// each block was known at each instant; the table has the last size of blocks that were resized.
func takePeaks(w *analysis.WindowNumbers, r *analysis.Report) {
	take := func(to, from *analysis.Amounts) {
		if to != nil && from != nil && to.Lifetimes != nil && from.Lifetimes != nil {
			to.Peak = from.Peak
		}
	}
	take(&w.Totals.Heap, &r.Totals.Heap)
	take(&w.Totals.Virtual, &r.Totals.Virtual)
	take(w.Totals.HeapVirtual, r.Totals.HeapVirtual)
	for i := range min(len(w.Heaps), len(r.Heaps)) {
		take(&w.Heaps[i].Amounts, &r.Heaps[i].Amounts)
	}
}

// open returns the table of a run's report, from those that are open if it is there.
func (w *WindowAnswers) open(ctx context.Context, v store.View, run int64) (*openTable, error) {
	report, table, err := v.FindTraceReport(ctx, run)
	if err != nil {
		return nil, err
	}
	if table.Key == "" {
		return nil, notATrace()
	}
	return w.enter(ctx, tableKey{run, report}, func() (*openTable, error) {
		trace, err := v.FindRunTrace(ctx, run)
		if err != nil {
			return nil, err
		}
		return w.load(context.WithoutCancel(ctx), run, trace)
	})
}

// enter returns an open table, or lets load open it. leave must be called after.
func (w *WindowAnswers) enter(ctx context.Context, key tableKey, load func() (*openTable, error)) (*openTable, error) {
	t, err := w.tables.enter(ctx, key, load)
	if err == nil {
		w.tables.keep(w.ColumnBytes)
	}
	return t, err
}

// load opens the table of a run, to stay open.
func (w *WindowAnswers) load(ctx context.Context, run int64, trace *store.RunTrace) (_ *openTable, err error) {
	if trace.Table.Key == "" || trace.Summary.Trace == nil {
		return nil, notATrace()
	}
	t := &openTable{key: tableKey{run, trace.ReportKey}, head: trace.Summary}
	t.sites = analysis.TraceSites{Trace: trace.Summary.Trace, Sites: trace.Sites, TableSiteCount: trace.Table.Sites}
	for i := range trace.Summary.Heaps {
		t.sites.Heaps = append(t.sites.Heaps, trace.Summary.Heaps[i].Handle)
	}
	t.table, t.blob, err = openAllocations(ctx, w.Blobs, trace.Table.Key)
	return t, err
}

func notATrace() error {
	return &analysis.Error{Code: analysis.CodeNotATrace,
		Message: "the run's report is of snapshots; only a trace has windows"}
}

// openAllocations opens an allocation table.
func openAllocations(ctx context.Context, blobs blob.Store, key string) (*allocations.Table, blob.Content, error) {
	r, err := blobs.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil, analysis.ErrTableMissing
	}
	if err != nil {
		return nil, nil, fmt.Errorf("worker: allocation table: %w", err)
	}
	here, err := blob.Local(ctx, r) // it is read at random
	if err != nil {
		return nil, nil, fmt.Errorf("worker: allocation table: %w", err)
	}
	table, err := allocations.Open(here, here.Size())
	if err != nil {
		_ = here.Close() // read only
		return nil, nil, fmt.Errorf("worker: allocation table: %w", err)
	}
	return table, here, nil
}

// checkWindow says what is wrong with a window of a trace.
func checkWindow(w capture.Window, t *analysis.Trace) error {
	from, to := min(0, t.FromNS), max(t.ToNS, t.FromNS)
	switch {
	case w.From > w.To:
		return &analysis.Error{Code: analysis.CodeBadWindow,
			Message: fmt.Sprintf("the window ends at %s, before it begins at %s", seconds(w.To), seconds(w.From))}
	case w.From > to || w.To < from:
		return &analysis.Error{Code: analysis.CodeBadWindow,
			Message: fmt.Sprintf("the window from %s to %s is outside of the trace, which lasts from %s to %s",
				seconds(w.From), seconds(w.To), seconds(from), seconds(to))}
	}
	return nil
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
