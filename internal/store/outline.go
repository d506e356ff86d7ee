package store

import (
	"context"
	"slices"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// outlines makes of the signatures that leak or grow those that are the outline of exactly one other leak parts of it,
// whichever came first, and takes back what later evidence made ambiguous. It looks at the names of the roots, whose
// history this result may have changed, and returns all whose history changed by it.
func (c *resultEffects) outlines(ctx context.Context, roots []int64) (changed []int64, err error) {
	list, err := c.namesakes(ctx, roots)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if n := &list[i]; n.IsMistaken() {
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
		into := list[i].Other()
		if into == nil {
			continue
		}
		joined, err := join(ctx, c.tx, list[i].ID, into.ID, leaks.ActorOutline)
		if err != nil {
			return nil, err
		}
		if !joined {
			continue
		}
		changed = append(changed, list[i].ID, into.RootID)
		if err := audit.RecordSignatureChange(ctx, c.tx, list[i].ID, "", "outline", map[string]any{},
			map[string]any{"into": into.Text, "run": c.run}); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// leave makes a namesake a leak of its own again, and returns the signatures whose history changed by it.
func (c *resultEffects) leave(ctx context.Context, n *leaks.Namesake) (changed []int64, err error) {
	from, err := db.Value[string](ctx, c.tx,
		`select other.text from signatures s join signatures other on other.id = s.alias_of where s.id = $1`, n.ID)
	if err != nil {
		return nil, err
	}
	root, err := separate(ctx, c.tx, n.ID)
	if err != nil {
		return nil, err
	}
	return []int64{n.ID, root},
		audit.RecordSignatureChange(ctx, c.tx, n.ID, "", "outline",
			map[string]any{"into": from}, map[string]any{"run": c.run})
}

// turn makes a leak part of the signature that was part of it as its outline, because no evidence with inlined calls
// shows it any more. What the team said of both stays.
func (c *resultEffects) turn(ctx context.Context, id, outline int64) (bool, error) {
	said, err := triageDecisionOf(ctx, c.tx, id)
	if err != nil {
		return false, err
	}
	if _, err := separate(ctx, c.tx, outline); err != nil {
		return false, err
	}
	if _, err := saveTriageDecision(ctx, c.tx, outline, said.TriageDecision); err != nil {
		return false, err
	}
	return join(ctx, c.tx, id, outline, "")
}

// namesakes returns those of the names of roots. Everything is read from what is stored of findings, not from what this
// result changes: so the order of results does not count. Of the others the root of a leak comes first.
func (c *resultEffects) namesakes(ctx context.Context, roots []int64) ([]leaks.Namesake, error) {
	type row struct {
		ID, RootID         int64
		Joined             bool
		OtherID, OtherRoot int64
		OtherText          string
		Beside, Left       bool
	}
	rows, err := db.All[row](ctx, c.tx, `
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
			from own join others on others.outline = own.text join signatures other on other.id = others.id and other.kind = own.kind and other.id <> own.ID)
		select id, root_id, joined, other_id, other_root, other_text,
			exists (select from findings f join findings o on o.run_id = f.run_id
				where f.signature_id = p.id and o.signature_id = p.other_id and f.class`+suspect+` and o.class`+suspect+`
					and f.sites > 0 and o.sites > 0) as beside, -- not by other evidence only
			exists (select from signatures part join signature_audit a on a.signature_id = part.id join signatures former on former.project_id = $1 and former.text = a.before->>'into'
				where part.root_id in (p.id, p.other_root) and former.root_id in (p.id, p.other_root) and former.root_id <> part.root_id and a.action = 'split' and a.actor <> '') as left
		from pairs p
		where (joined or `+bad("id")+`) and `+bad("other_root")+`
		order by id, other_id <> other_root, other_id`, c.project, roots, leaks.ActorOutline)
	var list []leaks.Namesake
	for _, r := range rows {
		if len(list) == 0 || list[len(list)-1].ID != r.ID {
			list = append(list, leaks.Namesake{ID: r.ID, RootID: r.RootID, Joined: r.Joined})
		}
		last := &list[len(list)-1]
		last.Others = append(last.Others,
			leaks.OutlinedSignature{ID: r.OtherID, RootID: r.OtherRoot, Text: r.OtherText, Beside: r.Beside, Left: r.Left})
	}
	return list, err
}

// bad is the condition that a leak of which a column p has the root leaks or grows in some run. What is stored of that
// in the signature may be older than the result.
func bad(column string) string {
	return `exists (select from signatures part join findings f on f.signature_id = part.id where part.root_id = p.` +
		column + ` and f.class` + suspect + `)`
}
