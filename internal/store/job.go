package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// The kinds of jobs.
const (
	JobRead      = "read"      // evidence → captures
	JobSymbolise = "symbolise" // captures of a run → names of their frames
	JobAnalyse   = "analyse"   // captures of a run and their names → report
)

// A Job is one piece of work and how far it is.
type Job struct {
	ID         int64
	Kind       string
	RunID      int64
	EvidenceID *int64 // of a read job
	State      string // queued, running, done, failed
	Attempt    int
	Percent    int
	Stage      string
	ErrorCode  string
	Error      string
}

// A Lease is the right to store a job's result. It passes to another worker when it is not renewed in time.
type Lease struct {
	Job
	token int64
}

// onQueued makes an insert of a job that is queued for its run already run at once. It touches the row on purpose: a
// worker that would claim the job meanwhile waits for what this transaction has written.
const onQueued = `on conflict (run_id, kind) where kind in ('symbolise', 'analyse') and state = 'queued' do update set run_at = now()`

// queueJob queues a job that a run needs once only.
func queueJob(ctx context.Context, tx pgx.Tx, kind string, run int64) error {
	_, err := tx.Exec(ctx, `insert into jobs (kind, run_id) values ($1, $2) `+onQueued, kind, run)
	return err
}

// again is the state of a job that is given back. Where the same is queued for its run already, that one does it.
const again = `case when kind <> 'read' and exists (select from jobs other where other.run_id = jobs.run_id and other.kind = jobs.kind and other.state = 'queued')
	then 'done' else 'queued' end`

const jobColumns = `id, kind, run_id, evidence_id, state, attempt, percent, stage, error_code, error`

// A Due is a job to hand to the broker; the attempt keeps an orphan of an earlier one from blocking it.
type Due struct {
	ID      int64
	Attempt int
}

// DueJobs marks jobs as handed over and returns them. A job that was handed over but not started within the
// resend interval is handed over again: the broker may have lost it.
func (s *Store) DueJobs(ctx context.Context, resend time.Duration) ([]Due, error) {
	due, err := all[Due](ctx, s.pool, `
		update jobs set sent_at = now() where id in (
			select id from jobs where state = 'queued' and run_at <= now() and (sent_at is null or sent_at < now() - $1::interval)
			order by run_at, id limit 500 for update skip locked)
		returning id, attempt`, resend)
	return due, wrap("due jobs", err)
}

// ForgetSent makes every queued job due again; for a broker that starts empty.
func (s *Store) ForgetSent(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `update jobs set sent_at = null where state = 'queued'`)
	return wrap("forget sent jobs", err)
}

// ClaimJob takes a queued job for the given time. ErrNotFound means that it is no longer queued: a second delivery.
func (s *Store) ClaimJob(ctx context.Context, id int64, lease time.Duration) (Lease, error) {
	token := rand.Int64()
	job, err := one[Job](ctx, s.pool, `
		update jobs set state = 'running', attempt = attempt + 1, lease_token = $2, lease_until = now() + $3::interval, percent = 0, stage = ''
		where id = $1 and state = 'queued' returning `+jobColumns, id, token, lease)
	return Lease{job, token}, wrap("claim job", err)
}

// RenewLease keeps a lease for the given time from now, or returns ErrFenced when it has passed on.
func (s *Store) RenewLease(ctx context.Context, l Lease, lease time.Duration) error {
	tag, err := s.pool.Exec(ctx, `update jobs set lease_until = now() + $3::interval where id = $1 and lease_token = $2`, l.ID, l.token, lease)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrFenced
	}
	return wrap("renew lease", err)
}

// SetProgress tells pages how far a job is.
func (s *Store) SetProgress(ctx context.Context, l Lease, percent int, stage string) error {
	_, err := s.pool.Exec(ctx, `update jobs set percent = $3, stage = $4 where id = $1 and lease_token = $2`, l.ID, l.token, percent, stage)
	return wrap("set progress", err)
}

// finish ends a job inside the transaction that stores its result, so that a result is stored exactly once.
func finish(ctx context.Context, tx pgx.Tx, l Lease) error {
	tag, err := tx.Exec(ctx, `
		update jobs set state = 'done', percent = 100, stage = '', lease_token = null, lease_until = null, ended_at = now(), error_code = '', error = ''
		where id = $1 and lease_token = $2`, l.ID, l.token)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrFenced
	}
	return err
}

// A Failure says why a job did not succeed and whether trying again may help.
type Failure struct {
	Code    string
	Message string
	Final   bool
}

// FailJob gives a job back after a pause that doubles with each attempt, or ends it where the failure is final or
// no attempt is left; then the evidence or the run says why.
func (s *Store) FailJob(ctx context.Context, l Lease, f Failure) error {
	return s.tx(ctx, "fail job", func(tx pgx.Tx) error {
		state, err := value[string](ctx, tx, `
			update jobs set state = case when $5 or attempt >= max_attempts then 'failed' else `+again+` end,
				run_at = now() + least(interval '5 minutes', interval '1 second' * power(2, attempt)) , sent_at = null,
				lease_token = null, lease_until = null, error_code = $3, error = $4,
				ended_at = case when $5 or attempt >= max_attempts then now() end
			where id = $1 and lease_token = $2 returning state`, l.ID, l.token, f.Code, f.Message, f.Final)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrFenced
		}
		if err != nil || state != "failed" {
			return err
		}
		return endFailed(ctx, tx, l.Job, f)
	})
}

// ReleaseJob gives a job back untouched, for a worker that shuts down; the attempt does not count.
func (s *Store) ReleaseJob(ctx context.Context, l Lease) error {
	_, err := s.pool.Exec(ctx, `
		update jobs set state = `+again+`, attempt = attempt - 1, sent_at = null, lease_token = null, lease_until = null, percent = 0, stage = ''
		where id = $1 and lease_token = $2`, l.ID, l.token)
	return wrap("release job", err)
}

// endFailed shows a failed job's reason where users look. A run whose frames could not be named still has a report.
func endFailed(ctx context.Context, tx pgx.Tx, job Job, f Failure) (err error) {
	switch job.Kind {
	case JobRead: // what was read with others meanwhile stays
		_, err = tx.Exec(ctx, `
			update evidence set state = 'failed', error_code = $2, error = $3 where id = $1 and state <> 'read'`, job.EvidenceID, f.Code, f.Message)
	case JobSymbolise:
		// A search that was queued later and is done knows all that this one could have found.
		tag, err := tx.Exec(ctx, `
			update runs set names_error = $2, input_rev = input_rev + 1 where id = $1
				and not exists (select from jobs j where j.run_id = $1 and j.kind = 'symbolise' and j.state = 'done' and j.id > $3)`, job.RunID, f.Message, job.ID)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return queueJob(ctx, tx, JobAnalyse, job.RunID)
	default:
		_, err = tx.Exec(ctx, `update runs set error_code = $2, error = $3 where id = $1`, job.RunID, f.Code, f.Message)
	}
	return err
}

// ReapJobs takes jobs back from workers whose lease has run out and returns how many. A job that has lost its
// worker on every attempt fails.
func (s *Store) ReapJobs(ctx context.Context) (int, error) {
	lost := Failure{Code: "worker-lost", Message: "the worker that ran this job was lost on every attempt; the evidence may need more memory than a worker has"}
	n := 0
	err := s.tx(ctx, "reap jobs", func(tx pgx.Tx) error {
		ids, err := values[int64](ctx, tx, `select id from jobs where state = 'running' and lease_until < now() order by run_id, id for update skip locked`)
		if err != nil {
			return err
		}
		n = len(ids)
		for _, id := range ids { // one by one: where two searches of a run are lost, the second must see that the first is queued again
			job, err := one[Job](ctx, tx, `
				update jobs set state = case when attempt >= max_attempts then 'failed' else `+again+` end, run_at = now(), sent_at = null,
					lease_token = null, lease_until = null, error_code = 'worker-lost', error = $2,
					ended_at = case when attempt >= max_attempts then now() end
				where id = $1 returning `+jobColumns, id, lost.Message)
			if err != nil {
				return err
			}
			if job.State == "failed" {
				if err := endFailed(ctx, tx, job, lost); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return n, err
}

// JobsOfRun lists a run's jobs, oldest first.
func (v View) JobsOfRun(ctx context.Context, run int64) ([]Job, error) {
	jobs, err := all[Job](ctx, v.q, `select `+jobColumns+` from jobs where run_id = $1 order by id`, run)
	return jobs, wrap("jobs of run", err)
}
