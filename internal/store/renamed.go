package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// joinRenamed makes signatures that have another name since the build of a run part of those that they had before, so
// that history, owner and what the team says go on. It reports whether there were any. Whoever calls it holds the lock
// of the project's signatures. A person may take them apart again.
//
// The runs that the gate compares are of one scenario. Whatever any other scenario says against it counts: the new name
// in another build, or the old one in this.
func joinRenamed(ctx context.Context, tx pgx.Tx, run *Run, list []leaks.RenamedLeak) (bool, error) {
	changed := false
	for _, r := range list {
		from, err := rootOf(ctx, tx, run.Project, r.From)
		if err != nil {
			return changed, err
		}
		to, err := rootOf(ctx, tx, run.Project, r.To)
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
		both, err := value[bool](ctx, tx, `
			select exists (
				select from findings f join signatures s on s.id = f.signature_id join runs r on r.id = f.run_id join runs head on head.id = $3
				where s.root_id = $1 and r.build_id = head.build_id or s.root_id = $2 and r.build_id <> head.build_id)`, from.Root, to.Root, run.ID)
		if err != nil {
			return changed, err
		}
		if both {
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
