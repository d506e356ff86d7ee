package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// ensureRun finds the target's run or makes it, and returns its id. A declared sequence or branch updates the build; where
// the build takes another place among the others by it, the project's history is to be read again.
func ensureRun(ctx context.Context, tx pgx.Tx, t leaks.Target) (int64, error) {
	// "do update" instead of "do nothing", so that the row comes back whether it was there or not. Of a project a column is set
	// that is no key: else the row would be locked against those who refer to it, and they may hold the run that is wanted next.
	return value[int64](ctx, tx, `
		with moved as (
			select b.project_id from builds b join projects p on p.id = b.project_id
			where p.name = $1 and b.name = $2 and $3::bigint is not null and b.sequence is distinct from $3::bigint),
		project as (
			insert into projects (name) values ($1)
			on conflict (name) do update set created_at = projects.created_at returning id),
		noted as (insert into reordered (project_id) select project_id from moved),
		build as (
			insert into builds (project_id, name, sequence, branch) select id, $2, $3, $4 from project
			on conflict (project_id, name) do update set
				sequence = coalesce(excluded.sequence, builds.sequence),
				branch = case when excluded.branch = '' then builds.branch else excluded.branch end
			returning id),
		scenario as (
			insert into scenarios (project_id, name) select id, $5 from project
			on conflict (project_id, name) do update set name = excluded.name returning id)
		insert into runs (build_id, scenario_id, name, work_unit) select build.id, scenario.id, $6, $7 from build, scenario
		on conflict (build_id, scenario_id, name) do update set work_unit = case when excluded.work_unit = '' then runs.work_unit else excluded.work_unit end
		returning id`, t.Project, t.Build, t.Sequence, t.Branch, t.Scenario, t.Run, t.WorkUnit)
}
