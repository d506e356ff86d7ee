package store

import (
	"context"
	"slices"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// fold makes those of the signatures that no up-to-date result has any more parts of those that most of their bytes
// went to. Results that are to be made again do not count: signatures that they still have may have moved as well, and
// those that have not moved return with the new result. It returns all signatures whose history changed.
func (c *resultEffects) fold(ctx context.Context, left []int64) ([]int64, error) {
	if len(left) == 0 {
		return nil, nil
	}
	list, err := c.leavings(ctx, left)
	if err != nil {
		return nil, err
	}
	leaves := func(id int64) bool {
		_, found := slices.BinarySearch(left, id)
		return found
	}
	var changed, from, into []int64
	var others []leaks.ReplacedSignature
	for _, l := range list {
		switch to := l.Candidates[0].ID; l.Action(leaves) {
		case leaks.MergeAlone:
			from, into, changed = append(from, l.ID), append(into, to), append(changed, l.ID, to)
		case leaks.MergeWithParts:
			others = append(others, l)
		case leaks.KeepAsIs:
		}
	}
	if err := c.foldPlain(ctx, from, into); err != nil {
		return nil, err
	}
	for _, l := range others {
		also, err := c.foldOne(ctx, l)
		if err != nil {
			return nil, err
		}
		changed = append(changed, also...)
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// leavings finds those of the signatures that are to become parts of others, in the order of their ids.
func (c *resultEffects) leavings(ctx context.Context, left []int64) ([]leaks.ReplacedSignature, error) {
	type row struct {
		ID, Now          int64
		Plain            bool
		OtherID          int64
		Text             string
		Whole, AsOutline bool
	}
	rows, err := db.All[row](ctx, c.tx, `
		select s.id, coalesce(s.alias_of, 0) as now, s.version = 0 and not exists (select from signatures part where part.root_id = s.id and part.id <> s.id) as plain,
			other.id as other_id, other.text, other.alias_of is null as whole, other.alias_by = $2 as as_outline
		from signatures s join signature_moves m on m.from_id = s.id join signatures other on other.id = m.to_id
		where s.id = any($1) and (s.alias_of is null or s.alias_by = '')
			and (s.alias_of is not null or not exists (
				select from findings f join runs r on r.id = f.run_id where f.signature_id = s.id and r.report_rev >= r.input_rev
					and r.id not in (select j.run_id from jobs j where j.state in ('queued', 'running'))))
		order by s.id, m.weight desc, m.to_id`, left, leaks.ActorOutline)
	var list []leaks.ReplacedSignature
	for _, r := range rows {
		if len(list) == 0 || list[len(list)-1].ID != r.ID {
			list = append(list, leaks.ReplacedSignature{ID: r.ID, PartOfID: r.Now, Plain: r.Plain})
		}
		last := &list[len(list)-1]
		last.Candidates = append(last.Candidates,
			leaks.ReplacementCandidate{ID: r.OtherID, Text: r.Text, IsRoot: r.Whole, AsOutline: r.AsOutline})
	}
	return list, err
}

// foldPlain makes signatures without a word of the team parts of others, all at once, because a change of rules may
// move thousands.
func (c *resultEffects) foldPlain(ctx context.Context, from, into []int64) error {
	_, err := c.tx.Exec(ctx, `
		with pairs as (
			select p.id, p.into_id, other.text, other.version from unnest($1::bigint[], $2::bigint[]) as p (id, into_id) join signatures other on other.id = p.into_id),
		noted as (
			insert into signature_audit (signature_id, actor, action, before, after)
			select id, '', 'alias', '{}', jsonb_build_object('into', text, 'run', $3::bigint) from pairs)
		update signatures s set alias_of = p.into_id, root_id = p.into_id, alias_by = '', alias_at = now(), alias_version = p.version from pairs p where p.id = s.id`,
		from, into, c.run)
	return err
}

// foldOne makes a signature part of the first of its candidates that is not part of it, and returns what changed by it.
func (c *resultEffects) foldOne(ctx context.Context, l leaks.ReplacedSignature) (changed []int64, err error) {
	if l.PartOfID != 0 { // most of it went elsewhere meanwhile
		other, err := separate(ctx, c.tx, l.ID)
		if err != nil {
			return nil, err
		}
		changed = append(changed, l.ID, other)
	}
	for _, to := range l.Candidates {
		joined, err := join(ctx, c.tx, l.ID, to.ID, "")
		if err == nil && !joined && to.AsOutline {
			joined, err = c.turn(ctx, l.ID, to.ID)
		}
		if err != nil {
			return nil, err
		}
		if joined {
			return append(changed, l.ID, to.ID),
				audit.RecordSignatureChange(ctx, c.tx, l.ID, "", "alias", map[string]any{}, map[string]any{"into": to.Text, "run": c.run})
		}
	}
	return changed, nil
}
