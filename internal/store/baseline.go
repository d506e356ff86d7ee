package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// UpdateBaseline makes a build a release and the baseline of newer builds (pinned), or undoes both. A release stays one
// when another becomes the baseline. It returns ErrNotFound for no such build.
func (s *Store) UpdateBaseline(ctx context.Context, project, build string, pinned bool) error {
	return db.Tx(ctx, s, "pin baseline", func(tx pgx.Tx) error {
		// As uploads do: the project before its builds.
		id, err := db.Value[int64](ctx, tx, `select id from projects where name = $1 for no key update`, project)
		if err != nil {
			return db.Wrap("project", err)
		}
		chosen, err := db.Value[int64](ctx, tx,
			`update builds set pinned = $3 where project_id = $1 and name = $2 returning id`,
			id, build, pinned)
		if err != nil {
			return db.Wrap("build", err)
		}
		if pinned {
			_, err = tx.Exec(ctx, `update projects set baseline_id = $2 where id = $1`, id, chosen)
		} else {
			_, err = tx.Exec(ctx, `update projects set baseline_id = null where id = $1 and baseline_id = $2`, id, chosen)
		}
		return err
	})
}

// FindBaseline returns the name of the build that was chosen for a project, "" for none, or ErrNotFound for no project.
func (v View) FindBaseline(ctx context.Context, project string) (string, error) {
	name, err := db.Value[string](ctx, db.Q(v), `
		select coalesce(b.name, '') from projects p left join builds b on b.id = p.baseline_id where p.name = $1`, project)
	return name, db.Wrap("project", err)
}

// FindBaselineOfBuild returns the name of the build that a build is to be compared with in a scenario, as
// leaks.ChooseBaseline chooses it; ErrNotFound where there is none, or no such build.
func (v View) FindBaselineOfBuild(ctx context.Context, project, scenario, build string) (string, error) {
	heads, err := candidates(ctx, db.Q(v), project, scenario, `b.name = $3`, build)
	if err != nil {
		return "", db.Wrap("baseline", err)
	}
	if len(heads) == 0 {
		return "", ErrNotFound
	}
	type row struct{ ID, ProjectID int64 }
	head, err := db.One[row](ctx, db.Q(v), `
		select b.id, b.project_id from builds b join projects p on p.id = b.project_id where p.name = $1 and b.name = $2`, project, build)
	if err != nil {
		return "", db.Wrap("baseline", err)
	}
	lines, err := readLines(ctx, db.Q(v), head.ProjectID)
	if err != nil {
		return "", db.Wrap("lines", err)
	}
	// The query leaves out builds that cannot be the head's baseline, because projects have thousands of builds.
	line := lines.OfBuild(head.ID).BuildIDs
	list, err := candidates(ctx, db.Q(v), project, scenario, `(b.id = p.baseline_id or b.pinned or b.id = any($3))`, line)
	if err != nil {
		return "", db.Wrap("baseline", err)
	}
	for i := range list {
		list[i].OnLine = slices.Contains(line, list[i].ID)
	}
	if name := leaks.ChooseBaseline(heads[0].BaselineCandidate, bare(list)); name != "" {
		return name, nil
	}
	return "", ErrNotFound
}

// FindNewestBuild returns the name of the newest build that has a result in a scenario; "" for none.
func (v View) FindNewestBuild(ctx context.Context, project, scenario string) (string, error) {
	list, err := candidates(ctx, db.Q(v), project, scenario, `$3 = ''`, "")
	return leaks.NewestWithResult(bare(list)), db.Wrap("newest build", err)
}

// A candidate is a build that may be the baseline of another.
type candidate struct {
	ID int64
	leaks.BaselineCandidate
}

// bare are candidates as the domain takes them.
func bare(list []candidate) []leaks.BaselineCandidate {
	out := make([]leaks.BaselineCandidate, len(list))
	for i := range list {
		out[i] = list[i].BaselineCandidate
	}
	return out
}

func candidates(ctx context.Context, q db.Querier, project, scenario, which string, arg any) ([]candidate, error) {
	return db.All[candidate](ctx, q, `
		select b.id, b.name, b.place as rank, b.pinned, b.id is not distinct from p.baseline_id as chosen, false as on_line,
			count(r.id) > 0 as has_run, coalesce(bool_or(r.status <> $4), false) as decides
		from builds b join projects p on p.id = b.project_id
			left join (runs r join scenarios sc on sc.id = r.scenario_id and sc.name = $2) on r.build_id = b.id and r.analysed_at is not null
		where p.name = $1 and `+which+` group by b.id, p.id`, project, scenario, arg, inconclusive)
}
