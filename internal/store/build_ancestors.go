package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// UpdateAncestors stores the commits behind a build, newest first. Where others were stored, the audit says so. It
// returns ErrNotFound where there is no such build.
func (s *Store) UpdateAncestors(ctx context.Context, project, build string, commits []string) error {
	return db.Tx(ctx, s, "set ancestors", func(tx pgx.Tx) error {
		id, former, err := lockedBuild(ctx, tx, project, build)
		if err != nil || slices.Equal(former.Ancestors, commits) {
			return err
		}
		if _, err := tx.Exec(ctx, `update builds set ancestors = $2 where id = $1`, former.ID, filledTexts(commits)); err != nil {
			return err
		}
		if n := len(former.Ancestors); n > 0 {
			if err := audit.RecordProjectChange(ctx, tx, id, uploader(ctx), uploadAction,
				map[string]any{"build": build, "ancestors": n},
				map[string]any{"build": build, "ancestors": len(commits)}); err != nil {
				return err
			}
		}
		return followBranch(ctx, tx, id, former.ID)
	})
}
