package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// ProjectSettings are the settings of a project that its team can change.
type ProjectSettings struct {
	Name          string
	DefaultBranch string // the branch that other branches leave; "" where not set
}

// FindProjectSettings returns the settings of a project, or ErrNotFound.
func (v View) FindProjectSettings(ctx context.Context, project string) (ProjectSettings, error) {
	p, err := db.One[ProjectSettings](ctx, db.Q(v), `select name, default_branch from projects where name = $1`, project)
	return p, db.Wrap("project", err)
}

// UpdateProject changes the settings of a project. Its error is ErrNotFound, or a *leaks.FieldError for a name that is
// invalid or taken.
func (s *Store) UpdateProject(ctx context.Context, project string, c leaks.ProjectChange, by string) error {
	if err := c.Normalize(); err != nil {
		return err
	}
	return db.Tx(ctx, s, "change project", func(tx pgx.Tx) error {
		id, err := projectID(ctx, tx, project)
		if err != nil {
			return err
		}
		if err := lockProject(ctx, tx, id); err != nil {
			return err
		}
		if c.DefaultBranch != nil {
			if err := setDefaultBranch(ctx, tx, id, *c.DefaultBranch, by); err != nil {
				return err
			}
		}
		if c.Name == nil || *c.Name == project {
			return nil
		}
		return renameProject(ctx, tx, project, *c.Name, by)
	})
}

// setDefaultBranch says which branch of a project the others leave, and follows the states by it.
func setDefaultBranch(ctx context.Context, tx pgx.Tx, project int64, branch, by string) error {
	former, err := db.Value[string](ctx, tx, `select default_branch from projects where id = $1`, project)
	if err != nil || former == branch {
		return err
	}
	if _, err := tx.Exec(ctx, `update projects set default_branch = $2 where id = $1`, project, branch); err != nil {
		return err
	}
	if err := audit.RecordProjectChange(ctx, tx, project, by, "default-branch", map[string]any{"default_branch": former},
		map[string]any{"default_branch": branch}); err != nil {
		return err
	}
	if err := lockSignatures(ctx, tx, project); err != nil {
		return err
	}
	return followProject(ctx, tx, project)
}
