package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// internedFindings are a report's findings with the signatures that a project knows them by.
type internedFindings struct {
	project, build int64
	findings       []*analysis.Finding // each signature once, in the order of the signatures
	told           descriptions        // of the findings, then of signatures of sites that are in no finding
	ids            map[string]int64    // by text
	lines          map[string]int64    // of lines of source that are parts of findings, by text
}

// internSignatures stores the signatures of a report that the run's project does not have yet.
func (s *Store) internSignatures(ctx context.Context, run int64, r *analysis.Report) (*internedFindings, error) {
	named := &internedFindings{findings: findingsOf(r)}
	slices.SortStableFunc(named.findings,
		func(a, b *analysis.Finding) int { return cmp.Compare(a.Signature, b.Signature) })
	named.findings = slices.CompactFunc(named.findings,
		func(a, b *analysis.Finding) bool { return a.Signature == b.Signature })
	known := map[string]bool{"": true}
	for _, f := range named.findings {
		known[f.Signature] = true
	}
	all := slices.Clone(named.findings)
	for i := range r.Sites {
		if site := &r.Sites[i]; !known[site.Signature] {
			known[site.Signature] = true
			all = append(all, bareFinding(r, site))
		}
	}
	named.lines = map[string]int64{}
	for _, f := range named.findings {
		for _, j := range f.Joined {
			if !known[j.Signature] && j.Alone != nil {
				known[j.Signature], named.lines[j.Signature] = true, 0
				all = append(all, j.Alone)
			}
		}
	}
	var err error
	if named.told, err = describe(all); err != nil {
		return nil, err
	}
	err = db.Tx(ctx, s, "intern signatures", func(tx pgx.Tx) error {
		type place struct{ ProjectID, BuildID int64 }
		at, err := db.One[place](ctx, tx,
			`select b.project_id, b.id as build_id from runs r join builds b on b.id = r.build_id where r.id = $1 for key share of r`, run)
		if err != nil {
			return db.Wrap("run", err)
		}
		named.project, named.build = at.ProjectID, at.BuildID
		for try := 1; ; try++ {
			if err := named.look(ctx, tx); err != nil {
				return err
			}
			var missing []int
			for i, text := range named.told.text {
				if named.ids[text] == 0 {
					missing = append(missing, i)
				}
			}
			if len(missing) == 0 {
				return nil
			}
			if err := named.insert(ctx, tx, missing); !db.IsTaken(err) || try == internTries {
				return err
			}
		}
	})
	for text := range named.lines { // the run has no such finding
		named.lines[text] = named.ids[text]
		delete(named.ids, text)
	}
	return named, err
}

// lineID is the id of the signature of a line of source, of a finding or of a part of one.
func (n *internedFindings) lineID(text string) int64 {
	if id, ok := n.lines[text]; ok {
		return id
	}
	return n.ids[text]
}

// id is that of a signature; nil for none.
func (n *internedFindings) id(signature string) *int64 {
	if id, ok := n.ids[signature]; ok {
		return &id
	}
	return nil
}

// look finds the ids of what is stored.
func (n *internedFindings) look(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `select text, id from signatures where project_id = $1 and text = any($2)`, n.project,
		n.told.text)
	if err != nil {
		return err
	}
	n.ids = make(map[string]int64, len(n.told.text))
	var text string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&text, &id}, func() error {
		n.ids[text] = id
		return nil
	})
	return err
}

// insert stores signatures by the numbers of their descriptions. Rows are copied in the order of their texts, as intern
// does it.
func (n *internedFindings) insert(ctx context.Context, tx pgx.Tx, numbers []int) error {
	d := &n.told
	slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(d.text[a], d.text[b]) })
	ids, err := drawIDs(ctx, tx, "signatures", len(numbers))
	if err != nil {
		return err
	}
	columns := []string{"id", "project_id", "text", "root_id", "kind", "title", "blame", "frames", "fine", "leaf",
		"outline", "provisional", "owner", "known", "group", "class", "told"}
	err = copyRows(ctx, tx, "signatures", columns, len(numbers), func(row int) []any {
		i := numbers[row]
		frames := []string{}
		if d.frames[i] != "" {
			frames = strings.Split(d.frames[i], frameEnd)
		}
		// The root of a signature is at first itself.
		return []any{ids[row], n.project, d.text[i], ids[row], d.kind[i], d.title[i], d.blame[i], frames, d.fine[i],
			d.leaf[i], d.outline[i], d.provisional[i],
			d.owner[i], d.known[i], d.group[i], d.class[i], d.digest[i]}
	})
	if err != nil {
		return err
	}
	for row, i := range numbers {
		n.ids[d.text[i]] = ids[row]
	}
	return nil
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
	digest                     []pgtype.UUID // of all columns but text and kind, which do not change
}

func describe(findings []*analysis.Finding) (d descriptions, err error) {
	var room []byte
	for _, f := range findings {
		var blame *string
		if f.Blame != nil {
			text, err := json.Marshal(f.Blame)
			if err != nil {
				return d, err
			}
			blame = new(string(text))
		}
		d.text, d.kind, d.title = append(d.text, f.Signature), append(d.kind, f.Kind), append(d.title, f.Title)
		d.blame, d.frames, d.provisional = append(d.blame, blame), append(d.frames, strings.Join(f.Frames, frameEnd)),
			append(d.provisional, f.Provisional)
		d.fine, d.leaf, d.outline = append(d.fine, f.Fine), append(d.leaf, f.Leaf), append(d.outline, f.Outline)
		d.owner, d.known, d.group, d.class = append(d.owner, f.Owner), append(d.known, f.Known), append(d.group, f.Group),
			append(d.class, string(f.Verdict))
		room = d.appendLast(room[:0])
		sum := sha256.Sum256(room)
		d.digest = append(d.digest, pgtype.UUID{Bytes: digest(sum[:16]), Valid: true})
	}
	return d, nil
}

// appendLast appends what the digest of the last description is of.
func (d *descriptions) appendLast(b []byte) []byte {
	i := len(d.text) - 1
	add := func(text string) { b = append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...) }
	for _, column := range [][]string{d.title, d.frames, d.fine, d.leaf, d.outline, d.owner, d.known, d.group, d.class} {
		add(column[i])
	}
	if d.blame[i] != nil {
		add(*d.blame[i])
	}
	if d.provisional[i] {
		add("provisional")
	}
	return b
}

// pick returns the descriptions of these numbers.
func (d *descriptions) pick(numbers []int) (some descriptions) {
	for _, column := range []struct {
		from []string
		to   *[]string
	}{
		{d.text, &some.text}, {d.kind, &some.kind}, {d.title, &some.title}, {d.frames, &some.frames}, {d.fine, &some.fine},
		{d.leaf, &some.leaf}, {d.outline, &some.outline},
		{d.owner, &some.owner}, {d.known, &some.known}, {d.group, &some.group}, {d.class, &some.class},
	} {
		*column.to = pickOf(column.from, numbers)
	}
	some.blame, some.provisional, some.digest = pickOf(d.blame, numbers), pickOf(d.provisional, numbers),
		pickOf(d.digest, numbers)
	return some
}

func pickOf[T any](list []T, numbers []int) []T {
	some := make([]T, len(numbers))
	for i, n := range numbers {
		some[i] = list[n]
	}
	return some
}

// idsOf are the ids of signatures.
func (n *internedFindings) idsOf(texts []string) []int64 {
	ids := make([]int64, len(texts))
	for i, text := range texts {
		ids[i] = n.ids[text]
	}
	return ids
}
