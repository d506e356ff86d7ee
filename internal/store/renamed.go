package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// joinRenamed makes signatures that have another name since the build of a run part of those that they had before, so
// that history, owner and what the team says go on. It reports whether there were any. Whoever calls it holds the lock
// of the project's signatures. A person may take them apart again.
func joinRenamed(ctx context.Context, tx pgx.Tx, project string, list []leaks.RenamedLeak) (bool, error) {
	changed := false
	for _, r := range list {
		from, err := rootOf(ctx, tx, project, r.From)
		if err != nil {
			return changed, err
		}
		to, err := rootOf(ctx, tx, project, r.To)
		if err != nil {
			return changed, err
		}
		apart, err := value[bool](ctx, tx, `
			select exists (select from signature_audit where signature_id = any($1) and action = 'split')`, []int64{from.Root, to.Root})
		if err != nil {
			return changed, err
		}
		if apart || from.Root == to.Root { // a person knows better
			continue
		}
		joined, err := join(ctx, tx, to.Root, from.Root, leaks.ByRename)
		if err != nil {
			return changed, err
		}
		if !joined {
			continue
		}
		changed = true
		if err := audit(ctx, tx, to.Root, leaks.ByRename, "merge", map[string]any{}, map[string]any{"into": r.From}); err != nil {
			return changed, err
		}
		if err := followRoots(ctx, tx, from.Project, []int64{from.Root}, leaks.ByRename); err != nil {
			return changed, err
		}
	}
	return changed, nil
}
