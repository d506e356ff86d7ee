package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// ErrNoProcess says that no capture of a run shows the process that was asked for.
var ErrNoProcess = errors.New("the evidence does not show this process")

// UpdateProcess sets which process a run's report is about, as analysis.Options.Process, and queues the analysis, in
// one transaction. It returns ErrNotFound for no run, and ErrNoProcess, with nothing changed, where no capture shows
// the process.
func (s *Store) UpdateProcess(ctx context.Context, run int64, process string) error {
	return db.Tx(ctx, s, "choose process", func(tx pgx.Tx) error {
		// The lock keeps captures from being replaced between the look at them and the end.
		if _, err := db.Value[int64](ctx, tx, `select id from runs where id = $1 for no key update`, run); err != nil {
			return db.Wrap("run", err)
		}
		seen, err := seenIn(ctx, tx, run)
		if err != nil {
			return err
		}
		if process != "" && !analysis.ShowsProcess(seen, process) {
			return ErrNoProcess
		}
		// An analysis that runs already is about the choice before: its result must not replace that of the new one.
		if _, err := tx.Exec(ctx, `update runs set process = $2, input_rev = input_rev + 1 where id = $1`,
			run, process); err != nil {
			return err
		}
		if len(seen) == 0 {
			return nil // nothing to analyse: the first captures bring their analysis along
		}
		return queueJob(ctx, tx, JobAnalyse, run)
	})
}

// ListProcesses returns the processes of a run that a report may be about, those that hold most first and at most limit
// of them, and how many there are.
func (v View) ListProcesses(ctx context.Context, run int64, limit int) (list []analysis.ProcessChoice, total int,
	err error) {
	seen, err := seenIn(ctx, db.Q(v), run)
	if err != nil {
		return nil, 0, db.Wrap("processes of run", err)
	}
	list, total = analysis.ProcessChoices(seen, limit)
	return list, total, nil
}

// beganIn is when a process began inside its trace; nil where that was before it, or where there is none.
func beganIn(t *capture.Trace) *int64 {
	if t == nil || t.Began == allocations.BeforeTrace {
		return nil
	}
	return &t.Began
}

// seenIn lists the processes of a run's captures, in the order of FindAnalysisInput.
func seenIn(ctx context.Context, q db.Querier, run int64) ([]analysis.CaptureProcess, error) {
	return db.All[analysis.CaptureProcess](ctx, q, `
		select c.process as name, c.pid, c.bits, '' as machine, e.id as evidence_id, c.table_key <> '' as trace, coalesce(c.began_ns, $2) as began, c.held_bytes as held
		from captures c join evidence e on e.id = c.evidence_id where e.run_id = $1 order by e.id, c.ordinal`, run, allocations.BeforeTrace)
}
