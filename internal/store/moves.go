package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

// returned makes signatures that runs turned into parts of others signatures of their own again where this result has them.
// It returns the others.
func (c *consequences) returned(ctx context.Context, named *interned) (others []int64, err error) {
	ids := slices.Sorted(maps.Values(named.ids))
	rows, _ := c.tx.Query(ctx, `select id from signatures where id = any($1) and alias_of is not null and alias_by = '' order by id`, ids)
	back, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(back) == 0 {
		return nil, err
	}
	for _, id := range back {
		other, err := separate(ctx, c.tx, id)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
		if err := audit(ctx, c.tx, id, "", "split", map[string]any{}, map[string]any{"run": c.run}); err != nil {
			return nil, err
		}
	}
	_, err = c.tx.Exec(ctx, `delete from signature_moves where from_id = any($1)`, back)
	return others, err
}

// move remembers which signatures sites of the run left for which others, and makes those that no other result has any
// more parts of the others. It returns all signatures whose history changed by it.
func (c *consequences) move(ctx context.Context, old *oldSites, named *interned, sites []analysis.Site) ([]int64, error) {
	weights := map[[2]int64]int64{}
	counted := map[placedSite]bool{} // one stack and kind may be in several heaps
	for i := range sites {
		site := placedSite{sites[i].Key.Stack, sites[i].Kind}
		to := named.ids[sites[i].Signature]
		if counted[site] || to == 0 {
			continue
		}
		counted[site] = true
		for from, weight := range old.weights[site] {
			if from != to {
				weights[[2]int64{from, to}] += weight
			}
		}
	}
	has := map[int64]bool{}
	for _, id := range named.ids {
		has[id] = true
	}
	left := map[int64]bool{} // that this run had and has no more
	for _, id := range old.signatures {
		if !has[id] {
			left[id] = true
		}
	}
	if len(weights) == 0 && len(left) == 0 {
		return nil, nil
	}
	if err := c.remember(ctx, weights); err != nil {
		return nil, err
	}
	return c.fold(ctx, slices.Sorted(maps.Keys(left)))
}

// remember adds to the weights of moves.
func (c *consequences) remember(ctx context.Context, weights map[[2]int64]int64) error {
	if len(weights) == 0 {
		return nil
	}
	var from, to, weight []int64
	for _, pair := range slices.SortedFunc(maps.Keys(weights), func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) }) {
		from, to, weight = append(from, pair[0]), append(to, pair[1]), append(weight, weights[pair])
	}
	_, err := c.tx.Exec(ctx, `
		insert into signature_moves (from_id, to_id, weight) select * from unnest($1::bigint[], $2::bigint[], $3::bigint[])
		on conflict (from_id, to_id) do update set weight = signature_moves.weight + excluded.weight`, from, to, weight)
	return err
}
