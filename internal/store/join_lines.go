package store

import (
	"context"
	"maps"
	"slices"

	"heapdrift/ingest/capture"
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

// joinLines makes signatures of lines parts of the leaks that the run, or others of its build and scenario, show them
// to be of. So a run without call stacks finds those leaks from now on. What the run contradicts is taken back. It
// returns all signatures whose history changed by it.
func (c *resultEffects) joinLines(ctx context.Context, named *internedFindings) (changed []int64, err error) {
	ofRun := map[int64]int64{}
	for text, of := range joinedLines(named.findings) {
		ofRun[named.lineID(text)] = named.ids[of]
	}
	if changed, err = c.joinEach(ctx, ofRun); err != nil {
		return nil, err
	}
	sites, err := c.listedSites(ctx)
	if err != nil {
		return nil, err
	}
	more, err := c.joinEach(ctx, leaks.LinesOfBuild(sites))
	return append(changed, more...), err
}

// joinEach does what becomes of signatures of lines, by the signatures that they are shown to be part of, which are 0
// for several.
func (c *resultEffects) joinEach(ctx context.Context, lines map[int64]int64) (changed []int64, err error) {
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
		select s.id, s.root_id as root, s.alias_by as by, s.alias_of is not null as is_part, coalesce(other.root_id, 0) as into, coalesce(other.text, '') as text,
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

// listedSites are the sites of leaks at exit that the runs of the build list in the scenario of this run; nil where
// no list is without call stacks.
func (c *resultEffects) listedSites(ctx context.Context) ([]leaks.ListedSite, error) {
	type row struct {
		SignatureID, RootID int64
		Place               string
		IsLine              bool
		analysis.Amount
	}
	rows, err := db.All[row](ctx, c.tx, `
		with listed as materialized (
			select f.run_id, f.signature_id, s.root_id from runs this join runs r on r.build_id = this.build_id and r.scenario_id = this.scenario_id
				join findings f on f.run_id = r.id and f.listed is not null and f.class`+suspect+` join signatures s on s.id = f.signature_id
			where this.id = $1),
		found as materialized (
			select l.signature_id, l.root_id, l.run_id, s.place, $2 = any(s.flags) as is_line,
				sum(s.outstanding_count + coalesce(s.at_exit_count, 0))::bigint as count, sum(s.outstanding_bytes + coalesce(s.at_exit_bytes, 0))::bigint as bytes
			from listed l join sites s on s.signature_id = l.signature_id and s.run_id = l.run_id
			where s.place <> '' and s.kind = $3 group by 1, 2, 3, 4, 5)
		select signature_id, root_id, place, is_line, count, bytes from found where exists (select from found where is_line) order by signature_id, run_id, place`,
		c.run, analysis.FlagLine, capture.KindHeap.String())
	sites := make([]leaks.ListedSite, len(rows))
	for i, r := range rows {
		sites[i] = leaks.ListedSite{Signature: r.SignatureID, Root: r.RootID, Place: r.Place, IsLine: r.IsLine,
			Held: r.Amount}
	}
	return sites, db.Wrap("listed sites", err)
}

// joinLine does what becomes of the signature of a line, and returns the signatures whose history changed by it.
func (c *resultEffects) joinLine(ctx context.Context, l *leaks.LineSignature, into string) ([]int64, error) {
	switch l.Action() {
	case leaks.JoinLine:
		joined, err := join(ctx, c.tx, l.ID, l.Into, leaks.ActorLine)
		if err != nil || !joined {
			return nil, err
		}
		return []int64{l.ID, l.Into}, audit.RecordSignatureChange(ctx, c.tx, l.ID, leaks.ActorLine, "merge", map[string]any{},
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
