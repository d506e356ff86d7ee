package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// returned makes signatures that runs turned into parts of others signatures of their own again where this result has
// them; one that seemed to be a new name where it has both. It returns them and the others.
func (c *resultEffects) returned(ctx context.Context, named *internedFindings) (parted []int64, err error) {
	ids := slices.Sorted(maps.Values(named.ids))
	back, err := db.Values[int64](ctx, c.tx, `
		select s.id from signatures s where s.id = any($1) and s.alias_of is not null and (s.alias_by = '' or s.alias_by = $2
			and exists (select from signatures o where o.id = any($1) and o.root_id = s.root_id and (o.id = s.root_id or o.alias_by = $2 and o.id < s.id)))
		order by s.id`, ids, leaks.ActorRename)
	if err != nil || len(back) == 0 {
		return nil, err
	}
	for _, id := range back {
		other, err := separate(ctx, c.tx, id)
		if err != nil {
			return nil, err
		}
		parted = append(parted, id, other)
		if err := audit.RecordSignatureChange(ctx, c.tx, id, "", "split", map[string]any{}, map[string]any{"run": c.run}); err != nil {
			return nil, err
		}
	}
	_, err = c.tx.Exec(ctx, `delete from signature_moves where from_id = any($1)`, back)
	return parted, err
}

// move remembers which signatures sites of the run left for which others, and makes those that no other result has any
// more parts of the others. It returns all signatures whose history changed by it.
func (c *resultEffects) move(ctx context.Context, old *oldSites, named *internedFindings,
	sites []analysis.Site) ([]int64, error) {
	after := make([]leaks.SiteSignature[siteKey], len(sites))
	for i := range sites {
		after[i] = leaks.SiteSignature[siteKey]{Key: siteKey{sites[i].StackKey, sites[i].Kind},
			SignatureID: named.ids[sites[i].Signature]}
	}
	weights := leaks.WeighMoves(old.sites, after)
	has := map[int64]bool{}
	for _, id := range named.ids {
		has[id] = true
	}
	left := slices.DeleteFunc(slices.Clone(old.signatures), func(id int64) bool { return has[id] }) // that this run had and has no more
	if len(weights) == 0 && len(left) == 0 {
		return nil, nil
	}
	if err := c.remember(ctx, weights); err != nil {
		return nil, err
	}
	return c.fold(ctx, left)
}

// remember adds to the weights of moves.
func (c *resultEffects) remember(ctx context.Context, weights map[leaks.SignatureMove]int64) error {
	if len(weights) == 0 {
		return nil
	}
	var from, to, weight []int64
	for _, m := range slices.SortedFunc(maps.Keys(weights),
		func(a, b leaks.SignatureMove) int {
			return cmp.Or(cmp.Compare(a.FromID, b.FromID), cmp.Compare(a.ToID, b.ToID))
		}) {
		from, to, weight = append(from, m.FromID), append(to, m.ToID), append(weight, weights[m])
	}
	_, err := c.tx.Exec(ctx, `
		insert into signature_moves (from_id, to_id, weight) select * from unnest($1::bigint[], $2::bigint[], $3::bigint[])
		on conflict (from_id, to_id) do update set weight = signature_moves.weight + excluded.weight`, from, to, weight)
	return err
}
