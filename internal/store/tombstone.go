package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A Tombstone says what was deleted, and when. Triggers of the database make it with each deletion.
type Tombstone struct {
	RunID     int64     `json:"run"`
	SHA256    string    `json:"sha256,omitempty"` // of the file; "" for the run itself
	What      string    `json:"what"`             // run, file (by hand), expired (by retention)
	DeletedAt time.Time `json:"deleted_at"`
}

const tombstoneColumns = `run_id, sha256, what, deleted_at`

// ListTombstones lists all tombstones.
func (v View) ListTombstones(ctx context.Context) ([]Tombstone, error) {
	list, err := db.All[Tombstone](ctx, db.Q(v), `select `+tombstoneColumns+` from tombstones order by deleted_at, run_id, sha256`)
	return list, db.Wrap("tombstones", err)
}

// ExportTombstones calls export with at most limit tombstones that were not exported yet, and remembers that they are.
// It returns how many. They must outlive the database, which a restore replaces by an older one.
func (s *Store) ExportTombstones(ctx context.Context, limit int, export func([]Tombstone) error) (n int, err error) {
	err = db.Tx(ctx, s, "export tombstones", func(tx pgx.Tx) error {
		list, err := db.All[Tombstone](ctx, tx, `
			select `+tombstoneColumns+` from tombstones where exported_at is null order by deleted_at, run_id, sha256 limit $1 for update skip locked`, limit)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := export(list); err != nil {
			return err
		}
		n = len(list)
		for _, t := range list {
			if _, err := tx.Exec(ctx, `update tombstones set exported_at = now() where run_id = $1 and sha256 = $2`, t.RunID,
				t.SHA256); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// DeleteRestored deletes what tombstones name and a restore has brought back, also under a legal hold: when it was
// deleted, none stood. What came after a tombstone is something else, and stays. It returns the numbers of runs and
// files that it deleted.
func (s *Store) DeleteRestored(ctx context.Context, list []Tombstone) (runs, files int, err error) {
	anyway := func(pgx.Tx, int64) error { return nil }
	for _, t := range list {
		if t.What == "run" {
			back, err := db.Value[bool](ctx, db.Conns(s),
				`select exists (select from runs where id = $1 and created_at < $2)`, t.RunID, t.DeletedAt)
			if err != nil {
				return runs, files, db.Wrap("tombstone of a run", err)
			}
			if back {
				if err := s.deleteRun(ctx, t.RunID, restorer, anyway); err != nil {
					return runs, files, err
				}
				runs++
			}
			continue
		}
		ids, err := db.Values[int64](ctx, db.Conns(s), `
			select id from evidence where run_id = $1 and sha256 = $2 and uploaded_at < $3 and expired_at is null order by id`,
			t.RunID, t.SHA256, t.DeletedAt)
		if err != nil {
			return runs, files, db.Wrap("tombstone of a file", err)
		}
		for _, id := range ids {
			if err := s.deleteFileAgain(ctx, t, id); err != nil {
				return runs, files, err
			}
			files++
		}
	}
	return runs, files, nil
}

// restorer is who deletes again, for the audit.
const restorer = "restore"

// deleteFileAgain deletes a file again: by hand, with what was read of it, unless the report rests on nothing else.
func (s *Store) deleteFileAgain(ctx context.Context, t Tombstone, evidence int64) error {
	if t.What == "file" {
		err := s.deleteEvidence(ctx, t.RunID, evidence, restorer, func(pgx.Tx, int64) error { return nil })
		var last *leaks.FieldError
		if !errors.As(err, &last) {
			return err
		}
	}
	_, err := db.Conns(s).Exec(ctx, `update evidence set expired_at = $2 where id = $1`, evidence, t.DeletedAt)
	return db.Wrap("expire again", err)
}
