package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// signaturesLock orders what changes the signatures of a project: the class of an advisory lock, the project being its
// object. Whoever holds it sees every result that was stored before.
const signaturesLock = 0x53494753

// lockSignatures waits for the project's signatures. Rows of runs and jobs are locked before it, those of signatures
// after.
func lockSignatures(ctx context.Context, tx pgx.Tx, project int64) error {
	_, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1::int, ($2::bigint % 2147483647)::int)`,
		signaturesLock, project)
	return err
}

// resultEffects apply what a new result changes in a project's records of signatures.
type resultEffects struct {
	tx                  pgx.Tx
	project, build, run int64
	latest              bool // the result rests on all that is known of the run
	seen                compare.FrameCounts
}

// A siteKey is the part of a site that stays the same when its run is analysed again.
type siteKey struct {
	stack analysis.Key
	kind  string
}

// oldSites are the sites that a run had.
type oldSites struct {
	signatures []int64                        // each once, ascending
	sites      []leaks.SiteSignature[siteKey] // that have a stack
}

// sitesBefore returns what sites a run has now.
func sitesBefore(ctx context.Context, tx pgx.Tx, run int64) (*oldSites, error) {
	type row struct {
		SignatureID      int64
		Kind             string
		StackKey         *[16]byte
		OutstandingBytes int64
	}
	rows, err := db.All[row](ctx, tx,
		`select signature_id, kind, stack_key, outstanding_bytes from sites where run_id = $1 and signature_id is not null`, run)
	old, seen := &oldSites{}, map[int64]bool{}
	for _, r := range rows {
		seen[r.SignatureID] = true
		if r.StackKey != nil {
			old.sites = append(old.sites,
				leaks.SiteSignature[siteKey]{
					Key: siteKey{*r.StackKey, r.Kind}, SignatureID: r.SignatureID, Bytes: r.OutstandingBytes})
		}
	}
	old.signatures = slices.Sorted(maps.Keys(seen))
	return old, err
}

// draw stores the findings and draws the consequences: signatures that sites left for others become part of them, as do
// those that are the outline of another, runs that are judged together are judged anew, and the states of all that leak
// or grow, or did, follow from the history as it is now.
func (c *resultEffects) draw(ctx context.Context, old *oldSites, named *internedFindings, sites []analysis.Site) error {
	if err := lockSignatures(ctx, c.tx, c.project); err != nil {
		return err
	}
	// Results of other runs judge these findings together with theirs, under the same lock.
	if err := replaceFindings(ctx, c.tx, c.run, named); err != nil {
		return err
	}
	touched := slices.Clone(old.signatures)
	for _, id := range named.ids {
		touched = append(touched, id)
	}
	var parted []int64
	if c.latest {
		var err error
		if parted, err = c.returned(ctx, named); err != nil {
			return err
		}
		touched = append(touched, parted...)
		if err := c.describe(ctx, named); err != nil {
			return err
		}
	}
	moved, err := c.move(ctx, old, named, sites)
	if err != nil {
		return err
	}
	lined, err := c.joinLines(ctx, named)
	if err != nil {
		return err
	}
	moved = append(moved, lined...)
	roots, err := c.roots(ctx, append(touched, moved...))
	if err != nil {
		return err
	}
	joined, err := c.outlines(ctx, roots)
	if err != nil {
		return err
	}
	absent, err := c.absences(ctx)
	if err != nil {
		return err
	}
	pooled, err := c.pool(ctx, slices.Concat(parted, moved, joined))
	if err != nil {
		return err
	}
	return followHistory(ctx, c.tx, c.project, slices.Concat(roots, joined, absent, pooled), "")
}

// pool judges runs together anew: the runs around this one, and all runs for signatures that became part of others or
// ceased to be. It returns the roots whose judgement changed.
func (c *resultEffects) pool(ctx context.Context, others []int64) ([]int64, error) {
	changed, err := poolAround(ctx, c.tx, c.run)
	if err != nil || len(others) == 0 {
		return changed, err
	}
	roots, err := db.Values[int64](ctx, c.tx,
		`select distinct root_id from signatures where id = any($1) order by 1`, others)
	if err != nil {
		return nil, err
	}
	more, err := poolAll(ctx, c.tx, c.project, roots)
	return append(changed, more...), err
}

// roots returns the roots of the touched signatures, as far as one of their signatures leaks or grows in this run or
// did so in another.
func (c *resultEffects) roots(ctx context.Context, touched []int64) ([]int64, error) {
	return db.Values[int64](ctx, c.tx, `
		with known as materialized (
			-- each by its key, and few: the root of all others is that signature itself, which is not bad
			select s.* from unnest($2::bigint[]) as t (id), lateral (select root_id, bad from signatures where id = t.id and (bad or alias_of is not null) offset 0) s)
		select root_id from known where bad
		union select root.id from known join signatures root on root.id = known.root_id where root.bad
		union select own.root_id from findings f join signatures own on own.id = f.signature_id where f.run_id = $1 and f.class`+suspect+`
		order by 1`, c.run, touched)
}

// describe stores, for signatures that leak or grow or did so, what the newest build says of them; for other
// signatures, what the last result says, but the class that they have in the newest build that shows them.
func (c *resultEffects) describe(ctx context.Context, named *internedFindings) error {
	// Nearly all say what is stored already.
	n := len(named.findings)
	numbers, err := db.Values[int](ctx, c.tx, `
		select (t.n - 1)::int from unnest($1::bigint[], $2::uuid[], $3::text[]) with ordinality as t (id, told, class, n),
			lateral (select told, bad, class from signatures where id = t.id offset 0) s -- each by its key: a join reads those of all projects
		where s.told is distinct from t.told or s.bad or s.class <> t.class or t.class`+suspect+` order by t.n`,
		named.idsOf(named.told.text[:n]), named.told.digest[:n], named.told.class[:n])
	if err != nil || len(numbers) == 0 {
		return err
	}
	d := named.told.pick(numbers)
	_, err = c.tx.Exec(ctx, `
		with told as (
			select id, title, blame, string_to_array(frames, $14) as frames, fine, leaf, outline, provisional, owner, known, grp, class, told
			from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
				$9::text[], $10::bool[], $11::text[], $12::text[], $13::text[], $15::text[], $16::uuid[])
				as d (id, title, blame, frames, fine, leaf, outline, provisional, owner, known, grp, class, told)),
		changing as (
			select t.*, s.bad or t.class`+suspect+` as bad
			from told t join signatures s on s.id = t.id
			where s.told is distinct from t.told
				or (s.title, s.blame, s.frames, s.fine, s.leaf, s.outline, s.provisional, s.owner, s.known, s."group")
					is distinct from (t.title, t.blame::jsonb, t.frames, t.fine, t.leaf, t.outline, t.provisional, t.owner, t.known, t.grp)
				or not s.bad and s.class <> t.class or (s.bad or t.class`+suspect+`) and s.described_id is distinct from $2
			order by s.id for no key update of s),
		newer as materialized ( -- this result is among them: none of an older build counts
			select r.id as run_id, b.place from runs r join builds b on b.id = r.build_id
			where b.project_id = $1 and r.analysed_at is not null and b.place >= (select place from builds where id = $2))
		update signatures s set title = c.title, blame = c.blame::jsonb, frames = c.frames, fine = c.fine, leaf = c.leaf,
			outline = c.outline, provisional = c.provisional,
			owner = c.owner, known = c.known, "group" = c.grp, told = c.told,
			described_id = case when c.bad then $2 end, class = case when s.bad then s.class else (
				select f.class from newer, lateral (select class from findings where run_id = newer.run_id and signature_id = s.id offset 0) f
				order by newer.place desc, array_position(`+classes+`, f.class) desc nulls last limit 1) end
		from changing c
		where s.id = c.id and (s.described_id is null or not c.bad
			or (select n.place >= o.place from builds n, builds o where n.id = $2 and o.id = s.described_id))
			and s.project_id = $1`,
		c.project, c.build, named.idsOf(d.text), d.title, d.blame, d.frames, d.fine, d.leaf, d.outline, d.provisional,
		d.owner, d.known, d.group, frameEnd, d.class, d.digest)
	return err
}
