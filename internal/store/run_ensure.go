package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// ensureRun finds the target's run or makes it, and returns its id. A declared sequence or branch updates the build; a
// build that is new, or that takes another place among the others by it, is placed.
func ensureRun(ctx context.Context, tx pgx.Tx, t leaks.Target) (int64, error) {
	// "do update" instead of "do nothing", so that the row comes back whether it was there or not. Of a project a column
	// is set that is no key: else the row would be locked against those who refer to it, and they may hold the run that is
	// wanted next.
	project, err := value[int64](ctx, tx, `
		insert into projects (name) values ($1) on conflict (name) do update set created_at = projects.created_at returning id`, t.Project)
	if err != nil {
		return 0, err
	}
	// Behind the lock of the project, which the statement above holds, no other upload changes its builds.
	type ensuredRun struct {
		ID    int64
		Moved bool
	}
	r, err := one[ensuredRun](ctx, tx, `
		with former as (select sequence from builds where project_id = $1 and name = $2),
		build as (
			insert into builds (project_id, name, sequence, branch, commit) values ($1, $2, coalesce($3::bigint, $8::bigint), $4, $9)
			on conflict (project_id, name) do update set
				sequence = coalesce($3::bigint, builds.sequence),
				branch = case when excluded.branch = '' then builds.branch else excluded.branch end,
				commit = case when excluded.commit = '' then builds.commit else excluded.commit end
			returning id, sequence),
		scenario as (
			insert into scenarios (project_id, name) values ($1, $5)
			on conflict (project_id, name) do update set name = excluded.name returning id),
		run as (
			insert into runs (build_id, scenario_id, name, work_unit) select build.id, scenario.id, $6, $7 from build, scenario
			on conflict (build_id, scenario_id,
				name) do update set work_unit = case when excluded.work_unit = '' then runs.work_unit else excluded.work_unit end
			returning id)
		select run.id, not exists (select from former where former.sequence is not distinct from build.sequence) as moved from run, build`,
		project, t.Build, t.Sequence, t.Branch, t.Scenario, t.Run, t.WorkUnit, ownSequence(t.Build), t.Commit)
	if err != nil || !r.Moved {
		return r.ID, err
	}
	return r.ID, placeBuilds(ctx, tx, project)
}

// ownSequence is the sequence that a build has by its name as long as none was declared; nil for none.
func ownSequence(name string) *int64 {
	if n, ok := leaks.SequenceOfName(name); ok {
		return &n
	}
	return nil
}
