package store_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// inventHistory stores runs of two scenarios in ten builds, and findings whose documents say what chance wants.
func (l *lab) inventHistory(rng *rand.Rand) {
	l.Helper()
	l.sql(`insert into projects (name) values ('demo')`)
	l.sql(`insert into scenarios (project_id, name) select id, unnest(array['soak', 'smoke']) from projects`)
	l.sql(`insert into builds (project_id, name, place) select id, 'b' || i, int4send(i) from projects, generate_series(1, 10) i`)
	l.sql(`insert into runs (build_id, scenario_id, name, analysed_at, status)
		select b.id, sc.id, n::text, now(), case n % 3 when 0 then 'leak' when 1 then 'no-leak' else 'inconclusive' end from builds b, scenarios sc, generate_series(1, 3) n`)
	runs := query(l, pgx.RowTo[int64], `select id from runs order by id`)
	for _, run := range runs {
		var stretches []float64
		if rng.IntN(3) > 0 {
			stretches = []float64{1, 0.5, 2, rng.Float64()}
		}
		l.sql(`update runs set suffices = $2, stretches = $3, stretch_unit = $4 where id = $1`, run, rng.IntN(3) > 0, stretches,
			oneOf(rng, "", "hour", "document"))
	}
	l.sql(`insert into signatures (project_id, text, root_id, kind, title, bad, only_at_exit)
		select id, 'S' || i, 0, 'heap', '', true, i % 3 = 0 from projects, generate_series(1, 8) i`)
	l.sql(`update signatures set scenarios = (select array_agg(id) from scenarios)`)
	// Every fourth one is a part of the one before.
	l.sql(`update signatures set root_id = case when id % 4 = 0 then id - 1 else id end, alias_of = case when id % 4 = 0 then id - 1 end`)
	for _, signature := range query(l, pgx.RowTo[int64], `select id from signatures order by id`) {
		for _, run := range runs {
			if rng.IntN(4) > 0 {
				l.inventFinding(rng, run, signature)
			}
		}
	}
}

// inventFinding stores a finding.
func (l *lab) inventFinding(rng *rand.Rand, run, signature int64) {
	l.Helper()
	class := oneOf(rng, append(slices.Clone(score.Classes), analysis.ClassLeak, analysis.ClassLeak)...)
	document := func(value any) []byte {
		if rng.IntN(3) == 0 {
			return nil
		}
		return must[[]byte](l)(json.Marshal(value))
	}
	var stayed []int64
	if rng.IntN(2) == 0 {
		stayed = []int64{rng.Int64N(9), 0, 3, math.MaxInt32}
	}
	rate := score.Rate{Unit: oneOf(rng, "hour", "document"), Count: oneOf(rng, 0, 7.5, 7.5, rng.Float64()*1e-9, 1e300),
		Bytes: rng.NormFloat64() * 1e6, Unbounded: rng.IntN(5) == 0, Over: 3, Dispersion: oneOf(rng, 0, 1, 2.25)}
	l.sql(`insert into findings (run_id, signature_id, class, certain, sites, outstanding_count, outstanding_bytes, growth_bytes, score,
			rate, own, evidence, pooled, listed, stayed)
		values ($1, $2, $3, $4, 1, 1, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, run, signature, string(class), class == analysis.ClassLeak && rng.IntN(2) == 0,
		rng.Int64N(3), maybe(rng, rng.Int64N(3)), maybe(rng, 0.5), document(rate),
		document(leaks.Rating{Class: oneOf(rng, score.Classes...)}), document(score.Evidence{LogOdds: rng.NormFloat64() * 9}),
		document(leaks.PooledRating{Onset: oneOf(rng, nil, &score.Onset{}, &score.Onset{Doubtful: true}, &score.Onset{Certain: true})}),
		document(analysis.ListedLeak{Tools: oneOf(rng, nil, []string{"crt"}, []string{"crt", "vld"})}), stayed)
}

// wholeSightings reads findings themselves, with all of their documents.
func (l *lab) wholeSightings(scenario int64, builds []int64) map[int64][]leaks.RunSighting {
	l.Helper()
	type row struct {
		RootID, RunID, BuildID, ScenarioID int64
		Class                              analysis.Class
		Certain, Suffices                  bool
		Own                                *leaks.Rating
		Evidence                           *score.Evidence
		Pooled                             *leaks.PooledRating
		Listed                             *analysis.ListedLeak
		Rate                               *score.Rate
		Stayed                             []int64
		Stretches                          []float64
		StretchUnit                        string
	}
	list, last := map[int64][]leaks.RunSighting{}, [2]int64{}
	for _, r := range query(l, pgx.RowToStructByName[row], `
		select own.root_id, f.run_id, r.build_id, r.scenario_id, f.class, f.certain, r.suffices, f.own, f.evidence, f.pooled, f.listed, f.rate, f.stayed,
			r.stretches, r.stretch_unit
		from findings f join signatures own on own.id = f.signature_id join runs r on r.id = f.run_id
		where $1 = 0 or r.scenario_id = $1 and r.build_id = any($2) order by own.root_id, f.run_id, f.signature_id`, scenario, builds) {
		s := leaks.RunSighting{BuildID: r.BuildID, ScenarioID: r.ScenarioID, Class: r.Class, Certain: r.Certain, Suffices: r.Suffices,
			Watched: score.RunRetention{LogOdds: math.NaN(), PartLengths: score.PartLengths{Unit: r.StretchUnit}}}
		copy(s.Watched.Over[:], r.Stretches)
		copy(s.Watched.Stayed[:], r.Stayed)
		if r.Own != nil && r.Own.Class == analysis.ClassLeftAtExit {
			s.Class = analysis.ClassLeftAtExit
		}
		if r.Evidence != nil {
			s.Watched.LogOdds = r.Evidence.LogOdds
		}
		if r.Pooled != nil && r.Pooled.Onset != nil {
			s.Doubtful, s.Began = r.Pooled.Onset.Doubtful, r.Pooled.Onset.Certain
		}
		if r.Listed != nil {
			s.Tools = r.Listed.Tools
		}
		if r.Class == analysis.ClassLeak {
			s.Rate = r.Rate
		}
		if known := list[r.RootID]; last == [2]int64{r.RootID, r.RunID} {
			known[len(known)-1] = known[len(known)-1].With(s)
		} else {
			list[r.RootID] = append(known, s)
		}
		last = [2]int64{r.RootID, r.RunID}
	}
	return list
}

// described writes sightings so that those that mean the same are equal: NaN, and an empty list of tools.
func described(list []leaks.RunSighting) string {
	var b strings.Builder
	for i := range list {
		s := list[i]
		rate := "none"
		if s.Rate != nil {
			rate = fmt.Sprint(s.Rate.Unit, s.Rate.Count, s.Rate.Bytes, s.Rate.Dispersion, s.Rate.Unbounded)
		}
		s.Rate = nil
		fmt.Fprintf(&b, "%+v rate %s\n", s, rate)
	}
	return b.String()
}

// What histories read of findings, out of an index, is what the documents of these findings say, whatever they hold.
func TestSightingsAreThoseOfFindings(t *testing.T) {
	l := newLab(t)
	for seed := range uint64(4) {
		if seed > 0 {
			l = l.emptied(t)
		}
		rng := rand.New(rand.NewPCG(seed, 8))
		l.inventHistory(rng)
		project := query(l, pgx.RowTo[int64], `select id from projects`)[0]
		roots := query(l, pgx.RowTo[int64], `select distinct root_id from signatures`)
		scenario := query(l, pgx.RowTo[int64], `select id from scenarios where name = 'soak'`)[0]
		builds := query(l, pgx.RowTo[int64], `select id from builds where id % 3 > 0`)
		for _, scope := range []int64{0, scenario} {
			got := must[map[int64][]leaks.RunSighting](t)(l.now().SightingsOf(t.Context(), project, roots, scope, builds))
			want := l.wholeSightings(scope, builds)
			for _, root := range roots {
				if got, want := described(got[root]), described(want[root]); got != want || want == "" {
					t.Errorf("seed %d, scenario %d, signature %d:\n%s\nwant\n%s", seed, scope, root, got, want)
				}
			}
		}
		l.checkStrips("")
		l.checkStrips("soak")
	}
}

// checkStrips compares the cells of strips with those that whole findings make.
func (l *lab) checkStrips(scenario string) {
	l.Helper()
	type key struct {
		Signature, Build string
	}
	type row struct {
		key
		Run              int64
		Status           analysis.VerdictStatus
		Class            analysis.Class
		Certain          bool
		Score            *float64
		GrowthBytes      *int64
		OutstandingBytes int64
	}
	want := map[key]*leaks.Outcome{}
	for _, r := range query(l, pgx.RowToStructByName[row], `
		select root.text as signature, b.name as build, r.id as run, r.status, f.class, f.certain, f.score, f.growth_bytes, f.outstanding_bytes
		from findings f join signatures own on own.id = f.signature_id join signatures root on root.id = own.root_id
			join runs r on r.id = f.run_id join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		where ($1 = '' or sc.name = $1) and not (root.only_at_exit and f.listed is null and not f.class`+store.Suspect+`)`, scenario) {
		f := leaks.SignatureFinding{RunID: r.Run, Status: r.Status, Figure: leaks.Figure{Class: r.Class, Certain: r.Certain, Score: r.Score}}
		if r.GrowthBytes != nil {
			f.Growth = &analysis.Amount{Bytes: *r.GrowthBytes}
		}
		f.Outstanding.Bytes = r.OutstandingBytes
		if want[r.key] == nil {
			want[r.key] = &leaks.Outcome{}
		}
		want[r.key].Take(&f)
	}
	page := l.list(store.SignatureQuery{Class: leaks.AllClasses, Scenario: scenario, Strip: 20, Limit: 100})
	cells := 0
	for _, s := range page.Rows {
		for i := range s.Strip {
			got, want := &s.Strip[i], want[key{s.Text, page.Builds[i].Name}]
			if want == nil {
				want = &leaks.Outcome{}
			}
			if got.Class != want.Class || got.Certain != want.Certain || got.Judgement != want.Judgement ||
				got.Exercised != want.Exercised {
				l.Errorf("%s in %s: %+v, want %+v", s.Text, page.Builds[i].Name, got, want)
			}
			cells++
		}
	}
	if cells == 0 {
		l.Error("there are no cells")
	}
}
