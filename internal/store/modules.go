package store

import (
	"context"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// ListLeakingModules sums the growth of the open leaks of a project, by blamed module and unit. It returns ErrNotFound
// for no project.
func (v View) ListLeakingModules(ctx context.Context, project string) ([]leaks.ModuleRow, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	rows, err := db.All[leaks.ModuleRow](ctx, db.Q(v), `
		select coalesce(s.blame->>'module', '') as module, coalesce(`+statedUnit("s")+`, '') as unit,
			coalesce(sum(greatest(0, `+statedBytes("s")+`)), 0) as bytes, count(*) as signatures
		from signatures s where s.project_id = $1 and s.bad and s.alias_of is null and `+shownState+openStates+` group by 1, 2 order by 1, 2`, id)
	return rows, db.Wrap("leaks by module", err)
}
