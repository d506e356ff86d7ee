package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// ErrHeld says that a legal hold keeps what was to be deleted.
var ErrHeld = errors.New("store: a legal hold keeps it; lift the hold first")

// holdLock has retention and holds take turns: what is held when a hold returns stays.
const holdLock = 0x484f4c44

// lockHolds waits for holds that are being placed; alone, also for retention that is at work.
func lockHolds(ctx context.Context, tx pgx.Tx, alone bool) error {
	statement := `select pg_advisory_xact_lock_shared($1)`
	if alone {
		statement = `select pg_advisory_xact_lock($1)`
	}
	_, err := tx.Exec(ctx, statement, holdLock)
	return err
}

type holdRow struct {
	HeldAt               *time.Time
	HeldBy, HeldReason   string
	ProjectID            int64
	Project, Build, Name string
}

func (r *holdRow) hold() *leaks.Hold {
	if r.HeldAt == nil {
		return nil
	}
	return &leaks.Hold{At: *r.HeldAt, By: r.HeldBy, Reason: r.HeldReason}
}

const (
	holdOfRun = `select r.held_at, r.held_by, r.held_reason, b.project_id, p.name as project, b.name as build, r.name
		from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id where r.id = $1`
	holdOfProject = `select held_at, held_by, held_reason, id as project_id, name as project, '' as build, '' as name from projects where name = $1`
)

// FindRunHold returns the legal hold on a run, nil for none. It returns ErrNotFound where there is no run.
func (v View) FindRunHold(ctx context.Context, run int64) (*leaks.Hold, error) {
	row, err := db.One[holdRow](ctx, db.Q(v), holdOfRun, run)
	return row.hold(), db.Wrap("hold of a run", err)
}

// FindProjectHold returns the legal hold on a project, nil for none. It returns ErrNotFound where there is no project.
func (v View) FindProjectHold(ctx context.Context, project string) (*leaks.Hold, error) {
	row, err := db.One[holdRow](ctx, db.Q(v), holdOfProject, project)
	return row.hold(), db.Wrap("hold of a project", err)
}

// CreateRunHold places a legal hold on a run, or gives the one that stands another reason. Its error is ErrNotFound, or
// a *leaks.FieldError.
func (s *Store) CreateRunHold(ctx context.Context, run int64, reason, by string) error {
	if err := leaks.CheckHoldReason(reason); err != nil {
		return err
	}
	return s.changeHold(ctx, holdOfRun, run, reason, by,
		`update runs set held_at = coalesce(held_at, now()), held_by = $2, held_reason = $3 where id = $1`)
}

// DeleteRunHold lifts the legal hold on a run. It is no error where there is none.
func (s *Store) DeleteRunHold(ctx context.Context, run int64, by string) error {
	return s.changeHold(ctx, holdOfRun, run, "", by,
		`update runs set held_at = null, held_by = $2, held_reason = $3 where id = $1`)
}

// CreateProjectHold places a legal hold on a project, or gives the one that stands another reason. Its error is
// ErrNotFound, or a *leaks.FieldError.
func (s *Store) CreateProjectHold(ctx context.Context, project, reason, by string) error {
	if err := leaks.CheckHoldReason(reason); err != nil {
		return err
	}
	return s.changeHold(ctx, holdOfProject, project, reason, by,
		`update projects set held_at = coalesce(held_at, now()), held_by = $2, held_reason = $3 where name = $1`)
}

// DeleteProjectHold lifts the legal hold on a project; those on its runs stay. It is no error where there is none.
func (s *Store) DeleteProjectHold(ctx context.Context, project, by string) error {
	return s.changeHold(ctx, holdOfProject, project, "", by,
		`update projects set held_at = null, held_by = $2, held_reason = $3 where name = $1`)
}

// changeHold runs a statement that places or lifts a hold, and records it; no reason lifts it.
func (s *Store) changeHold(ctx context.Context, find string, of any, reason, by, statement string) error {
	return db.Tx(ctx, s, "legal hold", func(tx pgx.Tx) error {
		row, err := db.One[holdRow](ctx, tx, find, of)
		if err != nil {
			return db.Wrap("hold", err)
		}
		// As deletions do: whoever comes second sees what the first has done.
		if err := lockProject(ctx, tx, row.ProjectID); err != nil {
			return err
		}
		if err := lockHolds(ctx, tx, true); err != nil {
			return err
		}
		if row, err = db.One[holdRow](ctx, tx, find, of); err != nil {
			return db.Wrap("hold", err)
		}
		if reason == "" && row.HeldAt == nil {
			return nil
		}
		holder := by
		if reason == "" {
			holder = ""
		}
		if _, err := tx.Exec(ctx, statement, of, holder, reason); err != nil {
			return err
		}
		about := map[string]any{}
		if id, isRun := of.(int64); isRun {
			about["run"], about["build"], about["name"] = id, row.Build, row.Name
		}
		before, after := map[string]any{"hold": row.HeldReason}, map[string]any{"hold": reason}
		for key, value := range about {
			before[key], after[key] = value, value
		}
		return audit.RecordProjectChange(ctx, tx, row.ProjectID, by, "hold", before, after)
	})
}

// checkHolds returns ErrHeld where a legal hold stands on the project, or on one of these runs. Whoever calls it has
// called lockProject.
func checkHolds(ctx context.Context, tx pgx.Tx, project int64, runs []int64) error {
	held, err := db.Value[bool](ctx, tx, `
		select exists (select from projects where id = $1 and held_at is not null) or exists (select from runs where id = any($2) and held_at is not null)`,
		project, runs)
	if err == nil && held {
		return ErrHeld
	}
	return err
}
