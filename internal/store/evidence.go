package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
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
	ErrorCode  string
	Error      string
	UploadedAt time.Time
	ReadWith   *int64 // the evidence that has the captures of this one too: several files may be one trace
}

const evidenceColumns = `id, run_id, name, sha256, bytes, kind, state, error_code, error, uploaded_at, read_with`

// AddEvidence records a stored file under its target and queues the job that reads it, in one transaction.
// The same file under the same name in the same run is recorded once; a failed one is queued again.
func (s *Store) AddEvidence(ctx context.Context, t Target, e Evidence) (Evidence, error) {
	err := s.tx(ctx, "add evidence "+e.Name, func(tx pgx.Tx) error {
		run, err := ensureRun(ctx, tx, t)
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `
			insert into evidence (run_id, name, sha256, bytes, kind) values ($1, $2, $3, $4, $5)
			on conflict (run_id, name, sha256) do update set
				state = case when evidence.state = 'failed' then 'stored' else evidence.state end,
				error_code = '', error = ''
			returning `+evidenceColumns, run, e.Name, e.SHA256, e.Bytes, e.Kind)
		if e, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Evidence]); err != nil {
			return err
		}
		if e.State != "stored" {
			return nil
		}
		return queueRead(ctx, tx, run, e.ID)
	})
	return e, err
}

// queueRead queues the reading of a piece of evidence, unless that is under way.
func queueRead(ctx context.Context, tx pgx.Tx, run, evidence int64) error {
	_, err := tx.Exec(ctx, `
		insert into jobs (kind, run_id, evidence_id) select 'read', $1, $2
		where not exists (select from jobs where evidence_id = $2 and state in ('queued', 'running'))`, run, evidence)
	return err
}

// EvidenceByID returns one piece of evidence, or ErrNotFound.
func (s *Store) EvidenceByID(ctx context.Context, id int64) (Evidence, error) {
	rows, _ := s.pool.Query(ctx, `select `+evidenceColumns+` from evidence where id = $1`, id)
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Evidence])
	return e, wrap("evidence", err)
}

// EvidenceOfRun lists a run's evidence in the order of upload.
func (s *Store) EvidenceOfRun(ctx context.Context, run int64) ([]Evidence, error) {
	rows, _ := s.pool.Query(ctx, `select `+evidenceColumns+` from evidence where run_id = $1 order by id`, run)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Evidence])
	return list, wrap("evidence of run", err)
}
