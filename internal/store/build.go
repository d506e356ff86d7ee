package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A BuildRef names a build.
type BuildRef struct {
	Name     string
	Sequence *int64 // nil where none is declared
	Branch   string
	Commit   string // that it was made of; "" where no upload says
	Pinned   bool   // a release
}

// A Build is a version under test with its runs, the newest first.
type Build struct {
	BuildRef
	Runs []Run
}

// A BuildQuery chooses a page of a project's builds. Uploads add new builds: a page is named by the build before it, so
// that no build is shown twice or skipped.
type BuildQuery struct {
	Project    string
	Scenario   string // only builds that have a run of it, with those runs; "" for all
	AfterBuild string // name of a build: only older ones; "" for the newest
	Limit      int    // most builds of the page
}

// A BuildPage is a page of builds, the newest first.
type BuildPage struct {
	Builds     []Build
	RowsBefore int // how many builds are on newer pages
	Total      int // how many builds are on all pages
}

// NextAfterBuild is the AfterBuild of the next page; "" where there is none.
func (p *BuildPage) NextAfterBuild() string {
	if n := len(p.Builds); n > 0 && p.RowsBefore+n < p.Total {
		return p.Builds[n-1].Name
	}
	return ""
}

// ListBuilds returns a page of a project's builds, the newest first. It returns ErrNotFound for a project that does not
// exist, and a *leaks.FieldError for an AfterBuild that is none of its builds.
func (v View) ListBuilds(ctx context.Context, q BuildQuery) (*BuildPage, error) {
	project, err := projectID(ctx, db.Q(v), q.Project)
	if err != nil {
		return nil, err
	}
	if q.AfterBuild != "" {
		if _, err := db.Value[int64](ctx, db.Q(v), `select id from builds where project_id = $1 and name = $2`,
			project, q.AfterBuild); err != nil {
			return nil, unknownAfter(err, q.AfterBuild)
		}
	}
	type row struct {
		BuildRef
		ID     int64
		Before int
		Total  int
	}
	const chosen = ` from builds b where b.project_id = $1
		and ($2 = '' or exists (select from runs r join scenarios sc on sc.id = r.scenario_id where r.build_id = b.id and sc.name = $2))`
	// The row number counts builds that are newer, so that a page says where it stands.
	rows, err := db.All[row](ctx, db.Q(v), `
		with listed as (
			select b.id, b.name, b.sequence, b.branch, b.commit, b.pinned, row_number() over (order by `+newestFirst+`) as rank, b.place, count(*) over () as total`+chosen+`),
		mark as (select b.place from builds b where b.project_id = $1 and b.name = $3)
		select b.id, b.name, b.sequence, b.branch, b.commit, b.pinned, (b.rank - 1)::int as before, b.total::int as total from listed b
		where $3 = '' or exists (select from mark where b.place < mark.place)
		order by b.rank limit $4`, project, q.Scenario, q.AfterBuild, q.Limit)
	if err != nil {
		return nil, db.Wrap("builds", err)
	}
	page, ids := &BuildPage{}, make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
		page.Builds = append(page.Builds, Build{BuildRef: r.BuildRef})
		page.Total = r.Total
	}
	if len(rows) == 0 { // all stand before it
		page.Total, err = db.Value[int](ctx, db.Q(v), `select count(*)`+chosen, project, q.Scenario)
		page.RowsBefore = page.Total
		return page, db.Wrap("count builds", err)
	}
	page.RowsBefore = rows[0].Before
	type placedRun struct {
		Run
		BuildID int64
	}
	runs, err := db.All[placedRun](ctx, db.Q(v), `select `+runColumns+`, r.build_id`+runTables+`
		where r.build_id = any($1) and ($2 = '' or sc.name = $2) order by r.id desc`, ids, q.Scenario)
	if err != nil {
		return nil, db.Wrap("runs", err)
	}
	for _, r := range runs {
		b := &page.Builds[slices.Index(ids, r.BuildID)]
		b.Runs = append(b.Runs, r.Run)
	}
	return page, nil
}

// unknownAfter says that a page stands behind a build that is not there.
func unknownAfter(err error, name string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return &leaks.FieldError{Field: "after",
			Message: fmt.Sprintf("the project has no build %q; begin with the first page", name)}
	}
	return db.Wrap("build", err)
}

// ListBuildsWithResults lists the newest builds of a project that have a result, oldest first: at most limit of them,
// all for 0. It returns ErrNotFound for a project that does not exist.
func (v View) ListBuildsWithResults(ctx context.Context, project string, limit int) ([]BuildRef, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	list, err := buildsWithResults(ctx, db.Q(v), id, limit)
	return list, db.Wrap("builds", err)
}

func buildsWithResults(ctx context.Context, q db.Querier, project int64, limit int) ([]BuildRef, error) {
	builds, err := db.All[BuildRef](ctx, q, `
		select b.name, b.sequence, b.branch, b.commit, b.pinned from builds b
		where b.project_id = $1 and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null)
		order by `+newestFirst+` limit nullif($2, 0)`, project, limit)
	slices.Reverse(builds)
	return builds, err
}

// ListScenarios lists the scenarios that a project has runs of, by name.
func (v View) ListScenarios(ctx context.Context, project string) ([]string, error) {
	list, err := db.Values[string](ctx, db.Q(v), `
		select sc.name from scenarios sc join projects p on p.id = sc.project_id
		where p.name = $1 and exists (select from runs r where r.scenario_id = sc.id) order by sc.name`, project)
	return list, db.Wrap("scenarios", err)
}

// ListResultScenarios lists, for each of the newest builds with a result, the scenarios of its results: the newest
// build first, and for each the newest run first.
func (v View) ListResultScenarios(ctx context.Context, project string, limit int) ([][]string, error) {
	type row struct{ Scenarios []string }
	rows, err := db.All[row](ctx, db.Q(v), `
		select array_agg(sc.name order by r.id desc) as scenarios
		from builds b join projects p on p.id = b.project_id join runs r on r.build_id = b.id join scenarios sc on sc.id = r.scenario_id
		where p.name = $1 and r.analysed_at is not null group by b.id order by `+newestFirst+` limit $2`, project, limit)
	lists := make([][]string, len(rows))
	for i := range rows {
		lists[i] = rows[i].Scenarios
	}
	return lists, db.Wrap("scenarios of results", err)
}
