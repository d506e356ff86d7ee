package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// PinBaseline makes a build a release, and the one that newer builds are compared with; or lets go of it as both. It returns
// ErrNotFound.
func (s *Store) PinBaseline(ctx context.Context, project, build string, pinned bool) error {
	return s.tx(ctx, "pin baseline", func(tx pgx.Tx) error {
		id, err := pin(ctx, tx, project, build, pinned)
		if err != nil {
			return err
		}
		if pinned {
			_, err = tx.Exec(ctx, `update projects set baseline_id = $2 where name = $1`, project, id)
		} else {
			_, err = tx.Exec(ctx, `update projects set baseline_id = null where baseline_id = $1`, id)
		}
		return err
	})
}

// PinRelease makes a build a release that others are compared with where the project has chosen no baseline. It returns ErrNotFound.
func (s *Store) PinRelease(ctx context.Context, project, build string) error {
	return s.tx(ctx, "pin release", func(tx pgx.Tx) error {
		_, err := pin(ctx, tx, project, build, true)
		return err
	})
}

func pin(ctx context.Context, tx pgx.Tx, project, build string, pinned bool) (int64, error) {
	id, err := value[int64](ctx, tx, `
		update builds b set pinned = $3 from projects p where p.id = b.project_id and p.name = $1 and b.name = $2 returning b.id`, project, build, pinned)
	return id, wrap("build", err)
}

// Baseline returns the name of the build that was chosen for a project, "" for none, or ErrNotFound for no project.
func (v View) Baseline(ctx context.Context, project string) (string, error) {
	name, err := value[string](ctx, v.q, `
		select coalesce(b.name, '') from projects p left join builds b on b.id = p.baseline_id where p.name = $1`, project)
	return name, wrap("project", err)
}

// BaselineOf returns the name of the build that a build is to be compared with in a scenario, as leaks.Baseline chooses it; ErrNotFound
// where there is none, or no such build.
func (v View) BaselineOf(ctx context.Context, project, scenario, build string) (string, error) {
	heads, err := candidates(ctx, v.q, project, scenario, `b.name = $3`, build)
	if err != nil {
		return "", wrap("baseline", err)
	}
	if len(heads) == 0 {
		return "", ErrNotFound
	}
	// What can be no baseline of the head stays in the database: projects have thousands of builds.
	list, err := candidates(ctx, v.q, project, scenario, `(b.id = p.baseline_id or b.pinned or b.branch = $3)`, heads[0].Branch)
	if err != nil {
		return "", wrap("baseline", err)
	}
	if name := leaks.Baseline(heads[0], list); name != "" {
		return name, nil
	}
	return "", ErrNotFound
}

// NewestWithResult returns the name of the newest build that has a result in a scenario; "" for none.
func (v View) NewestWithResult(ctx context.Context, project, scenario string) (string, error) {
	list, err := candidates(ctx, v.q, project, scenario, `$3 = ''`, "")
	return leaks.Newest(list), wrap("newest build", err)
}

func candidates(ctx context.Context, q querier, project, scenario, which string, arg any) ([]leaks.Candidate, error) {
	return all[leaks.Candidate](ctx, q, `
		select b.name, b.sequence, b.id, b.branch, b.pinned, b.id is not distinct from p.baseline_id as chosen,
			count(r.id) > 0 as has_run, coalesce(bool_or(r.status <> $4), false) as decides
		from builds b join projects p on p.id = b.project_id
			left join (runs r join scenarios sc on sc.id = r.scenario_id and sc.name = $2) on r.build_id = b.id and r.analysed_at is not null
		where p.name = $1 and `+which+` group by b.id, p.id`, project, scenario, arg, inconclusive)
}
