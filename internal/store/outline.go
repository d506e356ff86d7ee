package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// ByOutline stands in the place of a person where a signature became part of another because it is what evidence without
// inlined calls, as the text of UMDH, calls that one.
const ByOutline = "names without inlined calls"

// A namesake is a signature that has the outline of others for its text.
type namesake struct {
	id     int64
	root   int64 // the leak that it is part of; itself where it is a leak of its own
	joined bool  // it is part of that by its outline
	others []outlined
}

// An outlined is a signature that a namesake may become part of.
type outlined struct {
	id, root int64
	text     string
	beside   bool // one run shows both, by the same evidence
	left     bool // a person took the one out of the other
}

// outlines makes of the signatures that leak or grow those that are the outline of exactly one other leak parts of it,
// whichever came first, and takes back what later evidence made ambiguous. It looks at the names of the roots, whose history
// this result may have changed, and returns all whose history changed by it.
func (c *consequences) outlines(ctx context.Context, roots []int64) (changed []int64, err error) {
	list, err := c.namesakes(ctx, roots)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if n := &list[i]; n.mistaken() {
			left, err := c.leave(ctx, n)
			if err != nil {
				return nil, err
			}
			changed = append(changed, left...)
		}
	}
	if len(changed) > 0 { // it may be the outline of one leak still, another one
		if list, err = c.namesakes(ctx, slices.Concat(roots, changed)); err != nil {
			return nil, err
		}
	}
	for i := range list {
		into := list[i].other()
		if into == nil {
			continue
		}
		joined, err := join(ctx, c.tx, list[i].id, into.id, ByOutline)
		if err != nil {
			return nil, err
		}
		if !joined {
			continue
		}
		changed = append(changed, list[i].id, into.root)
		if err := audit(ctx, c.tx, list[i].id, "", "outline", map[string]any{}, map[string]any{"into": into.text, "run": c.run}); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// mistaken reports whether a namesake is joined and must not be. Where the other has another outline by now, or leaks no
// more, it stays: that says nothing against it, and what the team said since is said of both.
func (n *namesake) mistaken() bool {
	return n.joined && slices.ContainsFunc(n.others, func(o outlined) bool { return o.root != n.root || o.beside })
}

// other is what a namesake is to become part of; nil for nothing. What one run shows side by side are two leaks: of a
// function that is inlined, and of its caller.
func (n *namesake) other() *outlined {
	if n.joined {
		return nil
	}
	for i := range n.others {
		if o := &n.others[i]; o.root != n.others[0].root || o.root == n.root || o.beside || o.left {
			return nil
		}
	}
	return &n.others[0]
}

// leave makes a namesake a leak of its own again, and returns what changed by it.
func (c *consequences) leave(ctx context.Context, n *namesake) (changed []int64, err error) {
	var from string
	if err := c.tx.QueryRow(ctx, `select other.text from signatures s join signatures other on other.id = s.alias_of where s.id = $1`, n.id).Scan(&from); err != nil {
		return nil, err
	}
	root, err := separate(ctx, c.tx, n.id)
	if err != nil {
		return nil, err
	}
	return []int64{n.id, root}, audit(ctx, c.tx, n.id, "", "outline", map[string]any{"into": from}, map[string]any{"run": c.run})
}

// turn makes a leak part of what was part of it as its outline: no evidence knows inlined calls of it any more. What the
// team said of both stays.
func (c *consequences) turn(ctx context.Context, id, outline int64) (bool, error) {
	said, _, err := wordOf(ctx, c.tx, id)
	if err != nil {
		return false, err
	}
	if _, err := separate(ctx, c.tx, outline); err != nil {
		return false, err
	}
	if _, err := say(ctx, c.tx, outline, said); err != nil {
		return false, err
	}
	return join(ctx, c.tx, id, outline, "")
}

// namesakes returns those of the names of roots. Everything is read from what is stored of findings, not from what this
// result changes: so the order of results does not count. Of the others the root of a leak comes first.
func (c *consequences) namesakes(ctx context.Context, roots []int64) ([]namesake, error) {
	rows, err := c.tx.Query(ctx, `
		with named as (select id, text, outline from signatures where id = any($2)),
		own as materialized (
			select s.id, s.text, s.kind, s.root_id, s.alias_of is not null as joined
			from (select text from named union select outline from named where outline <> '') asked join signatures s on s.project_id = $1 and s.text = asked.text
			where s.alias_of is null and (s.bad or s.id = any($2)) or s.alias_by = $3),
		others as materialized ( -- in parts, of which each has its index
			select id, outline from signatures where project_id = $1 and bad and alias_of is null and outline <> '' and outline in (select text from own)
			union select id, outline from signatures where project_id = $1 and alias_of is not null and (bad or alias_by = $3) and outline <> '' and outline in (select text from own)
			union select id, outline from named where outline in (select text from own)),
		pairs as materialized (
			select own.*, other.id as other_id, other.text as other_text, other.root_id as other_root
			from own join others on others.outline = own.text join signatures other on other.id = others.id and other.kind = own.kind and other.id <> own.id)
		select id, root_id, joined, other_id, other_root, other_text,
			exists (select from findings f join findings o on o.run_id = f.run_id
				where f.signature_id = p.id and o.signature_id = p.other_id and f.class in ('leak', 'growing') and o.class in ('leak', 'growing')
					and f.sites > 0 and o.sites > 0), -- not by a witness only
			exists (select from signatures part join signature_audit a on a.signature_id = part.id join signatures former on former.project_id = $1 and former.text = a.before->>'into'
				where part.root_id in (p.id, p.other_root) and former.root_id in (p.id, p.other_root) and former.root_id <> part.root_id and a.action = 'split' and a.actor <> '')
		from pairs p
		where (joined or `+bad("id")+`) and `+bad("other_root")+`
		order by id, other_id <> other_root, other_id`, c.project, roots, ByOutline)
	if err != nil {
		return nil, err
	}
	var list []namesake
	var n namesake
	var o outlined
	_, err = pgx.ForEachRow(rows, []any{&n.id, &n.root, &n.joined, &o.id, &o.root, &o.text, &o.beside, &o.left}, func() error {
		if len(list) == 0 || list[len(list)-1].id != n.id {
			list = append(list, n)
		}
		last := &list[len(list)-1]
		last.others = append(last.others, o)
		return nil
	})
	return list, err
}

// bad is the condition that a leak of which a column p has the root leaks or grows in some run. What is stored of that in
// the signature may be older than the result.
func bad(column string) string {
	return `exists (select from signatures part join findings f on f.signature_id = part.id where part.root_id = p.` + column + ` and f.class in ('leak', 'growing'))`
}
