package store

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// A Failure says why a job did not succeed and whether trying again may help.
type Failure struct {
	Code    string
	Message string // for users
	Final   bool   // another attempt would fail in the same way
	Version string // of the heapdrift that failed it
	Worker  string // host of the worker that failed the job
	PID     int    // of that worker
	Cause   string // text of the error, for operators; "" where Message says all
}

// causeBytes is how much of the text of an error is kept: a panic comes with its stack.
const causeBytes = 8 << 10

// storableCause is the text of an error as the database takes it. The end of a long text names the origin no more.
func (f *Failure) storableCause() string {
	text := strings.ReplaceAll(f.Cause, "\x00", "\uFFFD")
	return strings.ToValidUTF8(text[:min(len(text), causeBytes)], "\uFFFD")
}

// FailJob queues a job again after a pause that doubles with each attempt, or ends it where the failure is final or no
// attempt is left; then the evidence or the run says why. A renewal of the lease that the database gets afterwards
// finds its token gone.
func (s *Store) FailJob(ctx context.Context, l Lease, f Failure) error {
	return db.Tx(ctx, s, "fail job", func(tx pgx.Tx) error {
		state, err := db.Value[string](ctx, tx, `
			update jobs set state = case when $5 or attempt >= max_attempts then 'failed' else `+again+` end,
				run_at = now() + least(interval '5 minutes', interval '1 second' * power(2, attempt)) , sent_at = null,
				lease_token = null, lease_until = null, tokens = array_remove(tokens, $2::bigint), error_code = $3,
				error = $4, failed_by = $6, worker = $7, worker_pid = $8, cause = $9,
				ended_at = case when $5 or attempt >= max_attempts then now() end
			where id = $1 and lease_token = $2 returning state`, l.ID, l.token, f.Code, f.Message, f.Final, f.Version,
			f.Worker, f.PID, f.storableCause())
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrFenced
		}
		if err != nil || state != "failed" {
			return err
		}
		if err := endFailed(ctx, tx, l.Job, f); err != nil {
			return err
		}
		return decideSettled(ctx, tx, l.RunID)
	})
}

// ReleaseJob queues a job again at once, for a worker that shuts down; the attempt does not count. A late renewal does
// not take it again, as after FailJob.
func (s *Store) ReleaseJob(ctx context.Context, l Lease) error {
	_, err := db.Conns(s).Exec(ctx, `
		update jobs set state = `+again+`, attempt = attempt - 1, sent_at = null, lease_token = null, lease_until = null,
			tokens = array_remove(tokens, $2::bigint), percent = 0, stage = ''
		where id = $1 and lease_token = $2`, l.ID, l.token)
	return db.Wrap("release job", err)
}

// endFailed shows a failed job's reason where users look. A run whose frames could not be named still has a report.
func endFailed(ctx context.Context, tx pgx.Tx, job Job, f Failure) (err error) {
	switch job.Kind {
	case JobRead: // what was read with others meanwhile stays
		_, err = tx.Exec(ctx, `
			update evidence set state = 'failed', error_code = $2, error = $3 where id = $1 and state <> 'read'`, job.EvidenceID, f.Code, f.Message)
	case JobSymbolise:
		// A later search that is done has found all that this one could find.
		tag, err := tx.Exec(ctx, `
			update runs set names_error = $2, input_rev = input_rev + 1 where id = $1
				and not exists (select from jobs j where j.run_id = $1 and j.kind = 'symbolise' and j.state = 'done' and j.id > $3)`, job.RunID, f.Message, job.ID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return queueJob(ctx, tx, JobAnalyse, job.RunID)
	default: // the report of a later analysis that is done rests on all that this one knew
		_, err = tx.Exec(ctx, `
			update runs set error_code = $2, error = $3 where id = $1
				and not exists (select from jobs j where j.run_id = $1 and j.kind = 'analyse' and j.state = 'done' and j.id > $4)`, job.RunID, f.Code, f.Message, job.ID)
	}
	return err
}
