package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// followProject finds the states of all that leaked in a project anew: its builds moved, or stand on other branches
// than before. Whoever calls it holds the lock of the project's signatures.
func followProject(ctx context.Context, tx pgx.Tx, project int64) error {
	if err := lookAgain(ctx, tx, project); err != nil {
		return err
	}
	bad, err := db.Values[int64](ctx, tx,
		`select id from signatures where project_id = $1 and bad and alias_of is null`, project)
	if err != nil {
		return err
	}
	pooled, err := poolAll(ctx, tx, project, nil)
	if err != nil {
		return err
	}
	return followHistory(ctx, tx, project, append(bad, pooled...), "")
}

// followBranch follows the states of a project after the line of a build changed, unless nothing was found in it yet.
// Whoever calls it has called lockProject.
func followBranch(ctx context.Context, tx pgx.Tx, project, build int64) error {
	found, err := db.Value[bool](ctx, tx,
		`select exists (select from runs where build_id = $1 and analysed_at is not null)`, build)
	if err != nil || !found {
		return err
	}
	if err := lockSignatures(ctx, tx, project); err != nil {
		return err
	}
	return followProject(ctx, tx, project)
}
