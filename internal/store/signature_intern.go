package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

// interned is a report's findings with the signatures that a project knows them by.
type interned struct {
	project, build int64
	findings       []analysis.Finding
	others         []analysis.Finding // signatures of sites that are in no finding
	ids            map[string]int64   // by text
}

// internSignatures stores the signatures of a report that the run's project does not have yet. Rows are inserted in the
// order of their texts: two workers that store the same signatures do not block each other.
func (s *Store) internSignatures(ctx context.Context, run int64, r *analysis.Report) (*interned, error) {
	named := &interned{findings: findingsOf(r)}
	slices.SortStableFunc(named.findings, func(a, b analysis.Finding) int { return cmp.Compare(a.Signature, b.Signature) })
	named.findings = slices.CompactFunc(named.findings, func(a, b analysis.Finding) bool { return a.Signature == b.Signature })
	known := map[string]bool{"": true}
	for i := range named.findings {
		known[named.findings[i].Signature] = true
	}
	for i := range r.Sites {
		if site := &r.Sites[i]; !known[site.Signature] {
			known[site.Signature] = true
			named.others = append(named.others, bareFinding(r, site))
		}
	}
	err := s.tx(ctx, "intern signatures", func(tx pgx.Tx) error {
		type place struct{ ProjectID, BuildID int64 }
		at, err := one[place](ctx, tx, `select b.project_id, b.id as build_id from runs r join builds b on b.id = r.build_id where r.id = $1`, run)
		if err != nil {
			return wrap("run", err)
		}
		named.project, named.build = at.ProjectID, at.BuildID
		if err := named.look(ctx, tx); err != nil {
			return err
		}
		var missing []analysis.Finding
		for _, f := range slices.Concat(named.findings, named.others) {
			if named.ids[f.Signature] == 0 {
				missing = append(missing, f)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if err := named.insert(ctx, tx, missing); err != nil {
			return err
		}
		return named.look(ctx, tx)
	})
	return named, err
}

// id is that of a signature; nil for none.
func (n *interned) id(signature string) *int64 {
	if id, ok := n.ids[signature]; ok {
		return &id
	}
	return nil
}

// look finds the ids of what is stored.
func (n *interned) look(ctx context.Context, tx pgx.Tx) error {
	var texts []string
	for _, f := range slices.Concat(n.findings, n.others) {
		texts = append(texts, f.Signature)
	}
	type row struct {
		Text string
		ID   int64
	}
	rows, err := all[row](ctx, tx, `select text, id from signatures where project_id = $1 and text = any($2)`, n.project, texts)
	n.ids = make(map[string]int64, len(texts))
	for _, r := range rows {
		n.ids[r.Text] = r.ID
	}
	return err
}

// insert stores the signatures of findings.
func (n *interned) insert(ctx context.Context, tx pgx.Tx, findings []analysis.Finding) error {
	d, err := describe(findings)
	if err != nil {
		return err
	}
	// The id is drawn beforehand, since the root of a signature is at first itself.
	_, err = tx.Exec(ctx, `
		insert into signatures (id, project_id, text, root_id, kind, title, blame, frames, fine, leaf, outline, provisional, owner, known, "group", class)
		overriding system value
		select id, $1, text, id, kind, title, blame::jsonb, string_to_array(frames, $14), fine, leaf, outline, provisional, owner, known, grp, class from (
			select nextval(pg_get_serial_sequence('signatures', 'id')) as id, d.*
			from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bool[], $11::text[], $12::text[], $13::text[], $15::text[])
				as d (text, kind, title, blame, frames, fine, leaf, outline, provisional, owner, known, grp, class)) fresh
		order by text on conflict (project_id, text) do nothing`,
		n.project, d.text, d.kind, d.title, d.blame, d.frames, d.fine, d.leaf, d.outline, d.provisional, d.owner, d.known, d.group, frameEnd, d.class)
	return err
}

// frameEnd stands between frames on their way to the database: arrays of arrays would have to be of one length.
const frameEnd = "\n"

// descriptions are what findings say of their signatures, in columns.
type descriptions struct {
	text, kind, title          []string
	blame                      []*string
	frames                     []string // joined by frameEnd
	fine, leaf, outline        []string
	provisional                []bool
	owner, known, group, class []string
}

func describe(findings []analysis.Finding) (d descriptions, err error) {
	for i := range findings {
		f := &findings[i]
		var blame *string
		if f.Blame != nil {
			text, err := json.Marshal(f.Blame)
			if err != nil {
				return d, err
			}
			blame = new(string)
			*blame = string(text)
		}
		d.text, d.kind, d.title = append(d.text, f.Signature), append(d.kind, f.Kind), append(d.title, f.Title)
		d.blame, d.frames, d.provisional = append(d.blame, blame), append(d.frames, strings.Join(f.Frames, frameEnd)), append(d.provisional, f.Provisional)
		d.fine, d.leaf, d.outline = append(d.fine, f.Fine), append(d.leaf, f.Leaf), append(d.outline, f.Outline)
		d.owner, d.known, d.group, d.class = append(d.owner, f.Owner), append(d.known, f.Known), append(d.group, f.Group), append(d.class, string(f.Verdict))
	}
	return d, nil
}
