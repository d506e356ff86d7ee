package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// A Finding is a signature in a run, with the state that it has in the project.
type Finding struct {
	Run         int64
	Signature   string // that of the project: where the run's own became part of another, the other
	Own         string // as the run's report has it
	Kind        string
	Title       string
	Blame       *analysis.Blame
	Provisional bool
	Sites       int
	Figures
	Clauses   []score.Clause
	Witnesses []analysis.Witness
	Triage
}

// A FindingQuery chooses findings of a run.
type FindingQuery struct {
	Run    int64
	All    bool // also those that neither leak nor grow
	Limit  int
	Offset int
}

// gravestFirst sorts findings f.
const gravestFirst = `array_position(` + classes + `, f.class) desc, f.certain desc, f.score desc nulls last, f.growth_bytes desc nulls last, f.outstanding_bytes desc, f.signature_id`

// A finding of a signature that became part of another in the same run counts by itself: their figures cannot be joined.
var findingQuery = `
	select f.run_id, s.text, own.text, own.kind, own.title, own.blame, own.provisional, f.sites, f.clauses, f.witnesses, ` + figureColumns + `, ` + triageColumns + `
	from findings f join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id`

func scanFinding(row pgx.CollectableRow) (f Finding, err error) {
	figures, figured := figureFields(&f.Figures)
	triage, triaged := triageFields(&f.Triage)
	fields := []any{&f.Run, &f.Signature, &f.Own, &f.Kind, &f.Title, &f.Blame, &f.Provisional, &f.Sites, &f.Clauses, &f.Witnesses}
	err = row.Scan(slices.Concat(fields, figures, triage)...)
	figured()
	triaged()
	return f, err
}

// Findings returns a page of a run's findings, the gravest first, and how many the query has in all.
func (s *Store) Findings(ctx context.Context, q FindingQuery) (page []Finding, total int, err error) {
	where := `f.run_id = $1`
	if !q.All {
		where += ` and f.class in ('leak', 'growing')`
	}
	if err := s.pool.QueryRow(ctx, `select count(*) from findings f where `+where, q.Run).Scan(&total); err != nil {
		return nil, 0, wrap("count findings", err)
	}
	// The page is chosen before anything is joined to it: a run may have many thousands.
	rows, _ := s.pool.Query(ctx, findingQuery+`
		where f.run_id = $1 and f.signature_id in (select f.signature_id from findings f where `+where+` order by f.ordinal limit $2 offset $3)
		order by f.ordinal`, q.Run, q.Limit, q.Offset)
	page, err = pgx.CollectRows(rows, scanFinding)
	return page, total, wrap("findings", err)
}
