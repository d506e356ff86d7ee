package store

import (
	"context"
	"fmt"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A Finding is a signature in a run, with the state that it has in the project.
type Finding struct {
	FindingIdentity
	leaks.Figure
	leaks.Triage
	FindingBuilds
}

// FindingBuilds are the builds of the project in which a finding's leak was bad and fixed; "" is none.
type FindingBuilds struct{ FirstBad, LastBad, FixedIn string }

// StandingIn is how the leak stands in the run of a build that the finding is of.
func (f *Finding) StandingIn(build string) leaks.Standing {
	return f.State.StandingInRun(leaks.BuildView{Build: build, FirstBad: f.FirstBad, LastBad: f.LastBad,
		FixedIn: f.FixedIn},
		f.Class)
}

// A FindingIdentity names a finding and says how it was judged.
type FindingIdentity struct {
	RunID       int64
	Signature   string // that of the leak in the project: where the run's own became part of another, the other
	Own         string // the signature in the run's report
	Kind        string // of memory: "heap" or "virtual"
	Title       string
	Blame       *analysis.Blame       // the blamed frame; nil without a stack
	Provisional bool                  // a frame has no name: symbols will give another signature
	Sites       int                   // how many
	Clauses     []score.Clause        // why: one line of evidence each
	ByKind      []analysis.KindResult `db:"witnesses"` // what each kind of evidence says by itself
	// Alone is the rating by the run itself, and Pooled the rating together with other runs of the scenario; both are
	// nil where the run is judged by itself.
	Alone  *leaks.Rating
	Pooled *leaks.PooledRating
}

// ByItself is the rating of the finding by its run, without other runs of the scenario.
func (f *Finding) ByItself() leaks.Rating {
	if f.Alone != nil {
		return *f.Alone
	}
	return leaks.Rating{Class: f.Class, Score: f.Score, Certain: f.Certain}
}

// A FindingQuery chooses findings of a run.
type FindingQuery struct {
	RunID int64
	All   bool // also those that neither leak nor grow
	// OwnSignatures restricts the query to these signatures, as the run's report has them; nil for all.
	OwnSignatures []string
	Limit         int
	Offset        int
}

// A finding of a signature that became part of another in the same run counts by itself: their figures cannot be
// joined.
var findingQuery = `
	select f.run_id, s.text as signature, own.text as own, own.kind, own.title, own.blame, own.provisional, f.sites, f.clauses, f.witnesses, f.own as alone, f.pooled,
		` + figureColumns("f") + `, ` + triageColumns + `, ` + buildName("first_bad") + `, ` + buildName("last_bad") + `, ` + buildName("fixed_in") + `
	from findings f join signatures own on own.id = f.signature_id join signatures s on s.id = own.root_id`

// findingRow is findingQuery.
type findingRow struct {
	FindingIdentity
	figureRow
	triageRow
	FindingBuilds
}

// finding completes the clauses by what other runs say: that decides, so it stands first.
func (r *findingRow) finding() Finding {
	f := Finding{r.FindingIdentity, r.figure(), r.triage(), r.FindingBuilds}
	if f.Pooled != nil && f.Alone != nil {
		f.Clauses = append(f.Pooled.Clauses(*f.Alone), f.Clauses...)
	}
	return f
}

// ListFindings returns a page of a run's findings, the gravest first, and how many the query has in all. A run's
// findings change only with its result, so that pages stay stable.
func (v View) ListFindings(ctx context.Context, q FindingQuery) (page []Finding, total int, err error) {
	where := `f.run_id = $1`
	if !q.All {
		where += ` and f.class` + suspect
	}
	args := []any{q.RunID}
	if q.OwnSignatures != nil {
		where += ` and f.signature_id in (select s.id from signatures s where s.text = any($2) and s.project_id = (select b.project_id from runs r join builds b on b.id = r.build_id where r.id = $1))`
		args = append(args, q.OwnSignatures)
	}
	if total, err = db.Value[int](ctx, db.Q(v), `select count(*) from findings f where `+where, args...); err != nil {
		return nil, 0, db.Wrap("count findings", err)
	}
	limit, offset := fmt.Sprintf("$%d", len(args)+1), fmt.Sprintf("$%d", len(args)+2)
	// The page is chosen before anything is joined to it: a run may have many thousands.
	rows, err := db.All[findingRow](ctx, db.Q(v), findingQuery+`
		where f.run_id = $1 and f.signature_id in (select f.signature_id from findings f where `+where+` order by f.ordinal limit `+limit+` offset `+offset+`)
		order by f.ordinal`, append(args, q.Limit, q.Offset)...)
	page = make([]Finding, len(rows))
	for i := range rows {
		page[i] = rows[i].finding()
	}
	return page, total, db.Wrap("findings", err)
}
