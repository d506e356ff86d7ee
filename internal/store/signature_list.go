package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A SignatureOrder is a column that signatures can be sorted by.
type SignatureOrder string

// The orders; all put the most interesting first.
const (
	BySignatureScore    SignatureOrder = "score"
	BySignatureGrowth   SignatureOrder = "growth"
	BySignatureLastSeen SignatureOrder = "last-seen" // newest build in which it was bad first
	BySignatureFirstBad SignatureOrder = "first-bad" // newest first bad build first
)

// ValidSignatureOrder reports whether signatures can be sorted by o.
func ValidSignatureOrder(o SignatureOrder) bool { return o == "" || signatureOrders[o] != "" }

// A SignatureQuery chooses a page of a project's signatures: those that ever leaked or grew, unless it asks for a class.
type SignatureQuery struct {
	Project  string
	State    State          // "" for all
	Owner    string         // by rule, or assignee; "" for all
	Scenario string         // in which it was seen; "" for all
	Text     string         // in title, blame frame or signature, in any case; "" for all
	Class    string         // of the newest build that shows it; "" for all that ever leaked or grew, "all" for really all
	Order    SignatureOrder // "" for score
	Limit    int
	Offset   int
	Strip    int // how many builds, the newest ones with results, the heat strip has; 0 for none
}

// A SignaturePage is a page of signatures.
type SignaturePage struct {
	Rows   []SignatureRow
	Total  int
	Counts map[State]int // by state, of the query without its State
	Builds []BuildRef    // of the heat strip, oldest first
	Owners []string      // all owners and assignees of the project
}

// A SignatureRow is one signature as a table shows it.
type SignatureRow struct {
	Signature
	Strip []Outcome // by Builds, over the scenarios asked for: the gravest
}

// signatureOrders end in the id, so pages never overlap.
var signatureOrders = map[SignatureOrder]string{
	BySignatureScore:    `s.score desc nulls last, s.id`,
	BySignatureGrowth:   `s.growth_bytes desc nulls last, s.id`,
	BySignatureLastSeen: newestFirst("last_bad_id"),
	BySignatureFirstBad: newestFirst("first_bad_id"),
}

// newestFirst sorts signatures by a build of theirs, as BuildsOf does, and then by growth.
func newestFirst(column string) string {
	place := func(what string) string { return `(select b.` + what + ` from builds b where b.id = s.` + column + `)` }
	return place("sequence") + ` desc nulls last, ` + place("id") + ` desc nulls last, s.growth_bytes desc nulls last, s.id`
}

// Signatures returns a page of a project's signatures, or ErrNotFound.
func (s *Store) Signatures(ctx context.Context, q SignatureQuery) (*SignaturePage, error) {
	order := signatureOrders[q.Order]
	if q.Order == "" {
		order = signatureOrders[BySignatureScore]
	}
	if order == "" {
		return nil, fmt.Errorf("store: signatures cannot be sorted by %q", q.Order)
	}
	page := &SignaturePage{Counts: map[State]int{}}
	err := s.tx(ctx, "signatures", func(tx pgx.Tx) error {
		// One look at the rows for all queries: the counts are to fit the page.
		if _, err := tx.Exec(ctx, `set transaction isolation level repeatable read, read only`); err != nil {
			return err
		}
		id, err := projectID(ctx, tx, q.Project)
		if err != nil {
			return err
		}
		where, args := q.where(id)
		if err := countSignatures(ctx, tx, page, q.State, where, args); err != nil {
			return err
		}
		args["state"], args["limit"], args["offset"] = q.State, q.Limit, q.Offset
		rows, _ := tx.Query(ctx, `select `+signatureColumns+` from signatures s where `+where+` and (@state = '' or @state = `+effectiveState+`)
			order by `+order+` limit @limit offset @offset`, args)
		page.Rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r SignatureRow, err error) {
			r.Signature, err = scanSignature(row)
			return r, err
		})
		if err != nil {
			return err
		}
		if page.Owners, err = ownersOf(ctx, tx, id); err != nil {
			return err
		}
		if q.Strip <= 0 {
			return nil
		}
		if page.Builds, err = buildsWithResults(ctx, tx, id, q.Strip); err != nil {
			return err
		}
		return fillStrips(ctx, tx, page, id, q.Scenario)
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// where is the condition of a query, but for the state.
func (q SignatureQuery) where(project int64) (string, pgx.NamedArgs) {
	conditions, args := []string{`s.project_id = @project and s.alias_of is null`}, pgx.NamedArgs{"project": project}
	switch q.Class {
	case "":
		conditions = append(conditions, `s.bad`)
	case "all":
	default:
		conditions, args["class"] = append(conditions, `s.class = @class`), q.Class
	}
	if q.Owner != "" {
		conditions, args["owner"] = append(conditions, `@owner in (s.owner, s.assignee)`), q.Owner
	}
	if q.Scenario != "" {
		// Only of signatures that ever leaked or grew is it noted where they were seen.
		conditions, args["scenario"] = append(conditions, `s.scenarios && (select coalesce(array_agg(sc.id), '{}') from scenarios sc where sc.project_id = @project and sc.name = @scenario)`), q.Scenario
	}
	if q.Text != "" {
		args["like"], args["text"] = likeText(q.Text), q.Text
		conditions = append(conditions, `(lower(s.title) like @like or lower(s.blame->>'function') like @like or lower(s.blame->>'module') like @like
			or lower(s.blame->>'file') like @like or s.id in (select own.root_id from signatures own where own.project_id = @project and own.text = @text))`)
	}
	return strings.Join(conditions, " and "), args
}

// countSignatures counts a query by state. Those of no state are only in the total.
func countSignatures(ctx context.Context, tx pgx.Tx, page *SignaturePage, state State, where string, args pgx.NamedArgs) error {
	rows, err := tx.Query(ctx, `select `+effectiveState+`, count(*) from signatures s where `+where+` group by 1`, args)
	if err != nil {
		return err
	}
	var of State
	var n int
	_, err = pgx.ForEachRow(rows, []any{&of, &n}, func() error {
		if of != StateNone {
			page.Counts[of] = n
		}
		if state == "" || state == of {
			page.Total += n
		}
		return nil
	})
	return err
}

func ownersOf(ctx context.Context, tx pgx.Tx, project int64) ([]string, error) {
	rows, _ := tx.Query(ctx, `
		select owner from signatures where project_id = $1 and bad and alias_of is null and owner <> ''
		union select assignee from signatures where project_id = $1 and bad and alias_of is null and assignee <> '' order by 1`, project)
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// fillStrips reads what the builds of a page say of its signatures. What no run shows is not exercised where the build was run.
func fillStrips(ctx context.Context, tx pgx.Tx, page *SignaturePage, project int64, scenario string) error {
	at, names := map[int64]int{}, map[string]int{}
	roots, builds := make([]int64, len(page.Rows)), make([]string, len(page.Builds))
	for i, b := range page.Builds {
		builds[i], names[b.Name] = b.Name, i
	}
	for i := range page.Rows {
		roots[i], at[page.Rows[i].ID] = page.Rows[i].ID, i
		page.Rows[i].Strip = make([]Outcome, len(page.Builds))
		for k, b := range page.Builds {
			page.Rows[i].Strip[k] = Outcome{Build: b.Name, Scenario: scenario}
		}
	}
	rows, err := tx.Query(ctx, `
		with ran as (
			select r.id, b.name as build, sc.name as scenario, r.status from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
			where b.project_id = $1 and b.name = any($2) and r.analysed_at is not null and ($3 = '' or sc.name = $3))
		select distinct on (own.root_id, ran.build) own.root_id, ran.build, ran.scenario, ran.id,
			bool_or(ran.status <> 'inconclusive' and f.class not in ('leak', 'growing', 'unknown')) over by_build and f.class not in ('leak', 'growing'),
			count(*) over by_build, `+figureColumns+`
		from signatures own join findings f on f.signature_id = own.id join ran on ran.id = f.run_id
		where own.root_id = any($4)
		window by_build as (partition by own.root_id, ran.build)
		order by own.root_id, ran.build, `+gravestFirst+`, ran.id desc`, project, builds, scenario, roots)
	if err != nil {
		return err
	}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		o := Outcome{Exercised: true}
		var root int64
		figures, made := figureFields(&o.Figures)
		err := row.Scan(append([]any{&root, &o.Build, &o.Scenario, &o.Run, &o.Clean, &o.Seen}, figures...)...)
		made()
		if err == nil {
			page.Rows[at[root]].Strip[names[o.Build]] = o
		}
		return struct{}{}, err
	})
	if err != nil {
		return err
	}
	return countRuns(ctx, tx, page, project, scenario)
}

// countRuns notes how many runs each cell of the strips stands for.
func countRuns(ctx context.Context, tx pgx.Tx, page *SignaturePage, project int64, scenario string) error {
	rows, err := tx.Query(ctx, `
		select b.name, count(*) from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		where b.project_id = $1 and r.analysed_at is not null and ($2 = '' or sc.name = $2) group by 1`, project, scenario)
	if err != nil {
		return err
	}
	runs := map[string]int{}
	var name string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		runs[name] = n
		return nil
	})
	for i := range page.Rows {
		for k := range page.Rows[i].Strip {
			page.Rows[i].Strip[k].Runs = runs[page.Rows[i].Strip[k].Build]
		}
	}
	return err
}
