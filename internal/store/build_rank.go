package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// lockProject waits for the builds of a project, of which at most one transaction adds some or moves some. It comes
// before the rows of runs and jobs.
func lockProject(ctx context.Context, tx pgx.Tx, project int64) error {
	_, err := tx.Exec(ctx, `select from projects where id = $1 for no key update`, project)
	return err
}

// buildColumns are those of leaks.Build, of builds.
const buildColumns = `id, name, sequence, coalesce(taken_at, created_at at time zone 'UTC') as at`

// A rankedBuild is a build with its stored rank, which is nil until it has one.
type rankedBuild struct {
	leaks.Build
	Place []byte
}

// rankBuilds finds the ranks of a project's builds anew, as leaks.RankBuilds has them. Where builds move that something
// is said of, the states of all that leaked follow again, and a change of the order has a line in the audit of the
// project. Whoever calls it has called lockProject.
func rankBuilds(ctx context.Context, tx pgx.Tx, project int64) error {
	list, err := db.All[rankedBuild](ctx, tx, `select `+buildColumns+
		`, nullif(place, '') as place from builds where project_id = $1 order by place, id`, project)
	if err != nil {
		return err
	}
	facts := make([]leaks.Build, len(list))
	for i := range list {
		facts[i] = list[i].Build
	}
	type move struct {
		ids   []int64
		names []string
		ranks [][]byte
	}
	var moves move
	had := false // a rank, of those that move
	for i, rank := range leaks.RankBuilds(facts) {
		if b := &list[i]; !bytes.Equal(b.Place, rank) {
			moves = move{append(moves.ids, b.ID), append(moves.names, b.Name), append(moves.ranks, rank)}
			had = had || b.Place != nil
		}
	}
	if len(moves.ids) == 0 {
		return nil
	}
	if had { // A result that is being stored follows the order that it sees: it is stored before, or sees the order of now.
		if err := lockSignatures(ctx, tx, project); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx,
		`update builds b set place = n.place from unnest($1::bigint[], $2::bytea[]) n (id, place) where b.id = n.id`,
		moves.ids, moves.ranks); err != nil {
		return err
	}
	told, err := db.Value[bool](ctx, tx, `
		select exists (select from runs where build_id = any($2) and analysed_at is not null)
			or exists (select from signatures where project_id = $1 and bad and alias_of is null and (fixed_id = any($2) or until_build = any($3)))`, project, moves.ids, moves.names)
	if err != nil || !told {
		return err
	}
	if err := auditOrder(ctx, tx, project, list); err != nil {
		return err
	}
	if !had {
		if err := lockSignatures(ctx, tx, project); err != nil {
			return err
		}
	}
	return followProject(ctx, tx, project)
}

// auditOrder notes how the order of the builds that have results changed; before has them in the former one.
func auditOrder(ctx context.Context, tx pgx.Tx, project int64, before []rankedBuild) error {
	now, err := db.Values[string](ctx, tx, `
		select b.name from builds b where b.project_id = $1 and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null) order by `+oldestFirst, project)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(now))
	for _, name := range now {
		there[name] = true
	}
	was := make([]string, 0, len(now))
	for i := range before {
		if b := &before[i]; there[b.Name] && b.Place != nil {
			was = append(was, b.Name)
		} else {
			there[b.Name] = false // had no rank that could change
		}
	}
	now = slices.DeleteFunc(now, func(name string) bool { return !there[name] })
	was, now = changed(was, now)
	if len(was) == 0 {
		return nil
	}
	type order struct {
		Builds []string `json:"builds"`
		More   int      `json:"more,omitempty"`
	}
	cut := func(names []string) order {
		n := min(len(names), maxAudited)
		return order{names[:n], len(names) - n}
	}
	return audit.RecordProjectChange(ctx, tx, project, "", "order", cut(was), cut(now))
}

// maxAudited is how many builds a line of the audit names.
const maxAudited = 100

// changed cuts off the beginning and the end that two lists have in common. The lists are permutations of each other,
// so that nothing is left of equal ones.
func changed(was, now []string) (wasCut, nowCut []string) {
	for len(was) > 0 && was[0] == now[0] {
		was, now = was[1:], now[1:]
	}
	for n := len(was) - 1; n >= 0 && was[n] == now[n]; n-- {
		was, now = was[:n], now[:n]
	}
	return was, now
}

// noteTaken notes when the first evidence of the build of a run was taken, and moves the build by it.
func noteTaken(ctx context.Context, tx pgx.Tx, project, run int64) error {
	tag, err := tx.Exec(ctx, `
		with taken as (
			select b.id, min(c.taken_at) as at
			from builds b join runs r on r.build_id = b.id left join (evidence e join captures c on c.evidence_id = e.id) on e.run_id = r.id
			where b.id = (select build_id from runs where id = $1) group by b.id)
		update builds b set taken_at = taken.at from taken where b.id = taken.id and b.taken_at is distinct from taken.at`, run)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return rankBuilds(ctx, tx, project)
}

// UpdateBuildOrder computes the ranks of all builds again: an older program may have used another rule.
func (s *Store) UpdateBuildOrder(ctx context.Context) error {
	projects, err := db.Values[int64](ctx, db.Conns(s), `select id from projects order by id`)
	if err != nil {
		return fmt.Errorf("store: order builds: %w", err)
	}
	for _, project := range projects {
		if err := db.Tx(ctx, s, "order builds", func(tx pgx.Tx) error {
			if err := lockProject(ctx, tx, project); err != nil {
				return err
			}
			return rankBuilds(ctx, tx, project)
		}); err != nil {
			return err
		}
	}
	return nil
}
