package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
	"heapdrift/internal/tracing"
)

// A RuleFile is one version of a project's rules; zero for a project that has none.
type RuleFile struct {
	Version int // counts from 1
	Text    string
	Author  string
	// Verified says that the author was logged in; else the name is as somebody typed it.
	Verified bool
	Note     string
	At       time.Time
}

// FindRules returns the present rules of a project, or ErrNotFound for no project.
func (v View) FindRules(ctx context.Context, project string) (RuleFile, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return RuleFile{}, err
	}
	return rulesOf(ctx, db.Q(v), id)
}

const ruleColumns = `version, text, author, verified, note, at`

func rulesOf(ctx context.Context, q db.Querier, project int64) (RuleFile, error) {
	f, err := db.One[RuleFile](ctx, q, `select `+ruleColumns+
		` from project_rules where project_id = $1 order by version desc limit 1`, project)
	if errors.Is(err, pgx.ErrNoRows) {
		return RuleFile{}, nil
	}
	return f, db.Wrap("rules", err)
}

// ListRules lists all versions of a project's rules, newest first.
func (v View) ListRules(ctx context.Context, project string) ([]RuleFile, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	list, err := db.All[RuleFile](ctx, db.Q(v), `select `+ruleColumns+
		` from project_rules where project_id = $1 order by version desc`, id)
	return list, db.Wrap("rules", err)
}

// A RuleChange is a new text of a project's rules.
type RuleChange struct {
	Text, Author, Note string
	Version            int64 // version that it is based on; negative for any
}

func (c *RuleChange) check() error {
	if err := leaks.CheckActor(c.Author); err != nil {
		return err
	}
	if err := leaks.CheckText("note", c.Note, leaks.MaxNoteChars); err != nil {
		return err
	}
	if len(c.Text) > leaks.MaxRuleFileBytes {
		return &leaks.FieldError{Field: "text", Message: "is longer than 1 MB"}
	}
	return leaks.CheckText("text", c.Text, leaks.MaxRuleFileBytes)
}

// CreateRules stores the text as the next version of a project's rules and queues the analysis of all its runs, in one
// transaction; queued is how many. It returns ErrConflict where the present version is not the one that the change is
// based on, and the error of blame.ParseRules where the text is not a rule file.
func (s *Store) CreateRules(ctx context.Context, project string, change RuleChange) (saved RuleFile,
	queued int, err error) {
	if err := change.check(); err != nil {
		return RuleFile{}, 0, err
	}
	if _, err := blame.ParseRules(change.Text); err != nil {
		return RuleFile{}, 0, err
	}
	if change.Version >= math.MaxInt32 { // which no version can be
		return RuleFile{}, 0, ErrConflict
	}
	err = db.Tx(ctx, s, "save rules", func(tx pgx.Tx) error {
		// Of two that save at once the second waits here, and finds the version of the first.
		id, err := db.Value[int64](ctx, tx, `select id from projects where name = $1 for no key update`, project)
		if err != nil {
			return db.Wrap("project", err)
		}
		present, err := rulesOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if change.Version >= 0 && change.Version != int64(present.Version) {
			return ErrConflict
		}
		saved, err = db.One[RuleFile](ctx, tx, `
			insert into project_rules (project_id, version, text, author, note, verified) values ($1, $2, $3, $4, $5, $6) returning `+ruleColumns,
			id, present.Version+1, change.Text, change.Author, change.Note, accounts.IsVerified(ctx, change.Author))
		if err != nil {
			return err
		}
		if err := audit.RecordProjectChange(ctx, tx, id, change.Author, "rules", map[string]any{"version": present.Version},
			map[string]any{"version": saved.Version, "note": saved.Note}); err != nil {
			return err
		}
		queued, err = queueAnalyses(ctx, tx, id, nil)
		return err
	})
	if err != nil {
		return RuleFile{}, 0, err
	}
	return saved, queued, nil
}

// queueAnalyses queues the analysis of the runs of a project, or of some of its scenarios, that have captures, and
// returns how many; nil is all scenarios. Results under way are of the settings before: they are stored, and replaced.
// Jobs are handed out in the order of their ids, so that the newest builds, which people look at, come first.
func queueAnalyses(ctx context.Context, tx pgx.Tx, project int64, scenarios []string) (int, error) {
	ids, err := db.Values[int64](ctx, tx, `
		select r.id from runs r join builds b on b.id = r.build_id where b.project_id = $1
			and ($2::text[] is null or exists (select from scenarios sc where sc.id = r.scenario_id and sc.name = any($2)))
			and exists (select from evidence e join captures c on c.evidence_id = e.id where e.run_id = r.id)
		order by r.id for no key update of r`, project, scenarios)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `update runs set input_rev = input_rev + 1 where id = any($1)`, ids); err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `
		insert into jobs (kind, run_id, trace_parent)
		select 'analyse', r.id, $2 from runs r join builds b on b.id = r.build_id where r.id = any($1)
		order by `+newestFirst+`, r.id desc `+onQueued, ids, tracing.Parent(ctx))
	return len(ids), err
}
