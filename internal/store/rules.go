package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

const (
	maxRules   = 1 << 20 // characters of a rule file
	dryRunRuns = 50      // newest runs that a dry run looks at
)

// A RuleFile is one version of a project's rules. The zero one is that of a project that has none.
type RuleFile struct {
	Version int // counts from 1
	Text    string
	Author  string
	Note    string
	At      time.Time
}

// Rules returns the rules that a project has, or ErrNotFound for no project.
func (s *Store) Rules(ctx context.Context, project string) (RuleFile, error) {
	id, err := projectID(ctx, s.pool, project)
	if err != nil {
		return RuleFile{}, err
	}
	return rulesOf(ctx, s.pool, id)
}

const ruleColumns = `version, text, author, note, at`

func rulesOf(ctx context.Context, q querier, project int64) (RuleFile, error) {
	rows, _ := q.Query(ctx, `select `+ruleColumns+` from project_rules where project_id = $1 order by version desc limit 1`, project)
	f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[RuleFile])
	if errors.Is(err, pgx.ErrNoRows) {
		return RuleFile{}, nil
	}
	return f, wrap("rules", err)
}

// projectID returns the id of a project, or ErrNotFound.
func projectID(ctx context.Context, q querier, project string) (int64, error) {
	rows, _ := q.Query(ctx, `select id from projects where name = $1`, project)
	id, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
	return id, wrap("project", err)
}

// RuleVersions lists all versions of a project's rules, newest first.
func (s *Store) RuleVersions(ctx context.Context, project string) ([]RuleFile, error) {
	id, err := projectID(ctx, s.pool, project)
	if err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, `select `+ruleColumns+` from project_rules where project_id = $1 order by version desc`, id)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[RuleFile])
	return list, wrap("rules", err)
}

// SaveRules stores the text as the next version of a project's rules and queues the analysis of all its runs, in one
// transaction; it returns how many. It returns ErrConflict where the present version is another than ifVersion.
func (s *Store) SaveRules(ctx context.Context, project, text, author, note string, ifVersion int) (saved RuleFile, queued int, err error) {
	if err := checkRules(text, author, note); err != nil {
		return RuleFile{}, 0, err
	}
	if ifVersion < 0 || ifVersion >= math.MaxInt32 { // which no version can be
		return RuleFile{}, 0, ErrConflict
	}
	err = s.tx(ctx, "save rules", func(tx pgx.Tx) error {
		id, err := projectID(ctx, tx, project)
		if err != nil {
			return err
		}
		// Of two that save at once the second waits here, and finds the version of the first.
		rows, _ := tx.Query(ctx, `
			insert into project_rules (project_id, version, text, author, note)
			select $1, $2::int + 1, $3, $4, $5 where $2::int = coalesce((select max(version) from project_rules where project_id = $1), 0)
			on conflict do nothing returning `+ruleColumns, id, ifVersion, text, author, note)
		saved, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[RuleFile])
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrConflict
		}
		if err != nil {
			return err
		}
		queued, err = queueAnalyses(ctx, tx, id)
		return err
	})
	if err != nil {
		return RuleFile{}, 0, err
	}
	return saved, queued, nil
}

func checkRules(text, author, note string) error {
	if err := checkActor(author); err != nil {
		return err
	}
	if err := checkText("note", note, maxReason); err != nil {
		return err
	}
	return checkText("text", text, maxRules)
}

// queueAnalyses queues the analysis of all runs of a project that have captures, and returns how many. Results under way
// are of the rules before: they are stored, and replaced. Jobs are handed out in the order of their ids, so that the newest
// builds, which people look at, come first.
func queueAnalyses(ctx context.Context, tx pgx.Tx, project int64) (int, error) {
	rows, _ := tx.Query(ctx, `
		select r.id from runs r join builds b on b.id = r.build_id where b.project_id = $1
			and exists (select from evidence e join captures c on c.evidence_id = e.id where e.run_id = r.id)
		order by r.id for no key update of r`, project)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `update runs set input_rev = input_rev + 1 where id = any($1)`, ids); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `
		insert into jobs (kind, run_id)
		select 'analyse', r.id from runs r join builds b on b.id = r.build_id where r.id = any($1)
		order by b.sequence desc nulls last, b.id desc, r.id desc `+onQueued, ids)
	return len(ids), err
}

// A DryRunStack is a stack that leaks or grows, on which a new rule file can be tried.
type DryRunStack struct {
	Frames    []*analysis.Frame // innermost first
	Kind      string
	Signature string // that it has now
	Title     string
	Class     string
	Run       int64 // the newest that shows it
}

// StacksForDryRun returns the distinct stacks of sites that leak or grow in the newest runs of a project, those of the
// newest run first, and at most limit; or ErrNotFound.
func (s *Store) StacksForDryRun(ctx context.Context, project string, limit int) ([]DryRunStack, error) {
	id, err := projectID(ctx, s.pool, project)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `
		with newest as (
			select r.id from runs r join builds b on b.id = r.build_id where b.project_id = $1 and r.analysed_at is not null order by r.id desc limit $2),
		bad as (
			select distinct on (st.stack_id, st.kind) st.stack_id, st.kind, st.signature_id, st.verdict, st.run_id, st.ordinal
			from newest n join findings f on f.run_id = n.id and f.class in ('leak', 'growing')
				join sites st on st.run_id = n.id and st.signature_id = f.signature_id
			where st.stack_id is not null and st.verdict in ('leak', 'growing') order by st.stack_id, st.kind, st.run_id desc)
		select bad.stack_id, bad.kind, s.text, s.title, bad.verdict, bad.run_id
		from bad join signatures own on own.id = bad.signature_id join signatures s on s.id = own.root_id
		order by bad.run_id desc, bad.ordinal limit $3`, id, dryRunRuns, limit)
	if err != nil {
		return nil, wrap("stacks for a dry run", err)
	}
	var list []DryRunStack
	var ids []int64
	var d DryRunStack
	var stack int64
	_, err = pgx.ForEachRow(rows, []any{&stack, &d.Kind, &d.Signature, &d.Title, &d.Class, &d.Run}, func() error {
		list, ids = append(list, d), append(ids, stack)
		return nil
	})
	if err != nil {
		return nil, wrap("stacks for a dry run", err)
	}
	frames, err := s.StackFrames(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Frames = frames[ids[i]]
	}
	return list, nil
}
