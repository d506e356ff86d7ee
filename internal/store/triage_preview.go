package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
)

// ErrStoring says that a preview cannot be made at the moment: a result is being stored.
var ErrStoring = errors.New("store: results are being stored")

// errUndone ends the transaction of a preview: nothing of it stays.
var errUndone = errors.New("store: a preview is undone")

// TriageImpact says what a change of what the team says of a signature would do to the gates of the newest build, and of the newest one in which the
// signature was bad. It makes the change, decides again and takes it back, so that what follows from a change stands in one place. Its errors are those
// of ChangeTriage, and ErrStoring.
func (s *Store) TriageImpact(ctx context.Context, project, signature string, change leaks.Change) (made *leaks.Impact, err error) {
	change.Version = -1 // whatever others have changed, this is what it would do now
	if err := change.Check(); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// A reader does not wait for the result of a large run, which holds the lock for seconds.
		if _, err := tx.Exec(ctx, `set local lock_timeout = '1500ms'`); err != nil {
			return err
		}
		at, err := lockedRoot(ctx, tx, project, signature)
		if err != nil {
			return err
		}
		v := View{tx}
		runs, err := v.gatedRuns(ctx, at)
		if err != nil {
			return err
		}
		file, err := v.Policy(ctx, project)
		if err != nil {
			return err
		}
		before, err := v.casesOf(ctx, runs, &file)
		if err != nil {
			return err
		}
		if _, err := changeTriage(ctx, tx, project, signature, change); err != nil {
			return err
		}
		after, err := v.casesOf(ctx, runs, &file)
		if err != nil {
			return err
		}
		if made, err = leaks.ImpactOf(ctx, before, after); err != nil {
			return err
		}
		return errUndone
	})
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, errUndone):
		return made, nil
	case errors.As(err, &refused) && refused.Code == "55P03":
		return nil, ErrStoring
	}
	return nil, wrap("effect of a change", err)
}

// gatedRuns are the runs whose gates are the gates of builds, as leaks.Cell chooses them: of the project's newest build, and of the newest one in which
// a signature was bad; the newest build first.
func (v View) gatedRuns(ctx context.Context, at located) ([]Run, error) {
	newest, err := buildsWithResults(ctx, v.q, at.Project, 1)
	if err != nil || len(newest) == 0 {
		return nil, wrap("newest build", err)
	}
	type row struct {
		Run                     int64
		Build, Scenario, Status string
	}
	rows, err := all[row](ctx, v.q, `
		select r.id as run, b.name as build, sc.name as scenario, r.status from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		where b.project_id = $1 and (b.name = $2 or b.id = (select last_bad_id from signatures where id = $3)) and r.analysed_at is not null
		order by `+newestFirst+`, sc.name, r.id`, at.Project, newest[0].Name, at.Root)
	if err != nil {
		return nil, wrap("runs of gates", err)
	}
	var cells []leaks.Cell
	for _, r := range rows {
		if n := len(cells); n == 0 || cells[n-1].Build != r.Build || cells[n-1].Scenario != r.Scenario {
			cells = append(cells, leaks.Cell{})
		}
		cells[len(cells)-1].Take(leaks.Cell{Build: r.Build, Scenario: r.Scenario, Run: r.Run, Status: analysis.Status(r.Status)})
	}
	runs := make([]Run, len(cells))
	for i := range cells {
		if runs[i], err = v.Run(ctx, cells[i].Run); err != nil {
			return nil, err
		}
	}
	return runs, nil
}
