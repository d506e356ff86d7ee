package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// ensureRun finds the target's run or makes it, and returns its id.
func ensureRun(ctx context.Context, tx pgx.Tx, t leaks.UploadTarget) (int64, error) {
	// "do update" instead of "do nothing", so that the row comes back whether it was there or not. Of a project a column
	// is set that is no key: else the row would be locked against those who refer to it, and they may hold the run that is
	// wanted next.
	project, err := db.Value[int64](ctx, tx, `
		insert into projects (name) values ($1) on conflict (name) do update set created_at = projects.created_at returning id`, t.Project)
	if err != nil {
		return 0, err
	}
	// Behind the lock of the project, which the statement above holds, no other upload changes its builds.
	build, err := ensureBuild(ctx, tx, project, &t)
	if err != nil {
		return 0, err
	}
	return db.Value[int64](ctx, tx, `
		with scenario as (
			insert into scenarios (project_id, name) values ($1, $3)
			on conflict (project_id, name) do update set name = excluded.name returning id)
		insert into runs (build_id, scenario_id, name, work_unit) select $2, scenario.id, $4, $5 from scenario
		on conflict (build_id, scenario_id, name) do update set
			work_unit = case when excluded.work_unit = '' then runs.work_unit else excluded.work_unit end
		returning id`, project, build, t.Scenario, t.Run, t.WorkUnit)
}

// ensureBuild finds the target's build or makes it, and returns its id. What the target says of the build replaces what
// was known. A build that is new, or that takes another place among the others by that, is placed; where it stands on
// another line than before, states follow anew.
func ensureBuild(ctx context.Context, tx pgx.Tx, project int64, t *leaks.UploadTarget) (int64, error) {
	// The list of commits is long: it is read where it may change.
	former, err := db.One[buildFacts](ctx, tx, `
		select id, name, branch, commit, sequence, fork, case when $3 then ancestors else '{}' end as ancestors
		from builds where project_id = $1 and name = $2`, project, t.Build, len(t.Ancestors) > 0)
	if errors.Is(err, pgx.ErrNoRows) {
		return addBuild(ctx, tx, project, t)
	}
	if err != nil {
		return 0, err
	}
	now := former
	now.declare(t)
	line := now.isOnOtherLine(&former)
	if !line && now.Commit == former.Commit && sameSequence(now.Sequence, former.Sequence) {
		return now.ID, nil
	}
	if _, err := tx.Exec(ctx, `
		update builds set branch = $2, commit = $3, sequence = $4, fork = $5, ancestors = case when $7 then $6 else ancestors end where id = $1`,
		now.ID, now.Branch, now.Commit, now.Sequence, now.Fork, filledTexts(now.Ancestors),
		len(t.Ancestors) > 0); err != nil {
		return 0, err
	}
	before, after := replaced(differences(&former, &now))
	if _, other := leaks.LaterCommit(former.Commit, t.Commit); !other { // the same, written longer
		delete(before, "commit")
		delete(after, "commit")
	}
	if sameSequence(former.Sequence, ownSequence(former.Name)) { // which nobody declared
		delete(before, "sequence")
		delete(after, "sequence")
	}
	if len(before) > 1 {
		if err := audit.RecordProjectChange(ctx, tx, project, uploader(ctx), uploadAction, before, after); err != nil {
			return 0, err
		}
	}
	if !sameSequence(now.Sequence, former.Sequence) {
		if err := rankBuilds(ctx, tx, project); err != nil {
			return 0, err
		}
	}
	if line {
		return now.ID, followBranch(ctx, tx, project, now.ID)
	}
	return now.ID, nil
}

func addBuild(ctx context.Context, tx pgx.Tx, project int64, t *leaks.UploadTarget) (int64, error) {
	b := buildFacts{Sequence: ownSequence(t.Build)}
	b.declare(t)
	id, err := db.Value[int64](ctx, tx, `
		insert into builds (project_id, name, sequence, branch, commit, fork, ancestors) values ($1, $2, $3, $4, $5, $6, $7) returning id`,
		project, t.Build, b.Sequence, b.Branch, b.Commit, b.Fork, filledTexts(b.Ancestors))
	if err != nil {
		return 0, err
	}
	return id, rankBuilds(ctx, tx, project)
}

// declare replaces facts by what a target says; what it leaves out stays.
func (b *buildFacts) declare(t *leaks.UploadTarget) {
	for _, field := range []struct {
		fact  *string
		given string
	}{{&b.Branch, t.Branch}, {&b.Fork, t.Fork}} {
		if field.given != "" {
			*field.fact = field.given
		}
	}
	b.Commit, _ = leaks.LaterCommit(b.Commit, t.Commit)
	if t.Sequence != nil {
		b.Sequence = t.Sequence
	}
	if len(t.Ancestors) > 0 {
		b.Ancestors = t.Ancestors
	}
}

// replaced leaves those differences that replace something: what was missing before is no correction.
func replaced(before, after map[string]any) (was, is map[string]any) {
	for name, value := range before {
		number, isNumber := value.(*int64)
		if value == "" || isNumber && number == nil {
			delete(before, name)
			delete(after, name)
		}
	}
	return before, after
}

// uploader is who sends evidence, for the audit; "" where the server does not know.
func uploader(ctx context.Context) string {
	if a := accounts.ActorFrom(ctx); a.Known() {
		return a.Name
	}
	return ""
}

// filledTexts is a list for a column that is never null.
func filledTexts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// ownSequence is the sequence that a build has by its name as long as none was declared; nil for none.
func ownSequence(name string) *int64 {
	if n, ok := leaks.SequenceOfName(name); ok {
		return &n
	}
	return nil
}
