package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// A candidate is a signature that another may become part of.
type candidate struct {
	id    int64
	text  string
	whole bool // it is not part of another itself
	asOf  bool // it is part of another as its outline
}

// A leaving is a signature that no up-to-date result has any more.
type leaving struct {
	id         int64
	now        int64       // that it is part of already; 0 for none
	plain      bool        // nothing is said of it and nothing is part of it
	candidates []candidate // by how much of it went there, most first
}

// fold makes those of the signatures that no up-to-date result has any more parts of those that most of their bytes went
// to. Results that are to be made again do not count: what they still have may have moved as well, and what has not comes
// back. It returns all signatures whose history changed.
func (c *consequences) fold(ctx context.Context, left []int64) ([]int64, error) {
	if len(left) == 0 {
		return nil, nil
	}
	list, err := c.leavings(ctx, left)
	if err != nil {
		return nil, err
	}
	var changed, from, into []int64
	var others []leaving
	for _, l := range list {
		to := l.candidates[0]
		_, leavesToo := slices.BinarySearch(left, to.id)
		switch {
		case l.now == to.id:
		case l.now == 0 && l.plain && to.whole && !leavesToo:
			from, into, changed = append(from, l.id), append(into, to.id), append(changed, l.id, to.id)
		default:
			others = append(others, l)
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
func (c *consequences) leavings(ctx context.Context, left []int64) ([]leaving, error) {
	rows, err := c.tx.Query(ctx, `
		select s.id, coalesce(s.alias_of, 0), s.version = 0 and not exists (select from signatures part where part.root_id = s.id and part.id <> s.id),
			other.id, other.text, other.alias_of is null, other.alias_by = $2
		from signatures s join signature_moves m on m.from_id = s.id join signatures other on other.id = m.to_id
		where s.id = any($1) and (s.alias_of is null or s.alias_by = '')
			and (s.alias_of is not null or not exists (
				select from findings f join runs r on r.id = f.run_id where f.signature_id = s.id and r.report_rev >= r.input_rev
					and r.id not in (select j.run_id from jobs j where j.state in ('queued', 'running'))))
		order by s.id, m.weight desc, m.to_id`, left, ByOutline)
	if err != nil {
		return nil, err
	}
	var list []leaving
	var l leaving
	var to candidate
	_, err = pgx.ForEachRow(rows, []any{&l.id, &l.now, &l.plain, &to.id, &to.text, &to.whole, &to.asOf}, func() error {
		if len(list) == 0 || list[len(list)-1].id != l.id {
			list = append(list, l)
		}
		last := &list[len(list)-1]
		last.candidates = append(last.candidates, to)
		return nil
	})
	return list, err
}

// foldPlain makes signatures of which nothing is said parts of others, all at once: rules that change may move thousands.
func (c *consequences) foldPlain(ctx context.Context, from, into []int64) error {
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
func (c *consequences) foldOne(ctx context.Context, l leaving) (changed []int64, err error) {
	if l.now != 0 { // most of it went elsewhere meanwhile
		other, err := separate(ctx, c.tx, l.id)
		if err != nil {
			return nil, err
		}
		changed = append(changed, l.id, other)
	}
	for _, to := range l.candidates {
		joined, err := join(ctx, c.tx, l.id, to.id, "")
		if err == nil && !joined && to.asOf {
			joined, err = c.turn(ctx, l.id, to.id)
		}
		if err != nil {
			return nil, err
		}
		if joined {
			return append(changed, l.id, to.id), audit(ctx, c.tx, l.id, "", "alias", map[string]any{}, map[string]any{"into": to.text, "run": c.run})
		}
	}
	return changed, nil
}
