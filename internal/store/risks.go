package store

import (
	"context"
	"encoding/json"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// riskRow is what a finding could leak in its run; all are null where nothing is known of it.
type riskRow struct {
	LeakProbability, LeakBytes, LeakScore *float64
}

// riskColumns are riskRow, of findings f.
const riskColumns = `f.leak_probability, f.leak_bytes, f.leak_score`

func (r *riskRow) risk() *analysis.Risk {
	if r.LeakProbability == nil || r.LeakBytes == nil || r.LeakScore == nil {
		return nil
	}
	return &analysis.Risk{Probability: *r.LeakProbability, MostBytes: *r.LeakBytes, Score: *r.LeakScore}
}

// risks reads what the evidence of a run watched, and what its findings could leak that a build's result does not list.
// Findings that rules or the team know are left out: they are decided.
func (v View) risks(ctx context.Context, run int64, c *leaks.GateCase) error {
	watch, err := db.Value[[]byte](ctx, db.Q(v), `select watch from runs where id = $1`, run)
	if err != nil || watch == nil {
		return db.Wrap("watch of a run", err)
	}
	c.Observation = &analysis.Observation{}
	if err := json.Unmarshal(watch, c.Observation); err != nil {
		return fmt.Errorf("store: watch of run %d: %w", run, err)
	}
	rows, err := db.All[riskRow](ctx, db.Q(v), `
		select `+riskColumns+` from findings f join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id
		where f.run_id = $1 and f.leak_bytes is not null and not (own.bad or own.alias_of is not null) and s.known = '' and not (s.not_leak or s.mark = 'known' and not `+untilOver+`)
		order by f.signature_id`, run)
	for i := range rows {
		if r := rows[i].risk(); r != nil {
			c.OtherRisks = append(c.OtherRisks, *r)
		}
	}
	return db.Wrap("risks of a run", err)
}
