package store

import (
	"context"
	"slices"

	"heapdrift/internal/leaks"
)

// Standing counts what leaks and grows in a project, or returns ErrNotFound for no project. Leaks that are lost
// together in the newest build that shows them count once.
func (v View) Standing(ctx context.Context, project string) (leaks.Standing, error) {
	id, err := projectID(ctx, v.q, project)
	if err != nil {
		return leaks.Standing{}, err
	}
	type row struct {
		Name         string
		State        leaks.State
		Leaks, Older bool
		Build        *int64 // the newest that shows it
	}
	rows, err := all[row](ctx, v.q, `
		select s.text as name, `+shownState+` as state, s.worst = $2 as leaks, s.last_bad_id as build,
			s.last_bad_id is distinct from newest.id as older
		from signatures s cross join (select (
			select b.id from builds b where b.project_id = $1 and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null)
			order by `+newestFirst+` limit 1)) newest
		where s.project_id = $1 and s.bad and s.alias_of is null`, id, string(leaks.Leaking.Class()))
	if err != nil {
		return leaks.Standing{}, wrap("signatures that leak or grow", err)
	}
	var open []leaks.Standee
	var builds []int64
	grows := 0
	for _, r := range rows {
		switch isOpen := slices.Contains(leaks.OpenStates, r.State); {
		case r.Leaks:
			open = append(open, leaks.Standee{Signature: r.Name, State: r.State, Older: r.Older})
			if isOpen && r.Build != nil && !slices.Contains(builds, *r.Build) {
				builds = append(builds, *r.Build)
			}
		case isOpen:
			grows++
		}
	}
	causes, err := v.causesOfBuilds(ctx, builds)
	if err != nil {
		return leaks.Standing{}, err
	}
	standing := leaks.StandingOf(open, causes)
	standing.Grows = grows
	return standing, nil
}

// causesOfBuilds are the causes that the runs of builds show.
func (v View) causesOfBuilds(ctx context.Context, builds []int64) ([]leaks.Cause, error) {
	if len(builds) == 0 {
		return nil, nil
	}
	runs, err := values[int64](ctx, v.q, `
		select id from runs where build_id = any($1) and jsonb_array_length(coalesce(summary->'causes', '[]')) > 0 order by id`, builds)
	if err != nil {
		return nil, wrap("runs with causes", err)
	}
	var list []leaks.Cause
	for _, run := range runs {
		causes, err := v.Causes(ctx, run)
		if err != nil {
			return nil, err
		}
		list = append(list, causes...)
	}
	return list, nil
}
