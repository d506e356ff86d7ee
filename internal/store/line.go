package store

import (
	"context"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// readLines reads the lines of a project's builds.
func readLines(ctx context.Context, q db.Querier, project int64) (*leaks.BuildLines, error) {
	chosen, err := db.Value[string](ctx, q, `select default_branch from projects where id = $1`, project)
	if err != nil {
		return nil, err
	}
	builds, err := db.All[leaks.LineBuild](ctx, q, `
		select b.id, b.name, b.branch, b.commit, b.ancestors, b.fork, b.place as rank from builds b where b.project_id = $1`, project)
	if err != nil {
		return nil, err
	}
	return leaks.NewBuildLines(builds, chosen), nil
}

// FindMissingBranches says, in a sentence, which builds of a project have no branch where others have one; "" for none.
func (v View) FindMissingBranches(ctx context.Context, project string) (string, error) {
	builds, err := db.All[leaks.BuildBranch](ctx, db.Q(v), `
		select b.name, b.branch from builds b join projects p on p.id = b.project_id
		where p.name = $1 and exists (select from builds o where o.project_id = p.id and o.branch = '')
		order by b.place, b.id`, project)
	return leaks.MissingBranchesText(builds), db.Wrap("branches", err)
}

// projectOfRun finds the project that a run is of.
func projectOfRun(ctx context.Context, q db.Querier, run int64) (int64, error) {
	return db.Value[int64](ctx, q,
		`select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
}
