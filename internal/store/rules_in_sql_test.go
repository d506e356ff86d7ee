package store_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// Some rules of internal/leaks are also written in SQL, for speed. The tests below compare both on random data: the Go
// function is right.

// query returns what a statement gives.
func query[T any](l *lab, row pgx.RowToFunc[T], sql string, args ...any) []T {
	l.Helper()
	rows, err := l.conn.Query(l.Context(), sql, args...)
	if err != nil {
		l.Fatal(err)
	}
	return must[[]T](l)(pgx.CollectRows(rows, row))
}

// oneOf returns one of a list.
func oneOf[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// maybe is v, or nil half of the time.
func maybe[T any](rng *rand.Rand, v T) *T {
	if rng.IntN(2) == 0 {
		return nil
	}
	return &v
}

// invented inserts signatures of which the team and the runs say random things. until are the possible ends of a
// toleration.
func (l *lab) invented(rng *rand.Rand, n int, until ...string) {
	l.Helper()
	for i := range n {
		known := ""
		if rng.IntN(4) == 0 {
			known = "by rule"
		}
		course := oneOf(rng, leaks.StateNone, leaks.StateNew, leaks.StateOngoing, leaks.StateFixed, leaks.StateRegressed)
		l.sql(`
			with made as (select nextval(pg_get_serial_sequence('signatures', 'id')) as id)
			insert into signatures (id, project_id, text, root_id, kind, title, class, bad, state, until_over, mark, marked_by, reason, until, until_build, not_leak, known, fixed_by_runs, assignee)
			overriding system value
			select id, (select id from projects where name = 'demo'), $1, id, 'heap', '', 'leak', true, $2, $3, $4, 'ann', 'vendor', `+oneOf(rng, until...)+`, $5, $6, $7, $8, $9 from made`,
			fmt.Sprintf("S%03d", i), course, rng.IntN(4) == 0, oneOf(rng, "", leaks.MarkKnown, leaks.MarkKnown, leaks.MarkFixed),
			oneOf(rng, "", "7"), rng.IntN(5) == 0, known,
			rng.IntN(2) == 0, oneOf(rng, "", "bob"))
	}
}

// The state that the database counts and filters by is the state that leaks.Record shows, to the microsecond.
func TestShownStateInSQL(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport())
	// Inside one transaction the time does not move: toleration ends now, a moment earlier or a moment later.
	tx := must[pgx.Tx](t)(l.conn.Begin(t.Context()))
	defer func() { _ = tx.Rollback(t.Context()) }()
	rng := rand.New(rand.NewPCG(1, 1))
	l.invented(rng, 500, `null`, `now()`, `now() - interval '1 microsecond'`, `now() + interval '1 microsecond'`)
	type row struct {
		store.TriageRow
		ID    int64
		Shown leaks.State
	}
	states, ends := map[leaks.State]int{}, map[time.Duration]int{}
	for _, r := range query(l, pgx.RowToStructByName[row], `select `+store.TriageColumns+`, s.id, `+store.ShownState+
		` as shown from signatures s`) {
		if want := r.StateAt(r.Now); r.Shown != want {
			t.Errorf("%+v at %v: %q, want %q", r.TriageRecord, r.Now, r.Shown, want)
		}
		states[r.Shown]++
		if r.Until != nil {
			ends[r.Until.Sub(r.Now)]++
		}
	}
	if len(states) != 6 || len(ends) != 3 {
		t.Errorf("chance made the states %v and the ends %v", states, ends)
	}
}

// Lists count and filter by the states that their rows have.
func TestShownStateOfLists(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport())
	l.invented(rand.New(rand.NewPCG(2, 2)), 300, `null`, `now() - interval '1 hour'`, `now() + interval '1 hour'`)
	all := l.list(store.SignatureQuery{Limit: 1000})
	shown := map[leaks.State][]string{}
	for _, r := range all.Rows {
		shown[r.State] = append(shown[r.State], r.Text)
	}
	if all.Total != 300 || len(all.Rows) != 300 || len(shown) != 6 {
		t.Fatalf("%d of %d signatures, of %d states", len(all.Rows), all.Total, len(shown))
	}
	for _, state := range leaks.States {
		page := l.list(store.SignatureQuery{State: state, Limit: 1000})
		if got, want := listed(page), strings.Join(shown[state], " "); got != want || page.Total != len(shown[state]) ||
			page.Counts[state] != page.Total {
			t.Errorf("%s: %d, counted %d: %s; want %s", state, page.Total, page.Counts[state], got, want)
		}
		for _, r := range page.Rows {
			if r.State != state {
				t.Errorf("%s is %s in the list of what is %s", r.Text, r.State, state)
			}
		}
	}
	if _, ok := all.Counts[leaks.StateNone]; ok {
		t.Error("what never leaked nor grew is counted as of a state")
	}
}

// The order of findings is that of leaks.CompareGravity.
func TestGravestFirstInSQL(t *testing.T) {
	l := newLab(t)
	l.sql(`create temp table f (id int, class text, certain boolean, score double precision, growth_bytes bigint, outstanding_bytes bigint)`)
	rng := rand.New(rand.NewPCG(3, 3))
	classes := append(slices.Clone(score.Classes), "", "a class of another version")
	type sqlRow struct {
		id int
		leaks.Figure
	}
	var list []sqlRow
	for id := range 600 {
		f := sqlRow{id, leaks.Figure{Class: oneOf(rng, classes...), Certain: rng.IntN(2) == 0,
			Score: maybe(rng, oneOf(rng, 0, 0.25, 0.5, 1))}}
		growth := maybe(rng, oneOf[int64](rng, -7, 0, 7, math.MaxInt64))
		f.Outstanding.Bytes = oneOf[int64](rng, 0, 7, math.MaxInt64)
		if growth != nil {
			f.Growth = &analysis.Amount{Bytes: *growth}
		}
		list = append(list, f)
		l.sql(`insert into f values ($1, $2, $3, $4, $5, $6)`, id, string(f.Class), f.Certain, f.Score,
			growth, f.Outstanding.Bytes)
	}
	slices.SortStableFunc(list, func(a, b sqlRow) int { return leaks.CompareGravity(&a.Figure, &b.Figure) })
	for i, id := range query(l, pgx.RowTo[int], `select f.id from f order by `+store.GravestFirst+`, f.id`) {
		if id != list[i].id {
			t.Fatalf("at place %d there is finding %d, want %+v", i, id, list[i])
		}
	}
}

// The database orders builds as leaks.RankBuilds and leaks.CompareRanks do, and agrees on which build is older.
func TestOrderOfBuildsInSQL(t *testing.T) {
	l := newLab(t)
	rng := rand.New(rand.NewPCG(4, 4))
	l.sql(`insert into projects (name) values ('of one shape'), ('of several')`)
	for project, form := range map[string][]string{"of one shape": {"b%d"}, "of several": {"b%d", "1.%d", "rc %d a"}} {
		for i := range 150 {
			l.sql(`insert into builds (project_id, name, sequence, taken_at) select id, $2, $3, $4 from projects where name = $1`, project, fmt.Sprintf(oneOf(rng, form...), i),
				maybe(rng, oneOf[int64](rng, math.MinInt64, math.MinInt64+1, -1, 0, 1, 7, 4812, math.MaxInt64)),
				maybe(rng, time.Date(1969, 12, 31, rng.IntN(48), 0, 0, 1000*rng.IntN(3), time.UTC)))
		}
	}
	if err := l.UpdateBuildOrder(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{"of one shape", "of several"} {
		builds := query(l, pgx.RowToStructByName[leaks.Build], `select `+store.BuildColumns+
			` from builds where project_id = (select id from projects where name = $1)`, project)
		ranks := map[int64]leaks.BuildRank{}
		var ids []int64
		for i, rank := range leaks.RankBuilds(builds) {
			ranks[builds[i].ID] = rank
			ids = append(ids, builds[i].ID)
		}
		slices.SortFunc(ids, func(a, b int64) int { return leaks.CompareRanks(ranks[a], ranks[b]) })
		const from = ` from builds b where b.project_id = (select id from projects where name = $1)`
		if got := query(l, pgx.RowTo[int64], `select b.id`+from+` order by `+store.OldestFirst,
			project); !slices.Equal(got, ids) {
			t.Errorf("oldest first: %v, want %v", got, ids)
		}
		older := map[int64]int{}
		for i, id := range ids {
			older[id] = i
		}
		type row struct {
			ID    int64
			Older int
		}
		for _, r := range query(l, pgx.RowToStructByName[row],
			`select b.id, (select count(*) from builds o where o.project_id = b.project_id and o.place < b.place) as older`+
				from, project) {
			if r.Older != older[r.ID] {
				t.Errorf("%d builds are older than build %d, want %d", r.Older, r.ID, older[r.ID])
			}
		}
		slices.Reverse(ids)
		if got := query(l, pgx.RowTo[int64], `select b.id`+from+` order by `+store.NewestFirst,
			project); !slices.Equal(got, ids) {
			t.Errorf("newest first: %v, want %v", got, ids)
		}
	}
}

func TestClassesInSQL(t *testing.T) {
	l := newLab(t)
	for _, class := range append(slices.Clone(score.Classes), "", "a class of another version") {
		type row struct {
			Suspect bool
			Gravity int
		}
		got := query(l, pgx.RowToStructByName[row], `select c.class`+store.Suspect+` as suspect, coalesce(array_position(`+
			store.Classes+`, c.class), 0) - 1 as gravity from (select $1::text as class) c`, string(class))[0]
		if got.Suspect != class.IsSuspect() || got.Gravity != class.Gravity() {
			t.Errorf("%q: %+v, want %v and %d", class, got, class.IsSuspect(), class.Gravity())
		}
	}
}

// The database hands over only some builds of a project to leaks.ChooseBaseline, which chooses the same from all of
// them.
func TestBaselineFromSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 4 {
		l := newLab(t)
		l.sql(`insert into projects (name) values ('demo')`)
		l.sql(`insert into scenarios (project_id, name) select id, unnest(array['soak', 'smoke']) from projects`)
		var builds []leaks.BaselineCandidate
		var order []leaks.Build
		var lined []leaks.LineBuild
		chosen := rng.IntN(40) // one of 30, or none
		for i := range 30 {
			branch := oneOf(rng, "main", "dev", "")
			b := leaks.BaselineCandidate{
				Name: fmt.Sprint("b", i), Pinned: rng.IntN(8) == 0, Chosen: i == chosen,
				HasRun: rng.IntN(3) > 0,
			}
			facts := leaks.Build{Name: b.Name, Sequence: maybe(rng, oneOf[int64](rng, math.MinInt64, 0, 5, 6, 7))}
			facts.ID = query(l, pgx.RowTo[int64],
				`insert into builds (project_id, name, sequence, branch, pinned) select id, $1, $2, $3, $4 from projects returning id`, b.Name, facts.Sequence, branch, b.Pinned)[0]
			order = append(order, facts)
			lined = append(lined, leaks.LineBuild{ID: facts.ID, Name: b.Name, Branch: branch})
			if b.Chosen {
				l.sql(`update projects set baseline_id = $1`, facts.ID)
			}
			run := func(scenario, name string, status analysis.VerdictStatus, analysed bool) {
				l.sql(`insert into runs (build_id, scenario_id, name, status, analysed_at) select $1, id, $3, $4, case when $5 then now() end from scenarios where name = $2`,
					facts.ID, scenario, name, string(status), analysed)
			}
			run("smoke", "1", analysis.StatusLeak, true) // says nothing of the other scenario
			run("soak", "waiting", analysis.StatusNoLeak, false)
			if b.HasRun {
				for k := range 1 + rng.IntN(2) {
					status := oneOf(rng, analysis.StatusLeak, analysis.StatusInconclusive, analysis.StatusInconclusive)
					b.Decides = b.Decides || status != analysis.StatusInconclusive
					run("soak", fmt.Sprint(k), status, true)
				}
			}
			builds = append(builds, b)
		}
		for i, rank := range leaks.RankBuilds(order) {
			builds[i].Rank, lined[i].Rank = rank, rank
		}
		lines := leaks.NewBuildLines(lined, "")
		if err := l.UpdateBuildOrder(t.Context()); err != nil {
			t.Fatal(err)
		}
		for at, head := range builds {
			for i := range builds {
				builds[i].OnLine = lines.OfBuild(lined[at].ID).IndexOf(lined[i].ID) >= 0
			}
			got, err := l.now().FindBaselineOfBuild(t.Context(), "demo", "soak", head.Name)
			want := leaks.ChooseBaseline(head, builds)
			if got != want || errors.Is(err, store.ErrNotFound) != (want == "") || err != nil && want != "" {
				t.Fatalf("the baseline of %+v is %q, %v; want %q", head, got, err, want)
			}
		}
		if got, want := must[string](t)(l.now().FindNewestBuild(t.Context(), "demo", "soak")),
			leaks.NewestWithResult(builds); got != want {
			t.Errorf("the newest is %q, want %q", got, want)
		}
	}
}

// Growth is stated in SQL as score.StateGrowth states it.
func TestStatedGrowthInSQL(t *testing.T) {
	l := newLab(t)
	l.sql(`create temp table f (id int, rate jsonb, growth_bytes bigint)`)
	rng := rand.New(rand.NewPCG(5, 5))
	type row struct {
		ID    int
		Unit  string
		Bytes float64
	}
	var want []row
	for id := range 300 {
		r := score.Rate{Unit: oneOf(rng, "hour", "document"), Bytes: 1024, Over: oneOf(rng, 0, 0.25, 0.5, 2),
			Span: oneOf(rng, 0, 0, 0.25, 0.5, 2)}
		grown := maybe[int64](rng, 512)
		g := r.State(grown)
		if g.InRun() {
			g.Unit = leaks.PerRun
		}
		want = append(want, row{id, g.Unit, g.Bytes})
		l.sql(`insert into f values ($1, $2, $3)`, id, r, grown)
	}
	for i, got := range query(l, pgx.RowToStructByName[row], `select id, `+store.StatedUnit("f")+` as unit, `+
		store.StatedBytes("f")+` as bytes from f order by id`) {
		if got != want[i] {
			t.Errorf("%+v, want %+v", got, want[i])
		}
	}
}
