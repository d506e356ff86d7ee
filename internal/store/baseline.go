package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// PinBuild says whether a build is a release that others are compared with. It returns ErrNotFound.
func (s *Store) PinBuild(ctx context.Context, project, build string, pinned bool) error {
	return s.tx(ctx, "pin build", func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, `
			update builds b set pinned = $3 from projects p where p.id = b.project_id and p.name = $1 and b.name = $2 returning b.id`, project, build, pinned).Scan(&id)
		if err != nil || pinned {
			return wrap("build", err)
		}
		_, err = tx.Exec(ctx, `update projects set baseline_id = null where baseline_id = $1`, id)
		return err
	})
}

// SetBaseline makes a build the one that newer builds are compared with and pins it; "" takes the choice back. It returns
// ErrNotFound.
func (s *Store) SetBaseline(ctx context.Context, project, build string) error {
	return s.tx(ctx, "set baseline", func(tx pgx.Tx) error {
		if build == "" {
			tag, err := tx.Exec(ctx, `update projects set baseline_id = null where name = $1`, project)
			if err == nil && tag.RowsAffected() == 0 {
				return ErrNotFound
			}
			return err
		}
		var id int64
		err := tx.QueryRow(ctx, `
			update builds b set pinned = true from projects p where p.id = b.project_id and p.name = $1 and b.name = $2 returning b.id`, project, build).Scan(&id)
		if err != nil {
			return wrap("build", err)
		}
		_, err = tx.Exec(ctx, `update projects set baseline_id = $2 where name = $1`, project, id)
		return err
	})
}

// BaselineOf returns the name of the build that a build is to be compared with: the project's baseline, else the newest
// pinned one, else the one before it on its branch; always an older one that has a result in the scenario. Those whose
// evidence decides something come first: against others nothing is new. It returns ErrNotFound where there is none, or no
// such build.
func (s *Store) BaselineOf(ctx context.Context, project, scenario, build string) (string, error) {
	var name string
	err := s.pool.QueryRow(ctx, `
		with head as (
			select b.*, p.baseline_id from builds b join projects p on p.id = b.project_id where p.name = $1 and b.name = $3)
		select b.name from head h join builds b on b.project_id = h.project_id
		where (coalesce(b.sequence, $4), b.id) < (coalesce(h.sequence, $4), h.id)
			and (b.id = h.baseline_id or b.pinned or b.branch = h.branch)
			and exists (select from runs r join scenarios sc on sc.id = r.scenario_id where r.build_id = b.id and sc.name = $2 and r.analysed_at is not null)
		order by b.id is not distinct from h.baseline_id desc, b.pinned desc,
			exists (select from runs r join scenarios sc on sc.id = r.scenario_id
				where r.build_id = b.id and sc.name = $2 and r.analysed_at is not null and r.status <> 'inconclusive') desc, b.sequence desc nulls last, b.id desc limit 1`,
		project, scenario, build, undeclared).Scan(&name)
	return name, wrap("baseline", err)
}

// Baseline returns the name of the build that was chosen for a project, "" for none, or ErrNotFound for no project.
func (s *Store) Baseline(ctx context.Context, project string) (string, error) {
	var name string
	err := s.pool.QueryRow(ctx, `
		select coalesce(b.name, '') from projects p left join builds b on b.id = p.baseline_id where p.name = $1`, project).Scan(&name)
	return name, wrap("project", err)
}
