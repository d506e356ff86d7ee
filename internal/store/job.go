package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/jobs"
	"heapdrift/internal/store/internal/db"
	"heapdrift/internal/tracing"
)

// The kinds of jobs.
const (
	JobRead      = jobs.KindRead
	JobSymbolise = jobs.KindSymbolise
	JobAnalyse   = jobs.KindAnalyse
)

// A Job is a job of a run, and how far it is.
type Job struct {
	ID         int64
	Kind       string
	RunID      int64
	EvidenceID *int64 // of a read job; nil for the other kinds
	State      string // queued, running, done, failed
	Attempt    int    // number of the present or last attempt, from 1; 0 before the first
	Percent    int    // of the whole job
	Stage      string // name of the stage, as package jobs has it
	ErrorCode  string // why it failed; "" where it did not
	Error      string
	// TraceParent is what queued the job, as tracing.Parent gives it; "" where nothing is traced.
	TraceParent string
}

// onQueued makes an insert of a job that is queued for its run already run at once. It touches the row on purpose: a
// worker that would claim the job meanwhile waits for what this transaction has written.
const onQueued = `on conflict (run_id, kind) where kind in ('symbolise', 'analyse') and state = 'queued' do update set run_at = now()`

// queueJob queues a job that a run needs once only.
func queueJob(ctx context.Context, tx pgx.Tx, kind string, run int64) error {
	_, err := tx.Exec(ctx, `insert into jobs (kind, run_id, trace_parent) values ($1, $2, $3) `+onQueued, kind, run, tracing.Parent(ctx))
	return err
}

// again is the state of a job that is given back. It is not queued where the same work is queued for its run already.
const again = `case when kind <> 'read' and exists (select from jobs other where other.run_id = jobs.run_id and other.kind = jobs.kind and other.state = 'queued')
	then 'done' else 'queued' end`

const jobColumns = `id, kind, run_id, evidence_id, state, attempt, percent, stage, error_code, error, trace_parent`

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
