package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// DeleteRun deletes a run with its evidence and its result. The states of leaks then follow from the remaining runs;
// triage stays. It returns ErrNotFound where there is none, and ErrHeld under a legal hold.
func (s *Store) DeleteRun(ctx context.Context, run int64, by string) error {
	return s.deleteRun(ctx, run, by, func(tx pgx.Tx, project int64) error {
		return checkHolds(ctx, tx, project, []int64{run})
	})
}

// deleteRun deletes a run unless check, which is called once nobody else can change the run, returns an error.
func (s *Store) deleteRun(ctx context.Context, run int64, by string, check func(tx pgx.Tx, project int64) error) error {
	return s.retryDeadlocks(ctx, "delete run", func(tx pgx.Tx) error {
		type runPlace struct {
			Project               int64
			Build, Scenario, Name string
			BuildID               int64
			Files                 int
		}
		at, err := db.One[runPlace](ctx, tx, `
			select b.project_id as project, b.name as build, s.name as scenario, r.name, b.id as build_id, (select count(*) from evidence e where e.run_id = r.id) as files
			from runs r join builds b on b.id = r.build_id join scenarios s on s.id = r.scenario_id where r.id = $1`, run)
		if err != nil {
			return err
		}
		if err := lockProject(ctx, tx, at.Project); err != nil {
			return err
		}
		if err := check(tx, at.Project); err != nil {
			return err
		}
		if err := forgetRuns(ctx, tx, at.Project, []int64{run}); err != nil {
			return err
		}
		if err := takenAnew(ctx, tx, at.BuildID); err != nil {
			return err
		}
		if err := followRest(ctx, tx, at.Project); err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, at.Project, by, "delete",
			map[string]any{"run": run, "build": at.Build, "scenario": at.Scenario, "name": at.Name, "files": at.Files},
			map[string]any{})
	})
}

// DeleteBuild deletes a build with all of its runs. A build that the team names as the one with the fix of a leak stays
// in the order, without runs: triage refers to it. It returns ErrNotFound where there is none.
func (s *Store) DeleteBuild(ctx context.Context, project, build, by string) error {
	return s.retryDeadlocks(ctx, "delete build", func(tx pgx.Tx) error {
		id, err := projectID(ctx, tx, project)
		if err != nil {
			return err
		}
		if err := lockProject(ctx, tx, id); err != nil {
			return err
		}
		at, err := db.Value[int64](ctx, tx, `select id from builds where project_id = $1 and name = $2`, id, build)
		if err != nil {
			return err
		}
		runs, err := db.Values[int64](ctx, tx, `select id from runs where build_id = $1 order by id`, at)
		if err != nil {
			return err
		}
		if err := checkHolds(ctx, tx, id, runs); err != nil {
			return err
		}
		if err := forgetRuns(ctx, tx, id, runs); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `update signatures set described_id = null where project_id = $1 and described_id = $2`, id,
			at); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx,
			`delete from builds where id = $1 and not exists (select from signatures where project_id = $2 and fixed_id = $1)`,
			at, id); err != nil {
			return err
		}
		if err := takenAnew(ctx, tx, at); err != nil {
			return err
		}
		if err := followRest(ctx, tx, id); err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, id, by, "delete",
			map[string]any{"build": build, "runs": len(runs)}, map[string]any{})
	})
}

// DeleteProject deletes a project with all that it holds, its audit included. The audit of the server records the
// deletion. It returns ErrNotFound where there is none.
func (s *Store) DeleteProject(ctx context.Context, project, by string) error {
	return s.retryDeadlocks(ctx, "delete project", func(tx pgx.Tx) error {
		id, err := projectID(ctx, tx, project)
		if err != nil {
			return err
		}
		if err := lockProject(ctx, tx, id); err != nil {
			return err
		}
		runs, err := db.Values[int64](ctx, tx,
			`select r.id from runs r join builds b on b.id = r.build_id where b.project_id = $1 order by r.id`, id)
		if err != nil {
			return err
		}
		if err := checkHolds(ctx, tx, id, runs); err != nil {
			return err
		}
		if err := forgetRuns(ctx, tx, id, runs); err != nil {
			return err
		}
		// Uploads under way count as forgotten: whoever deletes those deletes their parts.
		if _, err := tx.Exec(ctx, `update uploads set touched_at = to_timestamp(0) where target->>'project' = $1`,
			project); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from projects where id = $1`, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from queue_turns where project_id = $1`, id); err != nil {
			return err
		}
		return audit.RecordServerChange(ctx, tx, by, "delete",
			map[string]any{"project": project, "runs": len(runs)}, map[string]any{})
	})
}

// DeleteEvidence deletes a file of a run and what was read of it, and has the run analysed again. It returns
// ErrNotFound where there is none, and a *leaks.FieldError where nothing to analyse would be left.
func (s *Store) DeleteEvidence(ctx context.Context, run, evidence int64, by string) error {
	return s.deleteEvidence(ctx, run, evidence, by, func(tx pgx.Tx, project int64) error {
		return checkHolds(ctx, tx, project, []int64{run})
	})
}

// deleteEvidence deletes a file unless check, which is called once nobody else can change the project, returns an
// error.
func (s *Store) deleteEvidence(ctx context.Context, run, evidence int64, by string,
	check func(tx pgx.Tx, project int64) error) error {
	return s.retryDeadlocks(ctx, "delete evidence", func(tx pgx.Tx) error {
		project, err := db.Value[int64](ctx, tx,
			`select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
		if err != nil {
			return err
		}
		if err := lockProject(ctx, tx, project); err != nil {
			return err
		}
		if err := check(tx, project); err != nil {
			return err
		}
		if err := lockRuns(ctx, tx, []int64{run}); err != nil {
			return err
		}
		e, err := db.One[Evidence](ctx, tx, `select `+evidenceColumns+` from evidence where run_id = $1 and id = $2`,
			run, evidence)
		if err != nil {
			return err
		}
		// A job that is at work on the run knows the file, and would store a result with it.
		if _, err := tx.Exec(ctx, `
			update jobs set state = `+again+`, attempt = attempt - 1, sent_at = null, lease_token = null, tokens = '{}', lease_until = null, percent = 0, stage = ''
			where run_id = $1 and state = 'running' and evidence_id is distinct from $2`, run, e.ID); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `update jobs set tokens = '{}' where run_id = $1 and state in ('queued', 'failed')`, run); err != nil { // of workers that seemed lost
			return err
		}
		// Several files may be one trace: the others are read again, without this one.
		owner := e.ID
		if e.ReadWith != nil {
			owner = *e.ReadWith
		}
		others, err := db.Values[int64](ctx, tx,
			`select id from evidence where run_id = $1 and id <> $2 and coalesce(read_with, id) = $3 order by id`, run,
			e.ID, owner)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from captures where evidence_id = any($1)`, others); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `delete from evidence where id = $1`, e.ID); err != nil {
			return err
		}
		for _, other := range others {
			if err := readAgain(ctx, tx, run, other); err != nil {
				return err
			}
		}
		left, err := db.Value[bool](ctx, tx, `
			select exists (select from evidence e where e.run_id = $1 and (e.state = 'stored' or exists (select from captures c where c.evidence_id = e.id)))`, run)
		if err != nil {
			return err
		}
		if !left {
			return &leaks.FieldError{Field: "evidence",
				Message: "is the last file that the run's report rests on: delete the run"}
		}
		if _, err := tx.Exec(ctx, `update runs set input_rev = input_rev + 1 where id = $1`, run); err != nil {
			return err
		}
		if err := queueJob(ctx, tx, JobSymbolise, run); err != nil {
			return err
		}
		if err := noteTaken(ctx, tx, project, run); err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, project, by, "delete",
			map[string]any{"run": run, "file": e.Name, "sha256": e.SHA256},
			map[string]any{})
	})
}

// retryDeadlocks is db.Tx that begins anew where the database ends it to resolve a deadlock.
func (s *Store) retryDeadlocks(ctx context.Context, what string, f func(pgx.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := db.Tx(ctx, s, what, func(tx pgx.Tx) error {
			err := f(tx)
			if errors.Is(err, pgx.ErrNoRows) {
				return ErrNotFound
			}
			return err
		})
		if attempt == maxAttempts || !isDeadlock(err) {
			return err
		}
	}
}

// lockRuns locks jobs and rows of runs in the order in which those who store results do.
func lockRuns(ctx context.Context, tx pgx.Tx, runs []int64) error {
	if _, err := tx.Exec(ctx, `select from jobs where run_id = any($1) order by id for update`, runs); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `select from runs where id = any($1) order by id for update`, runs)
	return err
}

// forgetRuns deletes runs. A job that works on one finds its lease gone, and stores nothing.
func forgetRuns(ctx context.Context, tx pgx.Tx, project int64, runs []int64) error {
	if err := lockRuns(ctx, tx, runs); err != nil {
		return err
	}
	if err := lockSignatures(ctx, tx, project); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `delete from runs where id = any($1)`, runs)
	return err
}

// takenAnew finds when the first of the remaining evidence of a build was taken.
func takenAnew(ctx context.Context, tx pgx.Tx, build int64) error {
	_, err := tx.Exec(ctx, `
		update builds set taken_at = (
			select min(c.taken_at) from runs r join evidence e on e.run_id = r.id join captures c on c.evidence_id = e.id where r.build_id = builds.id)
		where id = $1`, build)
	return err
}

// followRest derives anew, from the remaining runs, the order of builds, the judgements on several runs together, and
// the states of all signatures that leaked or grew in any run.
func followRest(ctx context.Context, tx pgx.Tx, project int64) error {
	if err := rankBuilds(ctx, tx, project); err != nil {
		return err
	}
	known, err := db.Values[int64](ctx, tx,
		`select id from signatures where project_id = $1 and (bad or last_seen_id is not null) and alias_of is null`, project)
	if err != nil {
		return err
	}
	if err := lookAgain(ctx, tx, project); err != nil {
		return err
	}
	pooled, err := poolAll(ctx, tx, project, nil)
	if err != nil {
		return err
	}
	return followHistory(ctx, tx, project, append(known, pooled...), "")
}
