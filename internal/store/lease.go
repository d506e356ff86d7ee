package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/jobs"
	"heapdrift/internal/store/internal/db"
)

// A Lease is a worker's claim to a job. It passes to another worker when it is not renewed in time. The first result
// that a worker brings is stored.
type Lease struct {
	Job
	token int64
}

// ClaimJob takes a queued job for the given time. ErrNotFound means that it is no longer queued: a second delivery.
// ErrSchema means that a newer version has changed the database, so that this one must leave its jobs to that.
func (s *Store) ClaimJob(ctx context.Context, id int64, lease time.Duration) (Lease, error) {
	token := rand.Int64()
	job, err := db.One[Job](ctx, db.Conns(s), `
		update jobs set state = 'running', attempt = attempt + 1, lease_token = $2, tokens = tokens || $2::bigint,
			lease_until = now() + $3::interval, percent = 0, stage = ''
		where id = $1 and state = 'queued' and (select max(version_id) from goose_db_version) <= $4 returning `+jobColumns, id, token, lease, known)
	if errors.Is(err, pgx.ErrNoRows) {
		if newer := s.CheckSchema(ctx); errors.Is(newer, ErrSchema) {
			return Lease{}, newer
		}
	}
	return Lease{job, token}, db.Wrap("claim job", err)
}

// ClaimNext takes the job that the end of another has queued for its run, so that the worker continues without the
// broker: a run is read, symbolised and analysed in one turn. It does so where all evidence of the run has been read.
// Only a worker's slot for heavy jobs takes a heavy one. ErrNotFound says that the worker is done: if such a job waits,
// the broker gets it.
func (s *Store) ClaimNext(ctx context.Context, ended Lease, heavySlot bool, lease time.Duration) (Lease, error) {
	next := jobs.KindOf(ended.Kind).Next
	if next == "" {
		return Lease{}, ErrNotFound
	}
	token := rand.Int64()
	job, err := db.One[Job](ctx, db.Conns(s), dueJobs+`,
		next as (
			select * from due where run_id = $3 and kind = $4 and (not heavy or $5)
				and not exists (select from jobs read where read.run_id = $3 and read.kind = 'read' and read.state in ('queued', 'running'))),
		claimed as (
			update jobs set state = 'running', attempt = attempt + 1, lease_token = $6, tokens = tokens || $6::bigint,
				lease_until = now() + $7::interval, percent = 0, stage = '', sent_at = now()
			where id in (select id from next) and state = 'queued' and (select max(version_id) from goose_db_version) <= $8 returning `+jobColumns+`),
		turn as (
			insert into queue_turns (heavy, urgent, project_id, sent_at)
			select heavy, urgent, project_id, now() from next where exists (select from claimed)
			`+onTurn+`)
		select * from claimed`,
		time.Duration(0), int64(heavyBytes), ended.RunID, next, heavySlot, token, lease, known)
	return Lease{job, token}, db.Wrap("claim the next job", err)
}

// RenewLease keeps a lease for the given time from now, also one that ran out while nobody else has taken the job.
// Where another worker has taken the job, passed is true and both continue, because the first result counts. ErrFenced
// says that the job has ended.
func (s *Store) RenewLease(ctx context.Context, l Lease, lease time.Duration) (passed bool, err error) {
	tag, err := db.LeaseConns(s).Exec(ctx, `
		update jobs set state = 'running', lease_token = $2, lease_until = now() + $3::interval
		where id = $1 and state in ('queued', 'running') and tokens[cardinality(tokens)] = $2`, l.ID, l.token, lease)
	if err != nil || tag.RowsAffected() > 0 {
		return false, db.Wrap("renew lease", err)
	}
	going, err := db.Value[bool](ctx, db.LeaseConns(s),
		`select exists (select from jobs where id = $1 and state in ('queued', 'running'))`, l.ID)
	if err == nil && !going {
		return false, ErrFenced
	}
	return true, db.Wrap("renew lease", err)
}

// finish ends a job inside the transaction that stores its result, so that a result is stored exactly once. Whoever has
// claimed the job may bring it, also when its lease has run out or passed on, or when the job was given up because all
// its workers seemed lost.
func finish(ctx context.Context, tx pgx.Tx, l Lease) error {
	tag, err := tx.Exec(ctx, `
		update jobs set state = 'done', percent = 100, stage = '', lease_token = null, lease_until = null, ended_at = now(),
			error_code = '', error = ''
		where id = $1 and $2 = any(tokens) and (state in ('queued', 'running') or state = 'failed' and error_code = 'worker-lost')`, l.ID, l.token)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrFenced
	}
	return err
}

// ReapJobs takes jobs back from workers whose lease has run out and returns how many. A job that has lost its
// worker on every attempt fails.
func (s *Store) ReapJobs(ctx context.Context) (int, error) {
	lost := Failure{Code: "worker-lost",
		Message: "the worker that ran this job was lost on every attempt; the evidence may need more memory than a worker has"}
	n := 0
	var failed []int64 // runs
	err := db.Tx(ctx, s, "reap jobs", func(tx pgx.Tx) error {
		ids, err := db.Values[int64](ctx, tx,
			`select id from jobs where state = 'running' and lease_until < now() order by run_id, id for update skip locked`)
		if err != nil {
			return err
		}
		n = len(ids)
		for _, id := range ids { // one by one: where two searches of a run are lost, the second must see that the first is queued again
			job, err := db.One[Job](ctx, tx, `
				update jobs set state = case when attempt >= max_attempts then 'failed' else `+again+` end, run_at = now(), sent_at = null,
					lease_token = null, lease_until = null, error_code = 'worker-lost', error = $2,
					ended_at = case when attempt >= max_attempts then now() end
				where id = $1 returning `+jobColumns, id, lost.Message)
			if err != nil {
				return err
			}
			if job.State == "failed" {
				failed = append(failed, job.RunID)
				if err := endFailed(ctx, tx, job, lost); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	// One by one: a decision takes the lock of signatures, after which no row of a run may be locked.
	for _, run := range failed {
		err = errors.Join(err, db.Tx(ctx, s, "decide", func(tx pgx.Tx) error { return decideSettled(ctx, tx, run) }))
	}
	return n, err
}
