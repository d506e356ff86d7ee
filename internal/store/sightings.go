package store

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// A historyRun is a run as histories need it.
type historyRun struct {
	build, scenario int64
	suffices        bool // its evidence lost nothing and is enough for growth to be judged
	parts           score.PartLengths
}

// A runScope says of which runs a history is read: of a scenario and some builds, or of all where scenario is 0.
type runScope struct {
	scenario int64
	builds   []int64
}

// readRuns reads all runs of a project once: each of them may be in the history of thousands of leaks.
func (h *histories) readRuns(ctx context.Context, project int64) error {
	rows, err := h.q.Query(ctx, `
		select r.id, r.build_id, r.scenario_id, r.suffices, r.stretch_unit, r.stretches, r.analysed_at is not null, r.exit_tools
		from builds b join runs r on r.build_id = b.id where b.project_id = $1`, project)
	if err != nil {
		return err
	}
	type place struct {
		build, scenario int64
		tool            string // "" for a result that suffices
	}
	known := map[place]bool{}
	fresh := func(p place) bool {
		was := known[p]
		known[p] = true
		return !was
	}
	var id int64
	var r historyRun
	var unit string
	var stretches []float64
	var analysed bool
	var tools []string
	_, err = pgx.ForEachRow(rows, []any{&id, &r.build, &r.scenario, &r.suffices, &unit, &stretches, &analysed, &tools},
		func() error {
			run := r
			run.parts = partLengthsOf(unit, stretches)
			h.runs[id] = &run
			if analysed && run.suffices && fresh(place{run.build, run.scenario, ""}) {
				h.first[run.scenario] = append(h.first[run.scenario], run.build)
			}
			for _, tool := range tools {
				if !analysed || !fresh(place{run.build, run.scenario, tool}) {
					continue
				}
				if h.lists[run.scenario] == nil {
					h.lists[run.scenario] = map[string][]int64{}
				}
				h.lists[run.scenario][tool] = append(h.lists[run.scenario][tool], run.build)
			}
			return nil
		})
	return err
}

// A sightingRow is a finding of a signature as histories need it. All of it is in an index of findings: those of one
// signature lie where their runs do, and to visit each of them takes most of the time of a decision.
type sightingRow struct {
	root, run, signature    int64
	class                   string
	certain                 bool
	atExit, doubtful, began *bool
	odds                    *float64
	tools                   []string
	unit                    *string // of the rate, which only leaks have
	count, size, dispersion *float64
	unbounded               *bool
	stayed                  []int64
}

// sightingColumns select the fields of a sightingRow, in their order.
const sightingColumns = `own.root_id, f.run_id, f.signature_id, f.class, f.certain, f.at_exit, f.doubtful, f.began, f.log_odds, f.tools, f.leak_unit,
	f.leak_count, f.leak_size, f.leak_dispersion, f.leak_unbounded, f.stayed`

// fields are where the columns go.
func (r *sightingRow) fields() []any {
	return []any{&r.root, &r.run, &r.signature, &r.class, &r.certain, &r.atExit, &r.doubtful, &r.began, &r.odds, &r.tools,
		&r.unit, &r.count, &r.size, &r.dispersion, &r.unbounded, &r.stayed}
}

func (r *sightingRow) sighting(run *historyRun) leaks.RunSighting {
	s := leaks.RunSighting{
		BuildID: run.build, ScenarioID: run.scenario, Class: analysis.Class(r.class), Tools: r.tools, Certain: r.certain,
		Doubtful: valueOf(r.doubtful), Began: valueOf(r.began), Suffices: run.suffices,
		Watched: score.RunRetention{LogOdds: math.NaN(), Stayed: stayedOf(r.stayed), PartLengths: run.parts},
	}
	if valueOf(r.atExit) {
		s.Class = analysis.ClassLeftAtExit
	}
	if r.count != nil {
		s.Rate = &score.Rate{Unit: valueOf(r.unit), Count: *r.count, Bytes: valueOf(r.size),
			Dispersion: valueOf(r.dispersion), Unbounded: valueOf(r.unbounded)}
	}
	if r.odds != nil {
		s.Watched.LogOdds = *r.odds
	}
	return s
}

// valueOf is what a pointer points to; zero for nil.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// sightingsOf selects what runs say of signatures. The runs are a table of its own and their key is a sum, so that they
// are hashed: to look each pair of run and signature up takes longer than to pass over runs that are not asked for.
func sightingsOf(of runScope) (sql string, args []any) {
	const all = `select ` + sightingColumns + ` from signatures own join findings f on f.signature_id = own.id`
	if of.scenario == 0 {
		return all + ` where own.root_id = any($1)`, nil
	}
	return `with asked as materialized (select id from runs where scenario_id = $2 and build_id = any($3)) ` + all +
		` join asked on asked.id = f.run_id + 0 where own.root_id = any($1)`, []any{of.scenario, of.builds}
}

// readSightings adds to subjects what runs show of them, in the order of the runs' ids.
func (h *histories) readSightings(ctx context.Context, subjects map[int64]*subject, roots []int64, of runScope) error {
	type shown struct {
		run, signature int64
		leaks.RunSighting
	}
	sql, args := sightingsOf(of)
	rows, err := h.q.Query(ctx, sql, append([]any{roots}, args...)...)
	if err != nil {
		return err
	}
	byRoot := make(map[int64][]shown, len(roots))
	var r sightingRow
	if _, err := pgx.ForEachRow(rows, r.fields(), func() error {
		if run := h.runs[r.run]; run != nil {
			byRoot[r.root] = append(byRoot[r.root], shown{r.run, r.signature, r.sighting(run)})
		}
		return nil
	}); err != nil {
		return err
	}
	for root, list := range byRoot {
		slices.SortFunc(list, func(a, b shown) int {
			return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.signature, b.signature))
		})
		s := subjects[root]
		s.runs = slices.Grow(s.runs, len(list))
		for i := range list {
			if i > 0 && list[i].run == list[i-1].run { // parts of one leak
				last := &s.runs[len(s.runs)-1]
				*last = last.With(list[i].RunSighting)
				continue
			}
			s.runs = append(s.runs, list[i].RunSighting)
		}
	}
	return nil
}
