package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// saveStates stores how signatures stand in each scenario.
func saveStates(batch *pgx.Batch, subjects []subject) {
	for i := range subjects {
		order := subjects[i].line
		batch.Queue(`delete from signature_states where signature_id = $1`, subjects[i].id)
		for _, c := range subjects[i].Scenarios {
			batch.Queue(`insert into signature_states (signature_id, scenario_id, open, first_bad_id, last_bad_id, clean_id, absent, tried_id, seen_id)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, subjects[i].id, c.ScenarioID, c.Open, order.IDAt(c.FirstBad), order.IDAt(c.LastBad), order.IDAt(c.FirstCleanAfter), c.Absent, order.IDAt(c.LastUndecided), order.IDAt(c.LastSeen))
		}
	}
}

// stateKey names a leak in a scenario.
type stateKey struct{ SignatureID, ScenarioID int64 }

// fillStates reads how signatures stand in each scenario, with the figures of the newest bad build there and of the
// newest one.
func fillStates(ctx context.Context, q db.Querier, list []*Signature) error {
	if len(list) == 0 {
		return nil
	}
	ids, by := make([]int64, len(list)), make(map[int64]*Signature, len(list))
	for i, s := range list {
		ids[i], by[s.ID] = s.ID, s
	}
	type row struct {
		stateKey
		Open, Absent                bool
		Scenario, FirstBad, LastBad string
		Clean, Tried, Seen          string
	}
	rows, err := db.All[row](ctx, q, `
		select s.signature_id, s.scenario_id, s.open, s.absent, sc.name as scenario, `+buildName("first_bad")+`, `+buildName("last_bad")+`, `+buildName("clean")+`, `+buildName("tried")+`, `+buildName("seen")+`
		from signature_states s join scenarios sc on sc.id = s.scenario_id where s.signature_id = any($1) order by s.signature_id, sc.name`, ids)
	if err != nil || len(rows) == 0 {
		return err
	}
	bad, err := figuresIn(ctx, q, ids, `last_bad_id`)
	if err != nil {
		return err
	}
	now, err := figuresIn(ctx, q, ids, `seen_id`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		s := by[r.SignatureID]
		s.States = append(s.States, leaks.NewScenarioState(leaks.ScenarioState{
			Scenario: r.Scenario, FirstBad: r.FirstBad, LastBad: r.LastBad, FirstCleanAfter: r.Clean, Absent: r.Absent,
			LastUndecided: r.Tried, Bad: bad[r.stateKey], Now: now[r.stateKey], NowBuild: r.Seen,
		}, s.State, r.Open))
	}
	return nil
}

// figuresIn reads the gravest finding of each leak and scenario in the build that a column of their state names.
func figuresIn(ctx context.Context, q db.Querier, ids []int64, column string) (map[stateKey]*leaks.Figure, error) {
	type row struct {
		stateKey
		figureRow
	}
	// "offset 0" keeps the order of the joins: by the few names of a leak, and not through all findings of the run for
	// each leak.
	rows, err := db.All[row](ctx, q, `
		select st.signature_id, st.scenario_id, g.*
		from signature_states st, lateral (
			select `+figureColumns("f")+`
			from (select id from signatures where root_id = st.signature_id offset 0) own cross join lateral (
				select f.*, r.name as run_name from runs r join findings f on f.run_id = r.id
				where f.signature_id = own.id and r.build_id = st.`+column+` and r.scenario_id = st.scenario_id offset 0) f
			order by `+gravestFirst+`, f.signature_id, f.run_name limit 1) g
		where st.signature_id = any($1)`, ids)
	figures := make(map[stateKey]*leaks.Figure, len(rows))
	for i := range rows {
		figures[rows[i].stateKey] = new(rows[i].figure())
	}
	return figures, err
}

// followAnew follows the histories of projects of which an older program stored less. Instances that start together
// take turns.
func (s *Store) followAnew(ctx context.Context) error {
	for {
		done := false
		err := db.Tx(ctx, s, "follow histories anew", func(tx pgx.Tx) error {
			project, err := db.Value[int64](ctx, tx, `select u.project_id from unfollowed u order by u.project_id limit 1`)
			if errors.Is(err, pgx.ErrNoRows) {
				done = true
				return nil
			}
			if err != nil {
				return err
			}
			if err := lockProject(ctx, tx, project); err != nil {
				return err
			}
			if err := lockSignatures(ctx, tx, project); err != nil {
				return err
			}
			bad, err := db.Values[int64](ctx, tx,
				`select id from signatures where project_id = $1 and bad and alias_of is null order by id`, project)
			if err != nil {
				return err
			}
			if err := followHistory(ctx, tx, project, bad, ""); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `delete from unfollowed where project_id = $1`, project)
			return err
		})
		if err != nil || done {
			return err
		}
	}
}
