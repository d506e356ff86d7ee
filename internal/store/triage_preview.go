package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// ErrInUse says that a preview cannot be made now: the project's signatures are locked, or its runs are too large to be
// decided again while a preview may lock them.
var ErrInUse = errors.New("store: the signatures of the project are in use")

// errUndone ends the transaction of a preview, so that it changes nothing.
var errUndone = errors.New("store: a preview is undone")

// A preview waits and works for so long at most: whoever stores a result, or changes a leak, waits for it meanwhile.
const (
	previewWait = 1500 * time.Millisecond
	previewWork = 3 * time.Second
)

// PreviewTriage says what a change of a leak's triage would do to the gates of the newest build, and of the newest
// build in which it was bad. It makes the change, decides again and rolls the change back, so that the effects of a
// change are computed in one place only. Its errors are those of UpdateTriage, and ErrInUse.
func (s *Store) PreviewTriage(ctx context.Context, project, signature string,
	change leaks.TriageChange) (*leaks.Impact, error) {
	return s.triageImpact(ctx, project, signature, change, previewWork)
}

// triageImpact may hold the project's signatures for some time.
func (s *Store) triageImpact(ctx context.Context, project, signature string, change leaks.TriageChange,
	work time.Duration) (*leaks.Impact, error) {
	change.Version = -1 // whatever others have changed, this is what it would do now
	if err := change.Check(); err != nil {
		return nil, err
	}
	now, err := Read(ctx, s, func(v View) (gatedCases, error) { return v.gatedCases(ctx, project, signature) })
	if err != nil {
		return nil, db.Wrap("gates", err)
	}
	var after []leaks.PastCase
	short, cancel := context.WithTimeoutCause(ctx, work, ErrInUse)
	defer cancel()
	err = pgx.BeginFunc(short, db.Conns(s), func(tx pgx.Tx) error {
		if _, err := tx.Exec(short, `select set_config('lock_timeout', $1, true)`,
			fmt.Sprintf("%dms", previewWait.Milliseconds())); err != nil {
			return err
		}
		if _, err := lockedRoot(short, tx, project, signature); err != nil {
			return err
		}
		if _, err := changeTriage(short, tx, project, signature, change); err != nil {
			return err
		}
		if after, err = (View{db.In(tx)}).casesOf(short, now.runs, &now.file); err != nil {
			return err
		}
		return errUndone
	})
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, errUndone):
		return leaks.ImpactOf(ctx, now.cases, after)
	case errors.As(err, &refused) && refused.Code == "55P03", err != nil && errors.Is(context.Cause(short), ErrInUse):
		return nil, ErrInUse
	}
	return nil, db.Wrap("effect of a change", err)
}

// gatedCases are the runs whose gates a change of a signature may turn, as they are decided now.
type gatedCases struct {
	runs  []Run
	file  PolicyFile
	cases []leaks.PastCase
}

func (v View) gatedCases(ctx context.Context, project, signature string) (c gatedCases, err error) {
	at, err := rootOf(ctx, db.Q(v), project, signature)
	if err != nil {
		return c, err
	}
	if c.runs, err = v.gatedRuns(ctx, at); err != nil {
		return c, err
	}
	if c.file, err = v.FindPolicy(ctx, project); err != nil {
		return c, err
	}
	c.cases, err = v.casesOf(ctx, c.runs, &c.file)
	return c, err
}

// gatedRuns are the runs whose gates are the gates of builds, as leaks.CoverageCell chooses them: of the project's
// newest build, and of the newest one in which a signature was bad; the newest build first.
func (v View) gatedRuns(ctx context.Context, at signatureIDs) ([]Run, error) {
	newest, err := buildsWithResults(ctx, db.Q(v), at.Project, 1)
	if err != nil || len(newest) == 0 {
		return nil, db.Wrap("newest build", err)
	}
	rows, err := db.All[cellRow](ctx, db.Q(v), `
		select `+cellColumns+`
		from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		where b.project_id = $1 and (b.name = $2 or b.id = (select last_bad_id from signatures where id = $3)) and r.analysed_at is not null
		order by `+newestFirst+`, sc.name, r.id`, at.Project, newest[0].Name, at.Root)
	if err != nil {
		return nil, db.Wrap("runs of gates", err)
	}
	cells := cellsOf(rows)
	runs := make([]Run, len(cells))
	for i := range cells {
		if runs[i], err = v.FindRun(ctx, cells[i].RunID); err != nil {
			return nil, err
		}
	}
	return runs, nil
}
