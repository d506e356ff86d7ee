package store

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// poolChanges are findings whose judgement changes.
type poolChanges struct {
	runs, signatures []int64
	classes          []string
	scores           []*float64
	certain          []bool
	own, pooled      []*string // JSON
	roots            []int64   // each once
	convicted        []int64   // of them, of what no run by itself suspects
	ranked           []int64   // runs whose findings stand in another order
	err              error
}

// take notes the judgement on a finding where it differs from the stored one.
func (c *poolChanges) take(r *poolRow, judged leaks.Rating, pooled *leaks.PooledRating) {
	sameClass := reflect.DeepEqual(r.Rating, judged)
	if sameClass && reflect.DeepEqual(r.Pooled, pooled) {
		return
	}
	var own *leaks.Rating
	if pooled != nil {
		own = &r.alone().Rating
	}
	c.runs, c.signatures = append(c.runs, r.RunID), append(c.signatures, r.SignatureID)
	c.classes, c.scores, c.certain = append(c.classes, string(judged.Class)), append(c.scores, judged.Score),
		append(c.certain, judged.Certain)
	c.own, c.pooled = append(c.own, c.json(own, own != nil)), append(c.pooled, c.json(pooled, pooled != nil))
	if n := len(c.roots); n == 0 || c.roots[n-1] != r.RootID {
		c.roots = append(c.roots, r.RootID)
	}
	if judged.Class.IsSuspect() && !r.Class.IsSuspect() {
		c.convicted = append(c.convicted, r.RootID)
	}
	if !sameClass && !slices.Contains(c.ranked, r.RunID) {
		c.ranked = append(c.ranked, r.RunID)
	}
}

func (c *poolChanges) json(v any, there bool) *string {
	if !there {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		c.err = err
	}
	return new(string(text))
}

// save stores the judgements, and ranks the findings of their runs anew.
func (c *poolChanges) save(ctx context.Context, tx pgx.Tx) error {
	if len(c.runs) == 0 || c.err != nil {
		return c.err
	}
	_, err := tx.Exec(ctx, `
		update findings f set class = n.class, score = n.score, certain = n.certain, own = n.own::jsonb,
			pooled = n.pooled::jsonb
		from unnest($1::bigint[], $2::bigint[], $3::text[], $4::double precision[], $5::boolean[], $6::text[], $7::text[])
			as n (run_id, signature_id, class, score, certain, own, pooled)
		where f.run_id = n.run_id and f.signature_id = n.signature_id`, c.runs, c.signatures, c.classes, c.scores, c.certain, c.own, c.pooled)
	if err != nil || len(c.ranked) == 0 {
		return err
	}
	_, err = tx.Exec(ctx, `
		with ranks as (
			select f.run_id, f.signature_id, row_number() over (partition by f.run_id order by `+gravestFirst+`, f.growth_count desc nulls last, s.text collate "C") - 1 as rank
			from findings f join signatures s on s.id = f.signature_id where f.run_id = any($1))
		update findings f set ordinal = r.rank from ranks r where f.run_id = r.run_id and f.signature_id = r.signature_id and f.ordinal <> r.rank`, c.ranked)
	return err
}
