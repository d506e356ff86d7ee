package store

import (
	"context"
	"slices"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A Coverage says in which scenarios the newest builds of a project were run, and with which results.
type Coverage struct {
	Builds    []BuildRef           // that have a result, oldest first
	Scenarios []string             // all that any run of the project has, by name
	Cells     []leaks.CoverageCell // by build, oldest first, then by scenario; only those with a result
}

// At is the cell of a build and a scenario; nil where it has no result.
func (c *Coverage) At(build, scenario string) *leaks.CoverageCell {
	at := slices.IndexFunc(c.Cells, func(cell leaks.CoverageCell) bool {
		return cell.Build == build && cell.Scenario == scenario
	})
	if at < 0 {
		return nil
	}
	return &c.Cells[at]
}

// Newest is the newest cell of a scenario; nil where none of the builds has one.
func (c *Coverage) Newest(scenario string) *leaks.CoverageCell {
	for i := len(c.Cells) - 1; i >= 0; i-- {
		if c.Cells[i].Scenario == scenario {
			return &c.Cells[i]
		}
	}
	return nil
}

// FindCoverage returns the coverage of the newest builds with results, at most limit of them. It returns ErrNotFound
// for a project that does not exist.
func (v View) FindCoverage(ctx context.Context, project string, limit int) (*Coverage, error) {
	if _, err := projectID(ctx, db.Q(v), project); err != nil {
		return nil, err
	}
	list, err := v.ListCoverages(ctx, []string{project}, limit)
	if err != nil {
		return nil, err
	}
	c := list[project]
	if err := fillTotals(ctx, db.Q(v), c.Cells); err != nil {
		return nil, db.Wrap("growth of a coverage", err)
	}
	runs := make([]int64, len(c.Cells))
	for i := range c.Cells {
		runs[i] = c.Cells[i].RunID
	}
	counts, err := v.CountRunLeaks(ctx, runs)
	for i := range c.Cells {
		c.Cells[i].Found = counts[c.Cells[i].RunID]
	}
	return c, err
}

// ListCoverages returns, by the name of the project, the coverage of its newest builds with results, at most limit of
// them, in as many statements for a hundred projects as for one. Their cells are without totals and counts of leaks.
func (v View) ListCoverages(ctx context.Context, projects []string, limit int) (map[string]*Coverage, error) {
	list := make(map[string]*Coverage, len(projects))
	for _, project := range projects {
		list[project] = &Coverage{}
	}
	type buildRow struct {
		Project string
		ID      int64
		BuildRef
	}
	builds, err := db.All[buildRow](ctx, db.Q(v), `
		select p.name as project, b.id, b.name, b.sequence, b.branch, b.commit, b.pinned
		from projects p cross join lateral (
			select * from builds b where b.project_id = p.id and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null)
			order by `+newestFirst+` limit nullif($2, 0)) b
		where p.name = any($1) order by p.id, `+oldestFirst, projects, limit)
	if err != nil {
		return nil, db.Wrap("builds of a coverage", err)
	}
	ids := make([]int64, len(builds))
	for i := range builds {
		ids[i] = builds[i].ID
		c := list[builds[i].Project]
		c.Builds = append(c.Builds, builds[i].BuildRef)
	}
	type scenarioRow struct{ Project, Name string }
	scenarios, err := db.All[scenarioRow](ctx, db.Q(v), `
		select p.name as project, sc.name from scenarios sc join projects p on p.id = sc.project_id
		where p.name = any($1) and exists (select from runs r where r.scenario_id = sc.id) order by p.id, sc.name`, projects)
	if err != nil {
		return nil, db.Wrap("scenarios of a coverage", err)
	}
	for _, s := range scenarios {
		list[s.Project].Scenarios = append(list[s.Project].Scenarios, s.Name)
	}
	type runRow struct {
		Project string
		cellRow
	}
	rows, err := db.All[runRow](ctx, db.Q(v), `
		select p.name as project, `+cellColumns+`
		from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id join projects p on p.id = b.project_id
		where b.id = any($1) and r.analysed_at is not null order by p.id, `+oldestFirst+`, sc.name, r.id`, ids)
	if err != nil {
		return nil, db.Wrap("runs of a coverage", err)
	}
	cells := map[string][]cellRow{}
	for i := range rows {
		cells[rows[i].Project] = append(cells[rows[i].Project], rows[i].cellRow)
	}
	for project, c := range list {
		c.Cells = cellsOf(cells[project])
	}
	return list, nil
}

// cellColumns are those of cellRow.
const cellColumns = `r.id as run, b.name as build, sc.name as scenario, r.status, r.sentence, r.site_count as sites, r.created_at as at`

// A cellRow is a run that a cell may be of.
type cellRow struct {
	Run                               int64
	Build, Scenario, Status, Sentence string
	Sites                             int64
	At                                time.Time
}

// cellsOf makes the cells of runs, of which those of one build and scenario stand together.
func cellsOf(rows []cellRow) (cells []leaks.CoverageCell) {
	for _, r := range rows {
		if n := len(cells); n == 0 || cells[n-1].Build != r.Build || cells[n-1].Scenario != r.Scenario {
			cells = append(cells, leaks.CoverageCell{})
		}
		cells[len(cells)-1].AddRun(leaks.CoverageCell{
			Build: r.Build, Scenario: r.Scenario, RunID: r.Run, Status: analysis.VerdictStatus(r.Status), Sentence: r.Sentence,
			Sites: r.Sites, At: r.At,
		})
	}
	return cells
}

// fillTotals adds up what grows in the runs that speak.
func fillTotals(ctx context.Context, q db.Querier, cells []leaks.CoverageCell) error {
	of, runs := map[int64]*leaks.CoverageCell{}, make([]int64, len(cells))
	for i := range cells {
		runs[i], of[cells[i].RunID] = cells[i].RunID, &cells[i]
	}
	type row struct {
		Run int64
		leaks.TotalGrowth
	}
	rows, err := db.All[row](ctx, q, `
		with grows as (
			select f.run_id, f.growth_bytes, f.rate from findings f join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id
			where f.run_id = any($1) and f.class`+suspect+` and f.rate is not null and `+shownState+` <> 'known')
		select run_id as run, `+statedUnit("grows")+` as unit, sum(greatest(0, `+statedBytes("grows")+`)) as bytes,
			sum(greatest(0, (rate->>'bytes_low')::double precision * `+statedUnits("grows")+`)) as low,
			sum(greatest(0, (rate->>'bytes_high')::double precision * `+statedUnits("grows")+`)) as high,
			coalesce(bool_or((rate->>'unbounded')::boolean), false) as unbounded, count(*) as signatures,
			coalesce(max(case when `+isInRun("grows")+` then `+runLength("grows")+` end), 0) as length
		from grows group by 1, 2 order by 1, 2`, runs)
	for _, r := range rows {
		of[r.Run].Totals = append(of[r.Run].Totals, r.TotalGrowth)
	}
	return err
}

// ListWorstFindings returns, by the id of the run, the most urgent finding that leaks or grows and is not tolerated, by
// leaks.CompareUrgency. A run without one is left out.
func (v View) ListWorstFindings(ctx context.Context, runs []int64) (map[int64]Finding, error) {
	rows, err := db.All[findingRow](ctx, db.Q(v), `
		select worst.* from unnest($1::bigint[]) run(id) cross join lateral (`+findingQuery+`
			where f.run_id = run.id and f.class`+suspect+` and `+shownState+` <> 'known'
			order by f.certain desc, f.class = 'leak' desc, (f.rate->>'bytes')::double precision desc nulls last, f.ordinal limit 1) worst`, runs)
	worst := make(map[int64]Finding, len(rows))
	for i := range rows {
		worst[rows[i].RunID] = rows[i].finding()
	}
	return worst, db.Wrap("worst findings", err)
}
