package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
	"heapdrift/internal/tracing"
)

// Evidence is an uploaded file.
type Evidence struct {
	ID         int64
	RunID      int64
	Name       string
	SHA256     string
	Bytes      int64
	Kind       string // as recognised at upload
	State      string // stored, read, failed
	ErrorCode  string // why it could not be read; "" where it could
	Error      string
	UploadedAt time.Time
	ReadWith   *int64     // id of the evidence that has the captures of this one too, as both are files of one trace; nil for its own
	Work       *float64   // work that the process had done when it was taken; nil where not declared
	ExpiredAt  *time.Time // when retention deleted the file, whose captures and results stay; nil while it is there
}

const evidenceColumns = `id, run_id, name, sha256, bytes, kind, state, error_code, error, uploaded_at, read_with, work, expired_at`

// CreateEvidence records a stored file under its target and queues the job that reads it, in one transaction.
// The same file under the same name in the same run is recorded once; a failed one is queued again, and one whose
// work is declared anew has its run analysed again.
func (s *Store) CreateEvidence(ctx context.Context, t leaks.UploadTarget, e Evidence) (Evidence, error) {
	for attempt := 1; ; attempt++ {
		added, err := s.addEvidence(ctx, t, e)
		if attempt == maxAttempts || !isDeadlock(err) {
			return added, err
		}
	}
}

// maxAttempts is how often a change begins where the database ends it to resolve a deadlock: uploads and deletions lock
// from the project down, jobs from the run up.
const maxAttempts = 5

func isDeadlock(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "40P01"
}

func (s *Store) addEvidence(ctx context.Context, t leaks.UploadTarget, e Evidence) (Evidence, error) {
	err := db.Tx(ctx, s, "add evidence "+e.Name, func(tx pgx.Tx) error {
		run, err := ensureRun(ctx, tx, t)
		if err != nil {
			return err
		}
		if err := lockDigest(ctx, tx, e.SHA256); err != nil {
			return err
		}
		if err := s.checkBlobs(ctx, tx, contentKey(e.SHA256)); err != nil {
			return err
		}
		worked, err := db.Value[*float64](ctx, tx,
			`select work from evidence where run_id = $1 and name = $2 and sha256 = $3 for update`, run, e.Name, e.SHA256)
		known := err == nil
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		e, err = db.One[Evidence](ctx, tx, `
			insert into evidence (run_id, name, sha256, bytes, kind, work, urgent) values ($1, $2, $3, $4, $5, $6, $7)
			on conflict (run_id, name, sha256) do update set
				state = case when evidence.state = 'failed' then 'stored' else evidence.state end,
				error_code = '', error = '', work = coalesce(excluded.work, evidence.work), urgent = excluded.urgent,
				uploaded_at = case when evidence.expired_at is null then evidence.uploaded_at else now() end,
				expired_at = null, dropped = false
			returning `+evidenceColumns, run, e.Name, e.SHA256, e.Bytes, e.Kind, t.Work, t.Urgent)
		if err != nil {
			return err
		}
		if e.State != "stored" {
			if known && e.State == "read" && e.Work != nil && (worked == nil || *worked != *e.Work) {
				return analyseAgain(ctx, tx, run)
			}
			return nil
		}
		return queueRead(ctx, tx, run, e.ID)
	})
	return e, err
}

// lockDigest makes those who record and who delete the file of a digest take turns.
func lockDigest(ctx context.Context, tx pgx.Tx, digest string) error {
	_, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1::int, hashtext($2))`, digestLock, digest)
	return err
}

// digestLock is the class of the advisory locks of digests.
const digestLock = 0x44494745

// analyseAgain queues the analysis of a run whose input changed; a result under way is of the input before.
func analyseAgain(ctx context.Context, tx pgx.Tx, run int64) error {
	if _, err := tx.Exec(ctx, `update runs set input_rev = input_rev + 1 where id = $1`, run); err != nil {
		return err
	}
	return queueJob(ctx, tx, JobAnalyse, run)
}

// queueRead queues the reading of a piece of evidence, unless that is under way.
func queueRead(ctx context.Context, tx pgx.Tx, run, evidence int64) error {
	_, err := tx.Exec(ctx, `
		insert into jobs (kind, run_id, evidence_id, trace_parent) select 'read', $1, $2, $3
		where not exists (select from jobs where evidence_id = $2 and state in ('queued', 'running'))`, run, evidence, tracing.Parent(ctx))
	return err
}

// FindEvidence returns one piece of evidence, or ErrNotFound.
func (v View) FindEvidence(ctx context.Context, id int64) (Evidence, error) {
	e, err := db.One[Evidence](ctx, db.Q(v), `select `+evidenceColumns+` from evidence where id = $1`, id)
	return e, db.Wrap("evidence", err)
}

// ListEvidence lists a run's evidence in the order of upload.
func (v View) ListEvidence(ctx context.Context, run int64) ([]Evidence, error) {
	list, err := db.All[Evidence](ctx, db.Q(v),
		`select `+evidenceColumns+` from evidence where run_id = $1 order by id`, run)
	return list, db.Wrap("evidence of run", err)
}
