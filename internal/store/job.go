package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/jobs"
	"heapdrift/internal/store/internal/db"
)

// The kinds of jobs.
const (
	JobRead      = jobs.KindRead
	JobSymbolise = jobs.KindSymbolise
	JobAnalyse   = jobs.KindAnalyse
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

// onQueued makes an insert of a job that is queued for its run already run at once. It touches the row on purpose: a
// worker that would claim the job meanwhile waits for what this transaction has written.
const onQueued = `on conflict (run_id, kind) where kind in ('symbolise', 'analyse') and state = 'queued' do update set run_at = now()`

// queueJob queues a job that a run needs once only.
func queueJob(ctx context.Context, tx pgx.Tx, kind string, run int64) error {
	_, err := tx.Exec(ctx, `insert into jobs (kind, run_id) values ($1, $2) `+onQueued, kind, run)
	return err
}

// again is the state of a job that is given back. It is not queued where the same work is queued for its run already.
const again = `case when kind <> 'read' and exists (select from jobs other where other.run_id = jobs.run_id and other.kind = jobs.kind and other.state = 'queued')
	then 'done' else 'queued' end`

const jobColumns = `id, kind, run_id, evidence_id, state, attempt, percent, stage, error_code, error`

// A DueJob is a job to hand to the broker; its attempt number keeps an orphan of an earlier attempt from blocking it.
type DueJob struct {
	ID      int64
	Attempt int
	Heavy   bool // it reads so much that others would wait for it
}

// heavyBytes is how much evidence makes a job heavy: a read's own, else that of its run.
const heavyBytes = 256 << 20

// DispatchLimit is how many light and heavy jobs may lie with the broker. Jobs that lie with the broker keep their
// order, so the limit is small: a later job of higher priority overtakes only jobs that are not there yet.
type DispatchLimit struct{ Light, Heavy int }

// unbounded takes all due jobs that one query returns.
var unbounded = DispatchLimit{500, 500}

// DispatchAllJobs is DispatchJobs without a limit.
func (s *Store) DispatchAllJobs(ctx context.Context, resend time.Duration) ([]DueJob, error) {
	return s.DispatchJobs(ctx, resend, unbounded)
}

// rankedJobs are the jobs that are due, with their class and their rank: those of evidence that somebody has sent by
// browser, then those of runs that have no report yet, then all others. $1 is the resend interval, $2 heavyBytes.
const rankedJobs = `
		with waiting as (
			select j.id, j.run_id, e.bytes > $2 heavy, e.urgent and e.uploaded_at > now() - interval '1 hour' urgent
			from jobs j join evidence e on e.id = j.evidence_id where j.state = 'queued' and j.run_at <= now()
			union all
			select j.id, j.run_id, coalesce(e.bytes, 0) > $2, coalesce(e.urgent, false)
			from jobs j left join lateral (
				select sum(bytes) bytes, bool_or(urgent and uploaded_at > now() - interval '1 hour') urgent from evidence where run_id = j.run_id) e on true
			where j.state = 'queued' and j.run_at <= now() and j.evidence_id is null),
		ranked as (
			select w.id, w.heavy, j.attempt, j.run_at, b.project_id, coalesce(j.sent_at >= now() - $1::interval, false) sent,
				case when w.urgent then 0 when r.report_key = '' then 1 else 2 end rank
			from waiting w join jobs j on j.id = w.id join runs r on r.id = w.run_id join builds b on b.id = r.build_id)`

// DispatchJobs marks jobs as handed over and returns them in the order in which they are to run: those of evidence that
// somebody has sent by browser, then those of runs that have no report yet, then all others; among these the projects
// take turns, and each project's are in the order of their age. A job that was handed over but not started within the
// resend interval is handed over again: the broker may have lost it.
func (s *Store) DispatchJobs(ctx context.Context, resend time.Duration, most DispatchLimit) ([]DueJob, error) {
	due, err := db.All[DueJob](ctx, db.Conns(s), rankedJobs+`,
		room as (
			select $3 - count(*) filter (where not heavy) light, $4 - count(*) filter (where heavy) heavy from ranked where sent),
		turns as (
			select *, row_number() over (partition by heavy, rank, project_id order by run_at, id) turn from ranked where not sent),
		places as (
			select *, row_number() over (partition by heavy order by rank, turn, run_at, id) place from turns),
		chosen as (
			select p.* from places p, room where p.place <= case when p.heavy then room.heavy else room.light end),
		locked as ( -- in one order, and without those that somebody is just taking
			select j.id from jobs j where j.id in (select id from chosen) and j.state = 'queued' and (j.sent_at is null or j.sent_at < now() - $1::interval)
			order by j.id for update skip locked),
		handed as (
			update jobs set sent_at = now() from chosen c
			where jobs.id = c.id and c.id in (select id from locked) returning jobs.id, jobs.attempt, c.heavy, c.rank, c.place)
		select id, attempt, heavy from handed order by rank, place`, resend, int64(heavyBytes), most.Light, most.Heavy)
	return due, db.Wrap("due jobs", err)
}

// ResetDispatch makes every queued job due again; for a broker that starts empty.
func (s *Store) ResetDispatch(ctx context.Context) error {
	_, err := db.Conns(s).Exec(ctx, `update jobs set sent_at = null where state = 'queued'`)
	return db.Wrap("forget sent jobs", err)
}

// UpdateProgress tells pages how far a job is.
func (s *Store) UpdateProgress(ctx context.Context, l Lease, percent int, stage string) error {
	_, err := db.Conns(s).Exec(ctx, `update jobs set percent = $3, stage = $4 where id = $1 and lease_token = $2`, l.ID,
		l.token, percent, stage)
	return db.Wrap("set progress", err)
}

// ListJobs lists a run's jobs, oldest first.
func (v View) ListJobs(ctx context.Context, run int64) ([]Job, error) {
	list, err := db.All[Job](ctx, db.Q(v), `select `+jobColumns+` from jobs where run_id = $1 order by id`, run)
	return list, db.Wrap("jobs of run", err)
}
