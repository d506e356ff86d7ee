package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

// A History is what all runs of a project say of one signature.
type History struct {
	Signature Signature
	Builds    []BuildRef // every build of the project that has a result, oldest first
	Scenarios []string   // in which the signature was seen
	Outcomes  []Outcome  // by build, oldest first, then by scenario; of every build and scenario that was run
	// Explained is the finding that explains the signature best: the gravest of the newest build.
	Explained *Finding
}

// A BuildRef names a build.
type BuildRef struct {
	Name     string
	Sequence *int64
	Branch   string
	Pinned   bool // a release
}

// An Outcome is what the runs of one build in one scenario say of a signature.
type Outcome struct {
	Build    string
	Scenario string
	Runs     int   // that have a result
	Seen     int   // of them, that show the signature
	Run      int64 // the gravest of those; else the newest
	// Exercised says that a run shows the signature, leaking or not. Where none does, nothing is known: that is not clean.
	Exercised bool
	// Clean says that a run shows it, could tell a leak from what is none, and none of the runs says that it leaks or grows.
	Clean bool
	Figures
}

// Bad says that the signature leaked or grew.
func (o *Outcome) Bad() bool { return analysis.Class(o.Class).IsSuspect() }

// SignatureHistory returns what all runs say of a signature, or ErrNotFound.
func (s *Store) SignatureHistory(ctx context.Context, project, signature string) (*History, error) {
	h := &History{}
	err := s.tx(ctx, "signature history", func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, `set transaction isolation level repeatable read, read only`); err != nil {
			return err
		}
		projectID, _, root, err := rootOf(ctx, tx, project, signature)
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `select `+signatureColumns+` from signatures s where s.id = $1`, root)
		if h.Signature, err = pgx.CollectExactlyOneRow(rows, scanSignature); err != nil {
			return err
		}
		if h.Builds, err = buildsWithResults(ctx, tx, projectID, 0); err != nil {
			return err
		}
		rows, _ = tx.Query(ctx, `
			select sc.name from scenarios sc where sc.project_id = $1 and exists (
				select from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id where own.root_id = $2 and r.scenario_id = sc.id)
			order by sc.name`, projectID, root)
		if h.Scenarios, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return err
		}
		if h.Outcomes, err = outcomesOf(ctx, tx, projectID, root); err != nil {
			return err
		}
		h.Explained, err = explained(ctx, tx, root)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// buildsWithResults lists the newest builds of a project that have a result, oldest first; all for no limit.
func buildsWithResults(ctx context.Context, q querier, project int64, limit int) ([]BuildRef, error) {
	rows, _ := q.Query(ctx, `
		select name, sequence, branch, pinned from builds b
		where project_id = $1 and exists (select from runs r where r.build_id = b.id and r.analysed_at is not null)
		order by sequence desc nulls last, id desc limit nullif($2, 0)`, project, limit)
	builds, err := pgx.CollectRows(rows, pgx.RowToStructByPos[BuildRef])
	slices.Reverse(builds)
	return builds, err
}

// outcomesOf lists what each build says of a signature in each scenario. The run that speaks for them is the gravest.
func outcomesOf(ctx context.Context, tx pgx.Tx, project, root int64) ([]Outcome, error) {
	rows, _ := tx.Query(ctx, `
		with told as (
			select f.*, row_number() over (partition by r.build_id, r.scenario_id order by `+gravestFirst+`, r.id desc) as place,
				count(*) over (partition by r.build_id, r.scenario_id) as seen,
				bool_or(r.status <> 'inconclusive' and f.class not in ('leak', 'growing', 'unknown')) over (partition by r.build_id, r.scenario_id) as decided,
				r.build_id, r.scenario_id
			from signatures own join findings f on f.signature_id = own.id join runs r on r.id = f.run_id where own.root_id = $2),
		ran as (
			select r.build_id, r.scenario_id, count(*) as runs, max(r.id) as newest
			from runs r join builds b on b.id = r.build_id where b.project_id = $1 and r.analysed_at is not null group by 1, 2)
		select b.name, sc.name, ran.runs, coalesce(f.seen, 0), coalesce(f.run_id, ran.newest), f.run_id is not null,
			coalesce(f.decided and f.class not in ('leak', 'growing'), false),
			coalesce(f.class, ''), f.score, coalesce(f.certain, false), coalesce(f.outstanding_count, 0), coalesce(f.outstanding_bytes, 0), f.growth_count, f.growth_bytes, f.rate
		from ran join builds b on b.id = ran.build_id join scenarios sc on sc.id = ran.scenario_id
			left join told f on f.build_id = ran.build_id and f.scenario_id = ran.scenario_id and f.place = 1
		order by b.sequence is not null, b.sequence, b.id, sc.name`, project, root)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Outcome, err error) {
		figures, made := figureFields(&o.Figures)
		err = row.Scan(append([]any{&o.Build, &o.Scenario, &o.Runs, &o.Seen, &o.Run, &o.Exercised, &o.Clean}, figures...)...)
		made()
		return o, err
	})
}

// explained returns the gravest finding of the newest build that has one; nil for none.
func explained(ctx context.Context, tx pgx.Tx, root int64) (*Finding, error) {
	rows, _ := tx.Query(ctx, findingQuery+`
		join runs r on r.id = f.run_id join builds b on b.id = r.build_id where s.id = $1
		order by b.sequence desc nulls last, b.id desc, `+gravestFirst+`, f.run_id desc limit 1`, root)
	f, err := pgx.CollectExactlyOneRow(rows, scanFinding)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &f, err
}
