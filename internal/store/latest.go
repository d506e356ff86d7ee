package store

import (
	"context"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// complete reads what the rows of signatures do not hold: how they stand in each scenario, and the figures of those
// that never leaked or grew.
func complete(ctx context.Context, q db.Querier, list []*Signature) error {
	if err := fillStates(ctx, q, list); err != nil {
		return err
	}
	return fillLatest(ctx, q, list)
}

// fillLatest reads the figures of signatures that never leaked or grew: the gravest finding of the newest build that
// shows them. A result may have a hundred thousand of these signatures, so whoever stores it does not store their
// figures: they are read of the few that are shown.
func fillLatest(ctx context.Context, q db.Querier, list []*Signature) error {
	var ids []int64
	by := map[int64]*Signature{}
	for _, s := range list {
		if s.LastBad == "" {
			ids, by[s.ID] = append(ids, s.ID), s
			s.Latest, s.LastSeen, s.Measured = leaks.Figure{Class: analysis.ClassUnknown}, "", ""
		}
	}
	if ids == nil {
		return nil
	}
	type row struct {
		RootID          int64
		Build, Measured string
		figureRow
	}
	// Runs are hashed, as in sightingsOf. "offset 0" keeps the order of the joins, as in figuresIn.
	rows, err := db.All[row](ctx, q, `
		with asked as materialized (
			select r.id, r.build_id, b.name as build, b.place from builds b join runs r on r.build_id = b.id
			where b.project_id = any(array(select project_id from signatures where id = any($1)))),
		newest as (
			select distinct on (own.root_id) own.root_id, b.build_id, b.build
			from signatures own join findings f on f.signature_id = own.id join asked b on b.id = f.run_id + 0
			where own.root_id = any($1) order by own.root_id, `+newestFirst+`)
		select n.root_id, n.build, g.*
		from newest n, lateral (
			select sc.name as measured, `+figureColumns("f")+`
			from (select id from signatures where root_id = n.root_id offset 0) own cross join lateral (
				select f.*, r.scenario_id, r.name as run_name from runs r join findings f on f.run_id = r.id
				where f.signature_id = own.id and r.build_id = n.build_id offset 0) f join scenarios sc on sc.id = f.scenario_id
			order by `+gravestFirst+`, f.signature_id, f.scenario_id, f.run_name limit 1) g`, ids)
	for i := range rows {
		s := by[rows[i].RootID]
		s.Latest, s.LastSeen, s.Measured = rows[i].figure(), rows[i].Build, rows[i].Measured
	}
	return err
}
