package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// buildFacts are what uploads and people say of a build.
type buildFacts struct {
	ID        int64
	Name      string
	Branch    string
	Commit    string
	Sequence  *int64
	Fork      string
	Ancestors []string
}

// factColumns are those of buildFacts, of builds.
const factColumns = `id, name, branch, commit, sequence, fork, ancestors`

// isOnOtherLine reports whether a build stands on another line of builds than before.
func (b *buildFacts) isOnOtherLine(former *buildFacts) bool {
	return b.Branch != former.Branch || b.Fork != former.Fork || !slices.Equal(b.Ancestors, former.Ancestors)
}

// differences are the facts of two states of a build that differ, with its name, for the audit.
func differences(former, now *buildFacts) (before, after map[string]any) {
	before, after = map[string]any{"build": former.Name}, map[string]any{"build": now.Name}
	for _, field := range []struct{ name, was, is string }{
		{"branch", former.Branch, now.Branch}, {"commit", former.Commit, now.Commit}, {"fork", former.Fork, now.Fork},
	} {
		if field.was != field.is {
			before[field.name], after[field.name] = field.was, field.is
		}
	}
	if !sameSequence(former.Sequence, now.Sequence) {
		before["sequence"], after["sequence"] = former.Sequence, now.Sequence
	}
	return before, after
}

func sameSequence(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// lockedBuild locks a project and reads what is known of one of its builds.
func lockedBuild(ctx context.Context, tx pgx.Tx, project, build string) (id int64, facts buildFacts, err error) {
	if id, err = projectID(ctx, tx, project); err != nil {
		return 0, facts, err
	}
	if err := lockProject(ctx, tx, id); err != nil {
		return 0, facts, err
	}
	facts, err = db.One[buildFacts](ctx, tx, `select `+factColumns+` from builds where project_id = $1 and name = $2`, id, build)
	return id, facts, db.Wrap("build", err)
}

// UpdateBuild corrects a build. If that changes its order or its branch, the states of leaks are computed again. Its
// error is ErrNotFound, or a *leaks.FieldError for a name that another build has.
func (s *Store) UpdateBuild(ctx context.Context, project, build string, c leaks.BuildChange, by string) error {
	if err := c.Normalize(build); err != nil {
		return err
	}
	return db.Tx(ctx, s, "change build", func(tx pgx.Tx) error {
		id, former, err := lockedBuild(ctx, tx, project, build)
		if err != nil {
			return err
		}
		now := former
		for _, field := range []struct{ given, fact *string }{
			{c.Name, &now.Name}, {c.Branch, &now.Branch}, {c.Commit, &now.Commit}, {c.Fork, &now.Fork},
		} {
			if field.given != nil {
				*field.fact = *field.given
			}
		}
		if c.Sequence != nil {
			now.Sequence = c.Sequence
		} else if now.Sequence == nil {
			now.Sequence = ownSequence(now.Name)
		}
		before, after := differences(&former, &now)
		if len(before) == 1 && former.Name == now.Name {
			return nil
		}
		if err := storeFacts(ctx, tx, project, id, &former, &now); err != nil {
			return err
		}
		if err := audit.RecordProjectChange(ctx, tx, id, by, "build", before, after); err != nil {
			return err
		}
		if err := rankBuilds(ctx, tx, id); err != nil {
			return err
		}
		if now.Name != former.Name || now.isOnOtherLine(&former) { // a word may hold until a build of the new name
			return followBranch(ctx, tx, id, now.ID)
		}
		return nil
	})
}

// storeFacts stores the facts of a build. What names the build goes with it: words that hold until it, forks from it,
// and uploads under way.
func storeFacts(ctx context.Context, tx pgx.Tx, project string, id int64, former, now *buildFacts) error {
	_, err := tx.Exec(ctx, `update builds set name = $2, branch = $3, commit = $4, sequence = $5, fork = $6 where id = $1`,
		now.ID, now.Name, now.Branch, now.Commit, now.Sequence, now.Fork)
	if db.IsTaken(err) {
		return &leaks.FieldError{Field: "name", Message: "another build of the project has this name"}
	}
	if err != nil || former.Name == now.Name {
		return err
	}
	if err := lockSignatures(ctx, tx, id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update signatures set until_build = $3 where project_id = $1 and until_build = $2`,
		id, former.Name, now.Name); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update builds set fork = $3 where project_id = $1 and fork = $2`,
		id, former.Name, now.Name); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		update uploads set target = jsonb_set(target, '{build}', to_jsonb($3::text))
		where target->>'project' = $1 and target->>'build' = $2 and result is null`, project, former.Name, now.Name)
	return err
}
