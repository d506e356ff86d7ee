package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// readCalendar reads the order of a project's builds.
func readCalendar(ctx context.Context, q querier, project int64) (*leaks.Calendar, error) {
	builds, err := all[leaks.Build](ctx, q, `select `+buildColumns+` from builds where project_id = $1`, project)
	return leaks.NewCalendar(builds), err
}

// A subject is a signature whose state is to follow from its history.
type subject struct {
	id        int64
	marks     leaks.Marks
	state     leaks.State // before
	sightings []leaks.Sighting
	scenarios []int64
}

// followHistory finds the states of signatures, roots, anew from all runs of the project and from the team's word.
// Whoever calls it holds the lock of the project's signatures.
func followHistory(ctx context.Context, tx pgx.Tx, project int64, roots []int64, actor string) error {
	if len(roots) == 0 {
		return nil
	}
	order, err := readCalendar(ctx, tx, project)
	if err != nil {
		return err
	}
	subjects, err := readSubjects(ctx, tx, order, roots)
	if err != nil {
		return err
	}
	courses := make([]leaks.Course, len(subjects))
	for i := range subjects {
		courses[i] = leaks.Follow(subjects[i].sightings, subjects[i].marks)
		if old, now := subjects[i].state, courses[i].State; old != now && old != leaks.StateNone {
			if err := audit(ctx, tx, subjects[i].id, actor, "state", map[string]leaks.State{"state": old},
				map[string]leaks.State{"state": now}); err != nil {
				return err
			}
		}
	}
	return saveCourses(ctx, tx, order, subjects, courses)
}

// followRoots is followHistory of signatures of which it changed what runs are judged together.
func followRoots(ctx context.Context, tx pgx.Tx, project int64, roots []int64, actor string) error {
	if _, err := poolAll(ctx, tx, project, roots); err != nil {
		return err
	}
	return followHistory(ctx, tx, project, roots, actor)
}

func readSubjects(ctx context.Context, tx pgx.Tx, order *leaks.Calendar, roots []int64) ([]subject, error) {
	type row struct {
		ID    int64
		State leaks.State
		leaks.Word
	}
	rows, err := all[row](ctx, tx, `
		select s.id, s.state, `+wordColumns+` from signatures s where s.id = any($1) and s.alias_of is null order by s.id for no key update`, roots)
	if err != nil {
		return nil, err
	}
	subjects, at := make([]subject, len(rows)), make(map[int64]int, len(rows))
	for i := range rows {
		at[rows[i].ID] = i
		subjects[i] = subject{id: rows[i].ID, marks: rows[i].Marks(order), state: rows[i].State}
	}
	tell := func(root int64, s leaks.Sighting) {
		if i, ok := at[root]; ok {
			subjects[i].sightings = append(subjects[i].sightings, s)
		}
	}
	if err := readSightings(ctx, tx, order, roots, tell); err != nil {
		return nil, err
	}
	if err := readAbsences(ctx, tx, order, roots, tell); err != nil {
		return nil, err
	}
	for i := range subjects {
		s := &subjects[i]
		slices.SortFunc(s.sightings, func(a, b leaks.Sighting) int { return a.Build - b.Build })
		s.scenarios = []int64{}
		for _, seen := range s.sightings {
			if !seen.Absent {
				s.scenarios = append(s.scenarios, seen.Scenario)
			}
		}
		slices.Sort(s.scenarios)
		s.scenarios = slices.Compact(s.scenarios)
	}
	return subjects, nil
}

// readSightings tells what each build says of signatures in each scenario. A history may have many thousands of
// findings: the database sends each combination of class and status once, and leaks.JudgementOf judges it.
func readSightings(ctx context.Context, tx pgx.Tx, order *leaks.Calendar, roots []int64,
	tell func(root int64, s leaks.Sighting)) error {
	type row struct {
		RootID, BuildID, ScenarioID int64
		Class, Status               string
	}
	rows, err := tx.Query(ctx, `
		select distinct own.root_id, r.build_id, r.scenario_id, f.class, r.status
		from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id
		where own.root_id = any($1) order by own.root_id, r.build_id, r.scenario_id`, roots)
	if err != nil {
		return err
	}
	defer rows.Close()
	var at row
	var sighting leaks.Sighting
	for rows.Next() {
		r, err := pgx.RowToStructByName[row](rows)
		if err != nil {
			return err
		}
		judgement := leaks.JudgementOf(analysis.Class(r.Class), analysis.Status(r.Status))
		if r.RootID == at.RootID && r.BuildID == at.BuildID && r.ScenarioID == at.ScenarioID {
			sighting.Judgement = max(sighting.Judgement, judgement)
			continue
		}
		if at.RootID != 0 {
			tell(at.RootID, sighting)
		}
		at, sighting = r, leaks.Sighting{Build: order.Place(&r.BuildID), Scenario: r.ScenarioID, Judgement: judgement}
	}
	if at.RootID != 0 {
		tell(at.RootID, sighting)
	}
	return rows.Err()
}

// saveCourses stores what follows from histories, with the figures of the gravest finding in the newest build that has
// one.
func saveCourses(ctx context.Context, tx pgx.Tx, order *leaks.Calendar, subjects []subject,
	courses []leaks.Course) error {
	batch := &pgx.Batch{}
	for i := range subjects {
		s, c := &subjects[i], &courses[i]
		batch.Queue(`
			update signatures set bad = $2, state = $3, until_over = $4, worst = $5, first_bad_id = $6, last_clean_id = $7,
				last_bad_id = $8, last_seen_id = $9,
				fixed_in_id = $10, fixed_by_runs = $11, regressed_id = $12, scenarios = $13 where id = $1`,
			s.id, c.LastBad >= 0, string(c.State), c.UntilOver, string(c.Worst.Class()), order.ID(c.FirstBad),
			order.ID(c.LastClean), order.ID(c.LastBad), order.ID(c.LastSeen),
			order.ID(c.FixedIn), c.FixedByRuns, order.ID(c.RegressedIn), s.scenarios)
		if c.LastSeen < 0 { // no result has it any more
			batch.Queue(`
				update signatures set class = $2, score = null, certain = false, outstanding_count = 0, outstanding_bytes = 0,
					growth_count = null, growth_bytes = null, rate = null, figure_scenario_id = null where id = $1`, s.id, string(analysis.ClassUnknown))
		}
	}
	saveStates(batch, order, subjects, courses)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	ids := make([]int64, len(subjects))
	for i := range subjects {
		ids[i] = subjects[i].id
	}
	_, err := tx.Exec(ctx, `
		with gravest as (
			select distinct on (root.id) root.id, r.scenario_id, `+figureColumns("f")+`
			from signatures root join runs r on r.build_id = root.last_seen_id
				join signatures own on own.root_id = root.id join findings f on f.run_id = r.id and f.signature_id = own.id
			where root.id = any($1)
			order by root.id, `+gravestFirst+`, f.signature_id, r.scenario_id, r.name)
		update signatures s set class = g.class, score = g.score, certain = g.certain,
			outstanding_count = g.outstanding_count,
			outstanding_bytes = g.outstanding_bytes, growth_count = g.growth_count, growth_bytes = g.growth_bytes,
			rate = g.rate, figure_scenario_id = g.scenario_id
		from gravest g where g.id = s.id`, ids)
	return err
}
