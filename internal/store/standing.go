package store

import (
	"context"
	"slices"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// CountOpenLeaks counts the open leaks of a project, or returns ErrNotFound for no project. Open leaks that are lost
// together in the newest build that shows them count once.
func (v View) CountOpenLeaks(ctx context.Context, project string) (leaks.OpenLeakCounts, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return leaks.OpenLeakCounts{}, err
	}
	type row struct {
		Name         string // of an open leak; others are counted together
		Build        *int64 // the newest that shows it
		State        leaks.State
		Leaks, Older bool
		N            int
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		select case when leaks and open then name else '' end as name, case when leaks and open then build end as build,
			state, leaks, older, count(*) as n
		from (select s.text as name, s.last_bad_id as build, `+shownState+` as state, `+shownState+openStates+` as open,
				s.worst = $2 as leaks, s.last_bad_id is distinct from newest.id as older
			from signatures s cross join (select (
				select b.id from builds b where b.project_id = $1 and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null)
				order by `+newestFirst+` limit 1)) newest
			where s.project_id = $1 and s.bad and s.alias_of is null) s
		group by 1, 2, 3, 4, 5`, id, string(leaks.JudgedLeaking.Class()))
	if err != nil {
		return leaks.OpenLeakCounts{}, db.Wrap("signatures that leak or grow", err)
	}
	var open []leaks.OpenLeak
	var builds []int64
	closed, grows := map[leaks.State]int{}, 0
	for _, r := range rows {
		switch isOpen := slices.Contains(leaks.OpenStates, r.State); {
		case r.Leaks && isOpen:
			open = append(open, leaks.OpenLeak{Signature: r.Name, State: r.State, NotInNewest: r.Older})
			if r.Build != nil && !slices.Contains(builds, *r.Build) {
				builds = append(builds, *r.Build)
			}
		case r.Leaks:
			closed[r.State] += r.N
		case isOpen:
			grows += r.N
		}
	}
	runs, err := db.Values[int64](ctx, db.Q(v), `
		select id from runs where build_id = any($1) and jsonb_array_length(coalesce(summary->'causes', '[]')) > 0 order by id`, builds)
	if err != nil {
		return leaks.OpenLeakCounts{}, db.Wrap("runs with causes", err)
	}
	causes, err := v.causesOf(ctx, runs)
	if err != nil {
		return leaks.OpenLeakCounts{}, err
	}
	standing := leaks.CountOpenLeaks(open, causes)
	for state, n := range closed {
		standing.Leaks[state] = n
	}
	standing.OnlyGrowing = grows
	return standing, nil
}
