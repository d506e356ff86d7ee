package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A StoredDecision is a gate's decision on a run, with the question that it answers.
type StoredDecision struct {
	ID       int64
	FailOn   string // kinds of leaks that the call asked for, as ParseFailOn reads them; "" for none
	Baseline string // build that the call named; "" for none
	Asked    string // growth from which the call wanted a leak to matter; "" for none
	At       time.Time
	leaks.Decision
}

// decisionsKept is how many decisions are kept of a run: the newest ones by the policy alone, and as many of those for
// which a call asked for more. Without the two separate limits, calls that ask for more could push out all decisions by
// the policy alone.
const decisionsKept = 100

// decisionsLock orders what stores decisions of a run: the class of an advisory lock, the run being its object.
const decisionsLock = 0x44454353

// CreateDecision stores a gate's decision on a run, unless it is the same as the last decision on the same question. It
// returns ErrNotFound for no run.
func (s *Store) CreateDecision(ctx context.Context, run int64, q GateQuestion, made *leaks.Decision) error {
	return db.Tx(ctx, s, "record decision", func(tx pgx.Tx) error {
		// As results do: the lock of signatures before that of decisions.
		if err := recordFailures(ctx, tx, run, made.FailedSignatures()); err != nil {
			return err
		}
		return recordDecision(ctx, tx, run, q, made)
	})
}

func recordDecision(ctx context.Context, tx pgx.Tx, run int64, q GateQuestion, made *leaks.Decision) error {
	text, err := json.Marshal(made)
	if err != nil {
		return fmt.Errorf("store: decision: %w", err)
	}
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1::int, ($2::bigint % 2147483647)::int)`,
		decisionsLock, run); err != nil {
		return err
	}
	there, err := db.Value[bool](ctx, tx, `select exists (select from runs where id = $1)`, run)
	if err != nil {
		return err
	}
	if !there {
		return ErrNotFound
	}
	asked, matters := make([]string, len(q.FailOn)), ""
	for i, on := range q.FailOn {
		asked[i] = string(on)
	}
	if q.Matters != nil {
		matters = q.Matters.Text()
	}
	tag, err := tx.Exec(ctx, `
		insert into decisions (run_id, fail_on, baseline, matters, decision)
		select $1, $2, $3, $5, $4::jsonb where $4::jsonb is distinct from (select decision from decisions where run_id = $1 and fail_on = $2 and baseline = $3 and matters = $5 order by id desc limit 1)`,
		run, strings.Join(asked, ","), q.Baseline, text, matters)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	const alike = `run_id = $1 and (` + byPolicyAlone + `) = $2`
	_, err = tx.Exec(ctx, `delete from decisions where `+alike+` and id <= (select id from decisions where `+alike+
		` order by id desc offset $3 limit 1)`,
		run, len(asked) == 0 && q.Baseline == "" && matters == "", decisionsKept)
	return err
}

// recordFailures notes that the gate of a run failed for signatures, and follows those anew of which nobody had been
// told.
func recordFailures(ctx context.Context, tx pgx.Tx, run int64, signatures []string) error {
	if len(signatures) == 0 {
		return nil
	}
	project, err := projectOfRun(ctx, tx, run)
	if err != nil {
		return db.Wrap("run", err)
	}
	fresh, err := db.Value[bool](ctx, tx, `
		select exists (select from signatures s where s.project_id = $2 and s.text = any($3)
			and not exists (select from failures f where f.signature_id = s.id and f.run_id = $1))`, run, project, signatures)
	if err != nil || !fresh {
		return err
	}
	if err := lockSignatures(ctx, tx, project); err != nil {
		return err
	}
	roots, err := db.Values[int64](ctx, tx, `
		with told as (
			insert into failures (signature_id, run_id) select s.id, $1 from signatures s where s.project_id = $2 and s.text = any($3)
			on conflict do nothing returning signature_id)
		select distinct s.root_id from told join signatures s on s.id = told.signature_id`, run, project, signatures)
	if err != nil {
		return err
	}
	return followHistory(ctx, tx, project, roots, "")
}

// decideOwn decides about a run by the policy alone and stores the decision, once the run has nothing pending. Without
// a saved policy nobody has asked: that a leak would fail a build is no news then.
func decideOwn(ctx context.Context, tx pgx.Tx, id int64) error {
	v := View{db.In(tx)}
	run, err := v.FindRun(ctx, id)
	if err != nil {
		return err
	}
	verdict, err := v.FindVerdict(ctx, &run, GateQuestion{})
	if err != nil || verdict.Decision == nil {
		return err
	}
	renamed, err := joinRenamed(ctx, tx, &run, verdict.Renamed)
	if err != nil {
		return err
	}
	if renamed {
		if verdict, err = v.FindVerdict(ctx, &run, GateQuestion{}); err != nil || verdict.Decision == nil {
			return err
		}
	}
	if verdict.Policy > 0 {
		if err := recordFailures(ctx, tx, id, verdict.Decision.FailedSignatures()); err != nil {
			return err
		}
	}
	return recordDecision(ctx, tx, id, GateQuestion{}, verdict.Decision)
}

// decideSettled decides about a run that has a report, if no job of it is pending. Whoever ends a job without a new
// result calls it: the result may have come while that job was pending, and nothing was decided then.
func decideSettled(ctx context.Context, tx pgx.Tx, id int64) error {
	// The lock of the row orders jobs of a run that end at the same time: the last of them sees that the others are done.
	project, err := db.Value[int64](ctx, tx, `
		select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1 for no key update of r`, id)
	if errors.Is(err, pgx.ErrNoRows) { // it was deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	run, err := View{db.In(tx)}.FindRun(ctx, id)
	if err != nil || !run.facts().IsJudged() {
		return err
	}
	if err := lockSignatures(ctx, tx, project); err != nil {
		return err
	}
	return decideOwn(ctx, tx, id)
}

// ListDecisions lists the decisions on a run, newest first.
func (v View) ListDecisions(ctx context.Context, run int64) ([]StoredDecision, error) {
	rows, err := db.All[decisionRow](ctx, db.Q(v), `select `+decisionColumns+
		` from decisions where run_id = $1 order by id desc`, run)
	if err != nil {
		return nil, db.Wrap("decisions", err)
	}
	list := make([]StoredDecision, len(rows))
	for i := range rows {
		if list[i], err = rows[i].stored(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

const decisionColumns = `id, fail_on, baseline, matters, decision, at`

// byPolicyAlone is true of decisions for which no call asked for more.
const byPolicyAlone = `fail_on = '' and baseline = '' and matters = ''`

// decisionRow is decisionColumns.
type decisionRow struct {
	ID                        int64
	FailOn, Baseline, Matters string
	Decision                  []byte
	At                        time.Time
}

func (r *decisionRow) stored() (StoredDecision, error) {
	d := StoredDecision{ID: r.ID, FailOn: r.FailOn, Baseline: r.Baseline, Asked: r.Matters, At: r.At}
	if err := json.Unmarshal(r.Decision, &d.Decision); err != nil {
		return d, fmt.Errorf("store: decision %d: %w", r.ID, err)
	}
	return d, nil
}

// ListLastDecisions returns, by the id of the run, the last decision by the policy alone. Runs without one are left
// out.
func (v View) ListLastDecisions(ctx context.Context, runs []int64) (map[int64]StoredDecision, error) {
	type row struct {
		RunID int64
		decisionRow
	}
	rows, err := db.All[row](ctx, db.Q(v), `
		select distinct on (run_id) run_id, `+decisionColumns+` from decisions where run_id = any($1) and `+byPolicyAlone+` order by run_id, id desc`, runs)
	if err != nil {
		return nil, db.Wrap("last decisions", err)
	}
	last := make(map[int64]StoredDecision, len(rows))
	for i := range rows {
		if last[rows[i].RunID], err = rows[i].stored(); err != nil {
			return nil, err
		}
	}
	return last, nil
}
