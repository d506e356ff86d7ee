package store

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// retryBatch is how many runs one transaction tries again: it holds their rows until it ends.
const retryBatch = 100

// A Retried counts what was queued again.
type Retried struct {
	Runs int `json:"runs"`
	Jobs int `json:"jobs"`
}

// RetryFailures queues again, in all runs, the jobs that failed for a cause, as ListFailureCauses names it. Jobs that
// wait or run already are not queued twice: a second call finds nothing. The audit of the server has a line for each
// transaction.
func (s *Store) RetryFailures(ctx context.Context, code, text, who string) (Retried, error) {
	var all Retried
	if !slices.Contains(causes, code) || !utf8.ValidString(text) || strings.ContainsRune(text, 0) { // no text of ours
		return all, nil
	}
	runs, err := db.Values[int64](ctx, db.Conns(s), standing+`
		select distinct run_id from standing where text = $2 order by 1`, []string{code}, text)
	if err != nil {
		return all, db.Wrap("failures of a cause", err)
	}
	for len(runs) > 0 {
		batch := runs[:min(len(runs), retryBatch)]
		runs = runs[len(batch):]
		err := db.Tx(ctx, s, "try failures again", func(tx pgx.Tx) error {
			n, err := retryCause(ctx, tx, batch, code, text)
			if err != nil || n.Jobs == 0 {
				return err
			}
			all.Runs, all.Jobs = all.Runs+n.Runs, all.Jobs+n.Jobs
			type line struct {
				Code  string `json:"code"`
				Cause string `json:"cause"`
				Retried
			}
			return audit.RecordServerChange(ctx, tx, who, "retry", struct{}{}, line{code, text, n})
		})
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// retryCause locks the runs in their order, looks again what of them has failed for the cause, and queues that.
func retryCause(ctx context.Context, tx pgx.Tx, runs []int64, code, text string) (n Retried, err error) {
	if _, err := tx.Exec(ctx, `select from runs where id = any($1) order by id for no key update`, runs); err != nil {
		return n, err
	}
	type failed struct {
		RunID      int64
		Kind       string
		EvidenceID *int64
	}
	jobs, err := db.All[failed](ctx, tx, standing+`
		select run_id, kind, evidence_id from standing where text = $2 and run_id = any($3) order by run_id, id`, []string{code}, text, runs)
	if err != nil {
		return n, err
	}
	last := int64(0)
	for _, j := range jobs {
		switch j.Kind {
		case JobRead:
			err = retryFile(ctx, tx, j.RunID, *j.EvidenceID)
		case JobSymbolise:
			err = retryNames(ctx, tx, j.RunID)
		default:
			err = retryReport(ctx, tx, j.RunID)
		}
		if err != nil {
			return n, err
		}
		if n.Jobs++; j.RunID != last {
			n.Runs, last = n.Runs+1, j.RunID
		}
	}
	return n, nil
}
