package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// A Signature is a leak's identity in a project, with what the runs and the team say of it.
type Signature struct {
	ID      int64
	Text    string // as reports and addresses have it
	Kind    string
	Title   string
	Blame   *analysis.Blame // nil without a stack
	Frames  []string        // what the signature is made of, the one to blame first
	Fine    string          // finer signature
	Leaf    string          // coarser signature
	Outline string          // signature that evidence without inlined calls gives; "" where it is no other
	Group   string          // by the project's rules
	Created time.Time
	// Provisional says that a frame has no name: symbols will give another signature.
	Provisional bool
	Triage
	Spread
	Latest Figures // of the newest build that has it
}

// A Spread says where a signature was seen. Builds are named; "" is none.
type Spread struct {
	Class       string // the gravest that any run gave it
	FirstBad    string // the first build in which it leaked or grew
	LastClean   string // the last build before FirstBad that exercised it, in the same scenario, and where it did not; "" for none
	LastBad     string // the newest build in which it leaked or grew
	LastSeen    string // the newest build that shows it, leaking or not
	FixedIn     string // of the states fixed and regressed: the build it was fixed in
	RegressedIn string // of the state regressed: the first build after that in which it leaked
}

// Figures are what one finding, or the gravest of several, says.
type Figures struct {
	Class       string
	Score       *float64
	Certain     bool
	Outstanding analysis.Amount
	Growth      *analysis.Amount // nil where there is nothing to compare with
	Rate        *score.Rate      // nil where it does not grow
}

// untilOver says that the time for which the team tolerates a signature s is over.
const untilOver = `(s.until_over or s.until is not null and s.until <= now())`

// effectiveState is the state of a signature s: what follows from the runs, but for what is known now.
const effectiveState = `case
	when s.state = '' then ''
	when s.not_leak or s.known <> '' or s.mark = 'known' and not ` + untilOver + ` then 'known'
	when s.mark = 'known' and s.state = 'new' then 'ongoing'
	else s.state end`

// triageColumns are what the team says of a signature s.
const triageColumns = effectiveState + `, s.version, s.mark, s.marked_by, s.reason, s.until, s.until_build,
	` + untilOver + `, s.known, s.assignee, s.ticket, s.not_leak, s.owner, s.fixed_by_runs,
	(select coalesce(sum(part.comments), 0) from signatures part where part.root_id = s.id)`

// triageFields are where a row of triageColumns goes; made is called after the scan.
func triageFields(t *Triage) (fields []any, made func()) {
	var mark, markedBy, known string
	var byRuns bool
	k := &Known{}
	fields = []any{&t.State, &t.Version, &mark, &markedBy, &k.Reason, &k.Until, &k.UntilBuild, &k.Expired, &known, &t.Assignee, &t.Ticket, &t.NotLeak, &t.Owner, &byRuns, &t.Comments}
	return fields, func() {
		switch {
		case mark == "known" && (known == "" || !k.Expired): // else the rules are why it is known
			t.Known = k
		case known != "":
			t.Known = &Known{Reason: known, Rule: true}
		}
		if mark == "fixed" && !byRuns {
			t.FixedBy = markedBy
		}
	}
}

// figureColumns are those of a finding or a signature f.
const figureColumns = `f.class, f.score, f.certain, f.outstanding_count, f.outstanding_bytes, f.growth_count, f.growth_bytes, f.rate`

func figureFields(f *Figures) (fields []any, made func()) {
	var growth [2]*int64
	fields = []any{&f.Class, &f.Score, &f.Certain, &f.Outstanding.Count, &f.Outstanding.Bytes, &growth[0], &growth[1], &f.Rate}
	return fields, func() {
		if growth[0] != nil && growth[1] != nil {
			f.Growth = &analysis.Amount{Count: *growth[0], Bytes: *growth[1]}
		}
	}
}

// buildName names the build whose id is in a column of signature s.
func buildName(column string) string {
	return `coalesce((select b.name from builds b where b.id = s.` + column + `), '')`
}

var signatureColumns = `s.id, s.text, s.kind, s.title, s.blame, s.frames, s.fine, s.leaf, s.outline, s."group", s.created_at, s.provisional, s.worst, ` +
	buildName("first_bad_id") + `, ` + buildName("last_clean_id") + `, ` + buildName("last_bad_id") + `, ` + buildName("last_seen_id") + `, ` +
	buildName("fixed_in_id") + `, ` + buildName("regressed_id") + `, ` + triageColumns + `, ` + strings.ReplaceAll(figureColumns, "f.", "s.")

func scanSignature(row pgx.CollectableRow) (s Signature, err error) {
	triage, triaged := triageFields(&s.Triage)
	figures, figured := figureFields(&s.Latest)
	fields := []any{&s.ID, &s.Text, &s.Kind, &s.Title, &s.Blame, &s.Frames, &s.Fine, &s.Leaf, &s.Outline, &s.Group, &s.Created, &s.Provisional, &s.Class,
		&s.FirstBad, &s.LastClean, &s.LastBad, &s.LastSeen, &s.FixedIn, &s.RegressedIn}
	err = row.Scan(slices.Concat(fields, triage, figures)...)
	triaged()
	figured()
	return s, err
}

// SignatureByText returns a project's signature, or ErrNotFound. The text of one that became part of another finds that one.
func (s *Store) SignatureByText(ctx context.Context, project, text string) (Signature, error) {
	rows, _ := s.pool.Query(ctx, `
		select `+signatureColumns+` from signatures asked join projects p on p.id = asked.project_id join signatures s on s.id = asked.root_id
		where p.name = $1 and asked.text = $2`, project, text)
	found, err := pgx.CollectExactlyOneRow(rows, scanSignature)
	return found, wrap("signature", err)
}

// rootOf returns the ids of a project and of its signature of the text, or of that which it became part of.
func rootOf(ctx context.Context, q querier, project, text string) (projectID, own, root int64, err error) {
	rows, _ := q.Query(ctx, `
		select p.id, s.id, s.root_id from signatures s join projects p on p.id = s.project_id where p.name = $1 and s.text = $2`, project, text)
	_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
		return struct{}{}, row.Scan(&projectID, &own, &root)
	})
	return projectID, own, root, wrap("signature", err)
}

// lockedRoot returns the ids of a project and of its signature of the text, or of that which it became part of, and holds
// the lock of the project's signatures.
func lockedRoot(ctx context.Context, tx pgx.Tx, project, text string) (projectID, root int64, err error) {
	projectID, _, _, err = rootOf(ctx, tx, project, text)
	if err != nil {
		return 0, 0, err
	}
	if err := lockSignatures(ctx, tx, projectID); err != nil {
		return 0, 0, err
	}
	_, _, root, err = rootOf(ctx, tx, project, text) // it may have become part of another meanwhile
	return projectID, root, err
}
