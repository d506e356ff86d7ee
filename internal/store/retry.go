package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// codeCancelled is the code of jobs that somebody has ended.
const codeCancelled = "cancelled"

// mended are the codes of failures that another try may not meet, because this program, its machine or its limits
// failed. Files refused with other codes have wrong content.
var mended = []string{
	"internal", "worker-lost", "blob-missing", "memory-exceeded", "reader-crashed", "reader-stuck",
	"reader-expensive", codeCancelled,
}

// IsRetryable reports whether another attempt may succeed after a failure with this code.
func IsRetryable(code string) bool {
	for _, m := range mended {
		if m == code {
			return true
		}
	}
	return false
}

// RetryRun queues the failed jobs of a run again for which another attempt may succeed, and returns how many.
func (s *Store) RetryRun(ctx context.Context, run int64) (n int, err error) {
	err = db.Tx(ctx, s, "try again", func(tx pgx.Tx) error {
		n, err = retry(ctx, tx, run, mended)
		return err
	})
	return n, err
}

// RetryInternal queues the jobs of all runs again that other versions of heapdrift failed because of faults of their
// own, and returns in how many runs. It does so once for each version, because a job that fails again is recorded with
// the present version.
func (s *Store) RetryInternal(ctx context.Context, version string) (int, error) {
	runs, err := db.Values[int64](ctx, db.Conns(s), `
		select distinct j.run_id from jobs j join runs r on r.id = j.run_id left join evidence e on e.id = j.evidence_id
		where j.state = 'failed' and j.error_code = 'internal' and j.failed_by <> $1
			and (e.state = 'failed' and e.error_code = 'internal' or j.evidence_id is null and (r.error_code = 'internal' or r.names_error <> ''))
			and not exists (select from jobs later where later.run_id = j.run_id and later.kind = j.kind and later.evidence_id is not distinct from j.evidence_id and later.id > j.id)
		order by 1`, version)
	if err != nil {
		return 0, db.Wrap("internal failures", err)
	}
	n := 0
	for _, run := range runs {
		err := db.Tx(ctx, s, "try again", func(tx pgx.Tx) error {
			_, err := retry(ctx, tx, run, []string{"internal"})
			return err
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// retry queues what of a run failed with one of the codes. The search for names has no code: where it failed, it is
// tried again.
func retry(ctx context.Context, tx pgx.Tx, run int64, codes []string) (int, error) {
	type failedParts struct {
		Report bool
		Names  bool
	}
	f, err := db.One[failedParts](ctx, tx,
		`select error_code = any($2) report, names_error <> '' names from runs where id = $1 for no key update`, run, codes)
	if err != nil {
		return 0, db.Wrap("run", err)
	}
	files, err := db.Values[int64](ctx, tx,
		`select id from evidence where run_id = $1 and state = 'failed' and error_code = any($2) order by id`, run, codes)
	if err != nil {
		return 0, err
	}
	n := len(files)
	for _, e := range files {
		if err := retryFile(ctx, tx, run, e); err != nil {
			return 0, err
		}
	}
	if f.Names {
		n++
		if err := retryNames(ctx, tx, run); err != nil {
			return 0, err
		}
	}
	if f.Report {
		n++
		if err := retryReport(ctx, tx, run); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// retryFile queues a failed file of a locked run again.
func retryFile(ctx context.Context, tx pgx.Tx, run, file int64) error {
	if _, err := tx.Exec(ctx, `update evidence set state = 'stored', error_code = '', error = '' where id = $1`, file); err != nil {
		return err
	}
	return queueRead(ctx, tx, run, file)
}

// retryNames queues the failed search for names of a locked run again.
func retryNames(ctx context.Context, tx pgx.Tx, run int64) error {
	if _, err := tx.Exec(ctx, `update runs set names_error = '' where id = $1`, run); err != nil {
		return err
	}
	return queueJob(ctx, tx, JobSymbolise, run)
}

// retryReport queues the failed report of a locked run again.
func retryReport(ctx context.Context, tx pgx.Tx, run int64) error {
	if _, err := tx.Exec(ctx, `update runs set error_code = '', error = '' where id = $1`, run); err != nil {
		return err
	}
	return queueJob(ctx, tx, JobAnalyse, run)
}

// CancelRun ends the queued and running jobs of a run on behalf of a person, and returns how many there are. Their
// workers stop with the next heartbeat. What was read before stays.
func (s *Store) CancelRun(ctx context.Context, run int64, who string) (n int, err error) {
	err = s.retryDeadlocks(ctx, "cancel run", func(tx pgx.Tx) error { // a job that fails meanwhile locks in the other order
		if _, err := db.One[struct{ ID int64 }](ctx, tx, `select id from runs where id = $1 for no key update`,
			run); err != nil {
			return db.Wrap("run", err)
		}
		f := Failure{Code: codeCancelled, Message: fmt.Sprintf("%s has cancelled it; it can be tried again", who),
			Final: true}
		jobs, err := db.All[Job](ctx, tx, `
			update jobs set state = 'failed', error_code = $2, error = $3, lease_token = null, lease_until = null,
				tokens = '{}', ended_at = now()
			where run_id = $1 and state in ('queued', 'running') returning `+jobColumns, run, f.Code, f.Message)
		if err != nil {
			return err
		}
		n = len(jobs)
		for _, job := range jobs {
			if job.Kind == JobSymbolise { // without names there is no report either: who tries again gets both
				if _, err := tx.Exec(ctx, `update runs set names_error = $2 where id = $1`, run, f.Message); err != nil {
					return err
				}
				job.Kind = JobAnalyse
			}
			if err := endFailed(ctx, tx, job, f); err != nil {
				return err
			}
		}
		return decideSettled(ctx, tx, run)
	})
	return n, err
}
