package store

import (
	"context"
	"maps"
	"slices"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// joinedLines are the signatures of lines of source that a report shows to be part of findings with call stacks, by
// text: the finding's signature, or "" where several findings may be the line's.
func joinedLines(findings []*analysis.Finding) map[string]string {
	lines := map[string]string{}
	for _, f := range findings {
		for _, j := range f.Joined {
			lines[j.Signature] = f.Signature
		}
		if f.SeveralStacks {
			lines[f.Signature] = ""
		}
	}
	return lines
}

// joinLines makes signatures of lines parts of the leaks that the run shows them to be of. So a run without call stacks
// finds those leaks from now on. What the run contradicts is taken back. It returns all signatures whose history
// changed by it.
func (c *resultEffects) joinLines(ctx context.Context, named *internedFindings) (changed []int64, err error) {
	lines := map[int64]int64{} // 0 for several
	for text, of := range joinedLines(named.findings) {
		lines[named.lineID(text)] = named.ids[of]
	}
	if len(lines) == 0 {
		return nil, nil
	}
	ids := slices.Sorted(maps.Keys(lines))
	into := make([]int64, len(ids))
	for i, id := range ids {
		into[i] = lines[id]
	}
	type row struct {
		leaks.LineSignature
		Text string // that it is shown to be part of
	}
	rows, err := db.All[row](ctx, c.tx, `
		select s.id, s.root_id, s.alias_by as by, s.alias_of is not null as is_part, coalesce(other.root_id, 0) as into_id, coalesce(other.text, '') as text,
			exists (select from signature_audit a where a.signature_id = s.id and a.action = 'merge' and a.actor = $3) as was_part
		from unnest($1::bigint[], $2::bigint[]) as t (id, into_id) join signatures s on s.id = t.id left join signatures other on other.id = t.into_id
		order by s.id`, ids, into, leaks.ActorLine)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		more, err := c.joinLine(ctx, &rows[i].LineSignature, rows[i].Text)
		if err != nil {
			return nil, err
		}
		changed = append(changed, more...)
	}
	return changed, nil
}

// joinLine does what becomes of the signature of a line, and returns the signatures whose history changed by it.
func (c *resultEffects) joinLine(ctx context.Context, l *leaks.LineSignature, into string) ([]int64, error) {
	switch l.Action() {
	case leaks.JoinLine:
		joined, err := join(ctx, c.tx, l.ID, l.IntoID, leaks.ActorLine)
		if err != nil || !joined {
			return nil, err
		}
		return []int64{l.ID, l.IntoID}, audit.RecordSignatureChange(ctx, c.tx, l.ID, leaks.ActorLine, "merge",
			map[string]any{},
			map[string]any{"into": into, "run": c.run})
	case leaks.LeaveLine:
		root, err := separate(ctx, c.tx, l.ID)
		if err != nil {
			return nil, err
		}
		return []int64{l.ID, root}, audit.RecordSignatureChange(ctx, c.tx, l.ID, leaks.ActorLine, "split", map[string]any{},
			map[string]any{"run": c.run})
	case leaks.KeepLine:
	}
	return nil, nil
}
