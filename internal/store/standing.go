package store

import (
	"context"
	"slices"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// cleanSince says that evidence since the newest bad build of a signature s is clean: a run shows it and does not find
// it leaking or growing, or its callers ran in a scenario that it was bad in.
var cleanSince = `exists (select from builds bad join builds b on b.project_id = bad.project_id and b.branch = bad.branch and b.place > bad.place
	where bad.id = s.last_bad_id and (
		exists (select from signature_states st where st.signature_id = s.id and st.clean_id = b.id)
		or exists (select from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id
			where own.root_id = s.id and r.build_id = b.id and r.status <> 'inconclusive' and f.class <> 'unknown' and not f.class` + suspect + `)))`

// CountOpenLeaks counts the open leaks of a project, or returns ErrNotFound for no project. Open leaks that are lost
// together in the newest build that shows them count once.
func (v View) CountOpenLeaks(ctx context.Context, project string) (leaks.OpenLeakCounts, error) {
	if _, err := projectID(ctx, db.Q(v), project); err != nil {
		return leaks.OpenLeakCounts{}, err
	}
	counts, err := v.ListOpenLeakCounts(ctx, []string{project})
	return counts[project], err
}

// An openLeakRow is an open leak, or how many signatures of a state are none.
type openLeakRow struct {
	Project string
	Name    string // of an open leak; others are counted together
	Build   *int64 // the newest that shows it
	State   leaks.State
	// First says that the newest build of the project is the first that shows it, Older that the newest does not, and
	// Cleans that evidence since is clean.
	Leaks, First, Older, Cleans bool
	N                           int
}

// ListOpenLeakCounts is CountOpenLeaks of several projects, by name, in as many statements for a hundred projects as
// for one, unless leaks are lost together.
func (v View) ListOpenLeakCounts(ctx context.Context, projects []string) (map[string]leaks.OpenLeakCounts, error) {
	rows, err := db.All[openLeakRow](ctx, db.Q(v), `
		with newest as materialized ( -- once for a project, not for each of its leaks
			select p.id, p.name, (
				select b.id from builds b where b.project_id = p.id and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null)
				order by `+newestFirst+` limit 1) as build
			from projects p where p.name = any($1))
		select project, case when leaks and open then name else '' end as name, case when leaks and open then build end as build,
			state, leaks, first, older, cleans, count(*) as n
		from (select p.name as project, s.text as name, s.last_bad_id as build, `+shownState+` as state, `+shownState+openStates+` as open,
				(s.worst = $2 or s.only_at_exit) as leaks, s.first_bad_id is not distinct from p.build as first,
				s.last_bad_id is distinct from p.build as older,
				(s.worst = $2 or s.only_at_exit) and s.last_bad_id is distinct from p.build and `+shownState+openStates+` and `+cleanSince+` as cleans
			from newest p join signatures s on s.project_id = p.id where s.bad and s.alias_of is null) s
		group by 1, 2, 3, 4, 5, 6, 7, 8`, projects, string(leaks.JudgedLeaking.Class()))
	if err != nil {
		return nil, db.Wrap("signatures that leak or grow", err)
	}
	var builds []int64
	of := map[string][]openLeakRow{}
	for _, r := range rows {
		of[r.Project] = append(of[r.Project], r)
		if r.Build != nil {
			builds = append(builds, *r.Build)
		}
	}
	slices.Sort(builds)
	type runRow struct {
		Project string
		ID      int64
	}
	runs, err := db.All[runRow](ctx, db.Q(v), `
		select p.name as project, r.id from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id
		where r.build_id = any($1) and jsonb_array_length(coalesce(r.summary->'causes', '[]')) > 0 order by r.id`, slices.Compact(builds))
	if err != nil {
		return nil, db.Wrap("runs with causes", err)
	}
	withCauses := map[string][]int64{}
	for _, r := range runs {
		withCauses[r.Project] = append(withCauses[r.Project], r.ID)
	}
	counts := make(map[string]leaks.OpenLeakCounts, len(projects))
	for _, project := range projects {
		causes, err := v.causesOf(ctx, withCauses[project])
		if err != nil {
			return nil, err
		}
		counts[project] = countOpenLeaks(of[project], causes)
	}
	return counts, nil
}

// countOpenLeaks counts the leaks of a project.
func countOpenLeaks(rows []openLeakRow, causes []leaks.LostTogether) leaks.OpenLeakCounts {
	var open []leaks.OpenLeak
	closed, grows := map[leaks.State]int{}, 0
	for _, r := range rows {
		switch isOpen := slices.Contains(leaks.OpenStates, r.State); {
		case r.Leaks && isOpen:
			seen := leaks.BuildView{Build: "newest", FirstBad: "older", LastBad: "newest", CleanSince: r.Cleans}
			if r.First {
				seen.FirstBad = "newest"
			}
			if r.Older {
				seen.LastBad = "older"
			}
			open = append(open, leaks.OpenLeak{Signature: r.Name, State: r.State, Standing: r.State.StandingIn(seen)})
		case r.Leaks || r.State == leaks.StateKnown:
			closed[r.State] += r.N
		case isOpen:
			grows += r.N
		}
	}
	standing := leaks.CountOpenLeaks(open, causes)
	for state, n := range closed {
		standing.Leaks[state] = n
	}
	standing.OnlyGrowing = grows
	return standing
}
