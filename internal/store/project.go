package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// A Project is a product that is tested for leaks.
type Project struct {
	Name   string
	Builds int        // how many
	Runs   int        // how many
	LastAt *time.Time // when the newest run was created; nil for none
}

// ListProjects lists the projects that an actor may see, by name.
func (v View) ListProjects(ctx context.Context, a *accounts.Actor) ([]Project, error) {
	type row struct {
		ID int64
		Project
	}
	list, err := db.All[row](ctx, db.Q(v), `
		with counted as (select build_id, count(*) as runs, max(created_at) as last_at from runs group by build_id)
		select p.id, p.name, count(b.id) as builds, coalesce(sum(c.runs), 0)::bigint as runs, max(c.last_at) as last_at
		from projects p left join builds b on b.project_id = p.id left join counted c on c.build_id = b.id
		group by p.id order by p.name`)
	var visible []Project
	for i := range list {
		if a.MaySee(list[i].ID) {
			visible = append(visible, list[i].Project)
		}
	}
	return visible, db.Wrap("projects", err)
}

// CreateProject makes a project. user is the id of its first admin, 0 for none; by is who makes it, for the audit. Its
// error is a *leaks.FieldError for a name that is invalid or taken.
func (s *Store) CreateProject(ctx context.Context, name string, user int64, by string) error {
	if err := leaks.CheckProjectName(name); err != nil {
		return err
	}
	return db.Tx(ctx, s, "add project", func(tx pgx.Tx) error {
		id, err := db.Value[int64](ctx, tx, `insert into projects (name) values ($1) returning id`, name)
		if db.IsTaken(err) {
			return &leaks.FieldError{Field: "project", Message: "there is one of this name"}
		}
		if err != nil {
			return err
		}
		if user != 0 {
			if _, err := tx.Exec(ctx, `insert into members (project_id, user_id, role) values ($1, $2, $3)`, id, user,
				accounts.Admin); err != nil {
				return err
			}
		}
		return audit.RecordProjectChange(ctx, tx, id, by, "project", map[string]any{}, map[string]any{"name": name})
	})
}

// projectID returns the id of a project, or ErrNotFound.
func projectID(ctx context.Context, q db.Querier, project string) (int64, error) {
	id, err := db.Value[int64](ctx, q, `select id from projects where name = $1`, project)
	return id, db.Wrap("project", err)
}

// UpdateProjectName renames a project, with its uploads under way. Its error is ErrNotFound, or a *leaks.FieldError for
// a name that is invalid or taken.
func (s *Store) UpdateProjectName(ctx context.Context, project, to, by string) error {
	if err := leaks.CheckProjectName(to); err != nil {
		return err
	}
	return db.Tx(ctx, s, "rename project", func(tx pgx.Tx) error { return renameProject(ctx, tx, project, to, by) })
}

func renameProject(ctx context.Context, tx pgx.Tx, project, to, by string) error {
	id, err := db.Value[int64](ctx, tx, `update projects set name = $2 where name = $1 returning id`, project, to)
	if db.IsTaken(err) {
		return &leaks.FieldError{Field: "project", Message: "there is one of this name"}
	}
	if err != nil {
		return db.Wrap("project", err)
	}
	if _, err := tx.Exec(ctx,
		`update uploads set target = jsonb_set(target, '{project}', to_jsonb($2::text)) where target->>'project' = $1 and result is null`, project, to); err != nil {
		return err
	}
	return audit.RecordProjectChange(ctx, tx, id, by, "project",
		map[string]any{"name": project}, map[string]any{"name": to})
}

// FindProjectID is the id of a project, or ErrNotFound.
func (v View) FindProjectID(ctx context.Context, project string) (int64, error) {
	return projectID(ctx, db.Q(v), project)
}

// FindProjectOfRun is the id of the project that a run belongs to, or ErrNotFound.
func (v View) FindProjectOfRun(ctx context.Context, run int64) (int64, error) {
	id, err := db.Value[int64](ctx, db.Q(v),
		`select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
	return id, db.Wrap("project of a run", err)
}
