package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/analysis/score"
)

// SideOf returns what all runs of a build in a scenario have found, for a comparison; ErrNotFound for no such build or
// scenario. Where several runs show a signature, figures are the largest of them.
func (s *Store) SideOf(ctx context.Context, project, scenario, build string) (*compare.Side, error) {
	return s.side(ctx, `p.name = $1 and sc.name = $2 and b.name = $3`, project, scenario, build)
}

// SideOfRun returns what one run has found, for a comparison, or ErrNotFound.
func (s *Store) SideOfRun(ctx context.Context, run int64) (*compare.Side, error) {
	return s.side(ctx, `r.id = $1`, run)
}

// side returns what the runs that a condition chooses have found, all of one build.
func (s *Store) side(ctx context.Context, which string, args ...any) (*compare.Side, error) {
	side := &compare.Side{}
	err := s.tx(ctx, "side of a comparison", func(tx pgx.Tx) error {
		// One look at the rows for all queries: a result that is replaced between them would mix two.
		if _, err := tx.Exec(ctx, `set transaction isolation level repeatable read, read only`); err != nil {
			return err
		}
		if err := readRuns(ctx, tx, side, which, args); err != nil {
			return err
		}
		return readSuspects(ctx, tx, side)
	})
	if err != nil {
		return nil, err
	}
	return side, nil
}

// readRuns reads the facts about the runs of a side.
func readRuns(ctx context.Context, tx pgx.Tx, side *compare.Side, which string, args []any) error {
	rows, err := tx.Query(ctx, `
		select b.name, b.sequence, r.id, r.status, r.trace, r.lossy, r.power, r.seen
		from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id join scenarios sc on sc.id = r.scenario_id
		where `+which+` and r.analysed_at is not null order by r.id`, args...)
	if err != nil {
		return err
	}
	var id int64
	var status string
	var trace, lossy bool
	var text, seen []byte
	side.Seen = compare.Seen{}
	_, err = pgx.ForEachRow(rows, []any{&side.Build, &side.Sequence, &id, &status, &trace, &lossy, &text, &seen}, func() error {
		if err := side.Seen.Take(seen); err != nil {
			return fmt.Errorf("frames of run %d: %w", id, err)
		}
		side.Runs, side.Statuses = append(side.Runs, id), append(side.Statuses, analysis.Status(status))
		side.Trace, side.Lossy = side.Trace || trace, side.Lossy || lossy
		if text == nil {
			return nil
		}
		power := &analysis.Power{}
		if err := json.Unmarshal(text, power); err != nil {
			return fmt.Errorf("power of run %d: %w", id, err)
		}
		if side.Power == nil || power.Unit == side.Power.Unit && power.Bytes < side.Power.Bytes {
			side.Power = power
		}
		return nil
	})
	if err == nil && len(side.Runs) == 0 {
		return ErrNotFound
	}
	return err
}

// readSuspects reads the findings of a side's runs of signatures that leaked or grew in some run of the project, and of those
// that are part of another one, and merges those of one signature. Of the many others a comparison wants to know only that
// their code ran, which Seen tells.
func readSuspects(ctx context.Context, tx pgx.Tx, side *compare.Side) error {
	m := merging{side: side, at: map[int64]int{}}
	rows, err := tx.Query(ctx, `
		select f.run_id, s.id, `+sideColumns+`,
			f.class, f.score, f.certain, f.outstanding_count, f.outstanding_bytes, f.growth_count, f.growth_bytes, f.allocated, f.rate
		from findings f join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id
		where f.run_id = any($1) and (own.bad or own.alias_of is not null) order by f.run_id, f.signature_id`, side.Runs)
	if err != nil {
		return err
	}
	var run, id int64
	var count, bytes, allocated *int64
	var rate *score.Rate
	var f compare.Finding
	_, err = pgx.ForEachRow(rows, []any{&run, &id, &f.Signature, &f.Kind, &f.Title, &f.Frames, &f.Leaf, &f.Outline, &f.State, &f.Owner, &f.Known,
		&f.Class, &f.Score, &f.Certain, &f.Outstanding.Count, &f.Outstanding.Bytes, &count, &bytes, &allocated, &rate}, func() error {
		f.Allocated = -1
		if allocated != nil {
			f.Allocated = *allocated
		}
		if count != nil && bytes != nil {
			f.Growth = &analysis.Amount{Count: *count, Bytes: *bytes}
		}
		f.TakeRate(rate)
		m.add(run, id, f)
		f, rate = compare.Finding{}, nil
		return nil
	})
	m.close()
	return err
}

// sideColumns are what a comparison wants to know of a signature s. Why it was known until then is nothing to go by.
const sideColumns = `s.text, s.kind, s.title, s.frames, s.leaf, s.outline, ` + effectiveState + `,
	case when s.assignee <> '' then s.assignee else s.owner end, case when s.mark = 'known' and not ` + untilOver + ` then s.reason else s.known end`
