package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A RunTest is what the lists of leaks at exit of a run say of one test.
type RunTest struct {
	Test    string
	Certain int // leaks that are certain
	Lost    analysis.Amount
	leaks.TestCount
	Strip []leaks.TestState // by the builds of the page: the gravest of its runs; "" where no list tells
}

// A RunTestQuery chooses a page of the tests of a run: those of the gravest state first, and of one state those that
// left most bytes.
type RunTestQuery struct {
	RunID  int64
	Text   string          // in the name, in any case; "" for all
	State  leaks.TestState // "" for all
	Limit  int
	Offset int
	Strip  int // how many builds of the branch up to the run's the strips have
}

// A RunTestPage is a page of the tests of a run.
type RunTestPage struct {
	Rows   []RunTest
	Total  int                     // of the query
	Counts map[leaks.TestState]int // by state, of the query without its State
	Builds []string                // of the strips, oldest first
}

// replaceTests puts the tests of a run's lists in the place of those stored before.
func replaceTests(ctx context.Context, tx pgx.Tx, run int64, tests []analysis.ExitTest) error {
	if _, err := tx.Exec(ctx, `delete from run_tests where run_id = $1`, run); err != nil || len(tests) == 0 {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"run_tests"},
		[]string{"run_id", "test", "leaks", "certain", "lost_count", "lost_bytes", "whole"},
		pgx.CopyFromSlice(len(tests), func(i int) ([]any, error) {
			t := &tests[i]
			return []any{run, t.Test, t.Leaks, t.Certain, t.Lost.Count, t.Lost.Bytes, t.Whole}, nil
		}))
	return err
}

// runTestRow is what one run says of a test.
type runTestRow struct {
	RunID                int64
	Test                 string
	Leaks, Certain       int
	LostCount, LostBytes int64
	Whole                bool
	Known, New, Open     int
}

func (r *runTestRow) count() leaks.TestCount {
	return leaks.TestCount{Leaks: r.Leaks, Known: r.Known, New: r.New, Open: r.Open, Whole: r.Whole}
}

// readTests reads what runs say of tests, or of all for nil. In an older run, a leak is new that came in with its
// build, whatever became of it since.
func readTests(ctx context.Context, q db.Querier, runs []int64, tests []string) ([]runTestRow, error) {
	return db.All[runTestRow](ctx, q, `
		with told as (
			select f.run_id, t.test, count(*) filter (where shown.state = 'known') as known,
				count(*) filter (where shown.state <> 'known') as open,
				count(*) filter (where shown.state in ('new', 'regressed')
					or shown.state in ('ongoing', 'fixed') and s.first_bad_id = r.build_id and s.last_clean_id is not null) as new
			from findings f join runs r on r.id = f.run_id join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id,
				lateral (select `+shownState+` as state) shown, jsonb_array_elements_text(f.listed->'tests') as t (test)
			where f.run_id = any($1) and f.class`+suspect+` and ($2::text[] is null or t.test = any($2)) group by 1, 2)
		select r.run_id, r.test, r.leaks, r.certain, r.lost_count, r.lost_bytes, r.whole,
			coalesce(told.known, 0) as known, coalesce(told.new, 0) as new,
			coalesce(told.open, 0) as open
		from run_tests r left join told on told.run_id = r.run_id and told.test = r.test
		where r.run_id = any($1) and ($2::text[] is null or r.test = any($2))`, runs, tests)
}

// ListRunTests returns a page of the tests of a run with their history.
func (v View) ListRunTests(ctx context.Context, query RunTestQuery) (*RunTestPage, error) {
	rows, err := readTests(ctx, db.Q(v), []int64{query.RunID}, nil)
	if err != nil {
		return nil, db.Wrap("tests of a run", err)
	}
	page := &RunTestPage{Counts: map[leaks.TestState]int{}}
	text := strings.ToLower(query.Text)
	rows = slices.DeleteFunc(rows, func(r runTestRow) bool { return !strings.Contains(strings.ToLower(r.Test), text) })
	for i := range rows {
		page.Counts[rows[i].count().State()]++
	}
	if query.State != "" {
		rows = slices.DeleteFunc(rows, func(r runTestRow) bool { return r.count().State() != query.State })
	}
	slices.SortFunc(rows, compareTests)
	page.Total = len(rows)
	rows = rows[min(query.Offset, len(rows)):]
	rows = rows[:min(query.Limit, len(rows))]
	names := make([]string, len(rows))
	for i := range rows {
		r := &rows[i]
		names[i] = r.Test
		page.Rows = append(page.Rows, RunTest{Test: r.Test, Certain: r.Certain,
			Lost: analysis.Amount{Count: r.LostCount, Bytes: r.LostBytes}, TestCount: r.count()})
	}
	return page, db.Wrap("history of tests", page.readStrips(ctx, db.Q(v), query, names))
}

// compareTests puts the gravest state first, and what left most.
func compareTests(a, b runTestRow) int {
	rank := func(r *runTestRow) int { return slices.Index(leaks.TestStates, r.count().State()) }
	return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.LostBytes, a.LostBytes), strings.Compare(a.Test, b.Test))
}

// readStrips reads what the newest builds of the run's scenario and branch, up to its own, say of tests.
func (p *RunTestPage) readStrips(ctx context.Context, q db.Querier, query RunTestQuery, names []string) error {
	if query.Strip == 0 || len(names) == 0 {
		return nil
	}
	type runOfBuild struct {
		ID    int64
		Build string
	}
	runs, err := db.All[runOfBuild](ctx, q, `
		with here as (select r.scenario_id, b.branch, b.place from runs r join builds b on b.id = r.build_id where r.id = $1),
			newest as (
				select b.id, b.name, b.place from builds b, here
				where b.branch = here.branch and b.place <= here.place
					and exists (select from runs r join run_tests t on t.run_id = r.id where r.build_id = b.id and r.scenario_id = here.scenario_id)
				order by b.place desc limit $2)
		select r.id, newest.name as build from newest join runs r on r.build_id = newest.id, here where r.scenario_id = here.scenario_id
		order by newest.place, r.id`, query.RunID, query.Strip)
	if err != nil {
		return err
	}
	ids, buildOf := make([]int64, len(runs)), map[int64]int{}
	for i, r := range runs {
		if n := len(p.Builds); n == 0 || p.Builds[n-1] != r.Build {
			p.Builds = append(p.Builds, r.Build)
		}
		ids[i], buildOf[r.ID] = r.ID, len(p.Builds)-1
	}
	rows, err := readTests(ctx, q, ids, names)
	if err != nil {
		return err
	}
	at := map[string]*RunTest{}
	for i := range p.Rows {
		p.Rows[i].Strip = make([]leaks.TestState, len(p.Builds))
		at[p.Rows[i].Test] = &p.Rows[i]
	}
	for i := range rows {
		r := &rows[i]
		cell, state := &at[r.Test].Strip[buildOf[r.RunID]], r.count().State()
		if *cell == "" || slices.Index(leaks.TestStates, state) < slices.Index(leaks.TestStates, *cell) {
			*cell = state
		}
	}
	return nil
}
