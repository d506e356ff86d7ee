package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
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
func ValidSignatureOrder(o SignatureOrder) bool { return o == "" || signatureOrders[o] != nil }

// A SignatureQuery chooses a page of a project's leaks: the signatures that ever leaked or grew, unless it asks for a
// class. Runs add signatures and change their ranks: a page is named by the signature before it.
type SignatureQuery struct {
	Project  string
	State    leaks.State    // "" for all
	Owner    string         // by rule, or assignee; "" for all
	Scenario string         // in which it was seen; "" for all
	Module   string         // of the blamed frame, leaks.NoModule for none; "" for all
	Test     string         // in which a list of leaks at exit shows it; "" for all
	Text     string         // part of the title, blamed frame or signature, in upper or lower case; "" for all
	Class    string         // class in the newest build that shows it; "" for all that ever leaked or grew, leaks.AllClasses for every signature
	Order    SignatureOrder // "" for score
	Limit    int
	AfterID  int64 // id of a signature: only those after it; 0 for the first page
	Offset   int   // how many of those to skip
	Strip    int   // how many of the newest builds with results the heat strip has; 0 for no strip
}

// A SignaturePage is a page of signatures.
type SignaturePage struct {
	Rows       []SignatureRow
	RowsBefore int                 // how many are on the pages before
	Total      int                 // how many are on all pages
	Counts     map[leaks.State]int // how many in each state, without the State of the query
	Builds     []BuildRef          // of the heat strip, oldest first
	Owners     []string            // all owners and assignees of the project
}

// NextAfterID is the AfterID of the next page; 0 where there is none.
func (p *SignaturePage) NextAfterID() int64 {
	if n := len(p.Rows); n > 0 && p.RowsBefore+n < p.Total {
		return p.Rows[n-1].ID
	}
	return 0
}

// A SignatureRow is one signature as a table shows it.
type SignatureRow struct {
	Signature
	// Strip has, in the order of Builds, the gravest outcome over the scenarios asked for. Of its figure only Class and
	// Certain are known, so that among equal ones RunID is the newest; RunsShowing is not.
	Strip []leaks.Outcome
}

// A keyOrder is the order of signatures s: by columns, the largest first and none last, then by their ids.
type keyOrder struct {
	join    string // of what the columns are of beside s
	columns []string
}

var signatureOrders = map[SignatureOrder]*keyOrder{
	BySignatureScore:    {``, []string{`s.score`}},
	BySignatureGrowth:   {``, []string{`s.growth_bytes`}},
	BySignatureLastSeen: placeOf("last_bad_id"),
	BySignatureFirstBad: placeOf("first_bad_id"),
}

// placeOf sorts signatures by a build of theirs, the newest first, and then by growth.
func placeOf(column string) *keyOrder {
	return &keyOrder{` left join builds at on at.id = s.` + column, []string{`at.place`, `s.growth_bytes`}}
}

// by sorts.
func (o *keyOrder) by() string {
	return strings.Join(o.columns, ` desc nulls last, `) + ` desc nulls last, s.id`
}

// mark is the row, of that name, of the signature that a page stands behind.
func (o *keyOrder) mark() string {
	list := `s.id`
	for i, c := range o.columns {
		list += fmt.Sprintf(`, %s as key%d`, c, i)
	}
	return `(select ` + list + ` from signatures s` + o.join + ` where s.id = @after and s.project_id = @project) mark`
}

// behind holds for a signature s that stands behind mark.
func (o *keyOrder) behind() string {
	condition := `s.id > mark.id`
	for i := len(o.columns) - 1; i >= 0; i-- {
		key := fmt.Sprintf(`mark.key%d`, i)
		condition = fmt.Sprintf(`(%[2]s is not null and (%[1]s is null or %[1]s < %[2]s) or %[1]s is not distinct from %[2]s and %[3]s)`, o.columns[i], key, condition)
	}
	return condition
}

// ListSignatures returns a page of a project's signatures. It returns ErrNotFound for no project, and a
// *leaks.FieldError for an After that is none of its signatures.
func (v View) ListSignatures(ctx context.Context, q SignatureQuery) (*SignaturePage, error) {
	if q.Order == "" {
		q.Order = BySignatureScore
	}
	order := signatureOrders[q.Order]
	if order == nil {
		return nil, fmt.Errorf("store: signatures cannot be sorted by %q", q.Order)
	}
	project, err := projectID(ctx, db.Q(v), q.Project)
	if err != nil {
		return nil, err
	}
	page := &SignaturePage{Counts: map[leaks.State]int{}}
	where, args := q.where(project)
	if err := countSignatures(ctx, db.Q(v), page, q.State, where, args); err != nil {
		return nil, db.Wrap("count signatures", err)
	}
	if err := readSignatures(ctx, db.Q(v), page, &q, order, where, args); err != nil {
		return nil, db.Wrap("signatures", err)
	}
	if page.Owners, err = ownersOf(ctx, db.Q(v), project); err != nil {
		return nil, db.Wrap("owners", err)
	}
	if q.Strip > 0 {
		err = fillStrips(ctx, db.Q(v), page, project, &q)
	}
	return page, db.Wrap("strips of signatures", err)
}

// readSignatures reads the rows of a page.
func readSignatures(ctx context.Context, q db.Querier, page *SignaturePage, query *SignatureQuery, order *keyOrder,
	where string, args pgx.NamedArgs) error {
	args["state"], args["limit"], args["offset"], args["after"] = query.State, query.Limit, query.Offset, query.AfterID
	where += ` and (@state = '' or @state = ` + shownState + `)`
	from := ` from signatures s` + order.join + ` where `
	if query.AfterID != 0 {
		if err := checkAfter(ctx, q, query.AfterID, args); err != nil {
			return err
		}
		from = ` from signatures s` + order.join + ` cross join ` + order.mark() + ` where ` + order.behind() + ` and `
		left, err := db.Value[int](ctx, q, `select count(*)`+from+where, args)
		if err != nil {
			return err
		}
		page.RowsBefore = page.Total - left
	}
	page.RowsBefore += query.Offset
	rows, err := db.All[signatureRow](ctx, q, `select `+signatureColumns+from+where+` order by `+order.by()+
		` limit @limit offset @offset`, args)
	page.Rows = make([]SignatureRow, len(rows))
	if err != nil {
		return err
	}
	list := make([]*Signature, len(rows))
	for i := range rows {
		page.Rows[i].Signature = rows[i].signature()
		list[i] = &page.Rows[i].Signature
	}
	return complete(ctx, q, list)
}

// checkAfter refuses a page behind a signature that the project does not have.
func checkAfter(ctx context.Context, q db.Querier, after int64, args pgx.NamedArgs) error {
	there, err := db.Value[bool](ctx, q,
		`select exists (select from signatures where id = @after and project_id = @project)`, args)
	if err == nil && !there {
		return &leaks.FieldError{Field: "after",
			Message: fmt.Sprintf("the project has no signature %d; begin with the first page", after)}
	}
	return err
}

// where is the condition of a query, but for the state.
func (q SignatureQuery) where(project int64) (string, pgx.NamedArgs) {
	conditions, args := []string{`s.project_id = @project and s.alias_of is null`}, pgx.NamedArgs{"project": project}
	switch q.Class {
	case "":
		conditions = append(conditions, `s.bad`)
	case leaks.AllClasses:
	default:
		conditions, args["class"] = append(conditions, `s.class = @class`), q.Class
	}
	if q.Owner != "" {
		conditions, args["owner"] = append(conditions, `@owner in (s.owner, s.assignee)`), q.Owner
	}
	if q.Scenario != "" {
		// Only of signatures that ever leaked or grew is it noted where they were seen.
		conditions, args["scenario"] = append(conditions,
			`s.scenarios && (select coalesce(array_agg(sc.id), '{}') from scenarios sc where sc.project_id = @project and sc.name = @scenario)`), q.Scenario
	}
	if q.Test != "" {
		args["test"] = q.Test
		conditions = append(conditions, `exists (
			select from signatures own join findings f on f.signature_id = own.id where own.root_id = s.id and f.listed->'tests' ? @test)`)
	}
	if q.Module != "" {
		args["module"] = q.Module
		if q.Module == leaks.NoModule {
			args["module"] = ""
		}
		conditions = append(conditions, `coalesce(s.blame->>'module', '') = @module`)
	}
	if q.Text != "" {
		args["like"], args["text"] = likeText(q.Text), q.Text
		conditions = append(conditions, `(lower(s.title) like @like or lower(s.blame->>'function') like @like or lower(s.blame->>'module') like @like
			or lower(s.blame->>'file') like @like or s.id in (select own.root_id from signatures own where own.project_id = @project and own.text = @text))`)
	}
	return strings.Join(conditions, " and "), args
}

// countSignatures counts a query by state. Those of no state are only in the total.
func countSignatures(ctx context.Context, q db.Querier, page *SignaturePage, state leaks.State, where string,
	args pgx.NamedArgs) error {
	type row struct {
		State leaks.State
		N     int
	}
	rows, err := db.All[row](ctx, q, `select `+shownState+` as state, count(*) as n from signatures s where `+
		where+` group by 1`, args)
	for _, r := range rows {
		if r.State != leaks.StateNone {
			page.Counts[r.State] = r.N
		}
		if state == "" || state == r.State {
			page.Total += r.N
		}
	}
	return err
}

// ListOwners lists the owners and assignees of all leaks of a project, or returns ErrNotFound.
func (v View) ListOwners(ctx context.Context, project string) ([]string, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	list, err := ownersOf(ctx, db.Q(v), id)
	return list, db.Wrap("owners", err)
}

func ownersOf(ctx context.Context, q db.Querier, project int64) ([]string, error) {
	return db.Values[string](ctx, q, `
		select owner from signatures where project_id = $1 and bad and alias_of is null and owner <> ''
		union select assignee from signatures where project_id = $1 and bad and alias_of is null and assignee <> '' order by 1`, project)
}

// fillStrips reads what the newest builds with results say of a page's signatures. What no run shows is not exercised
// where the build was run.
func fillStrips(ctx context.Context, q db.Querier, page *SignaturePage, project int64,
	query *SignatureQuery) (err error) {
	if page.Builds, err = buildsWithResults(ctx, q, project, query.Strip); err != nil {
		return err
	}
	names, places := make([]string, len(page.Builds)), map[string]int{}
	for i, b := range page.Builds {
		names[i], places[b.Name] = b.Name, i
	}
	runs, err := runsByBuild(ctx, q, project, names, query.Scenario)
	if err != nil {
		return err
	}
	rows, roots := map[int64]*SignatureRow{}, make([]int64, len(page.Rows))
	for i := range page.Rows {
		r := &page.Rows[i]
		roots[i], rows[r.ID] = r.ID, r
		for _, name := range names {
			r.Strip = append(r.Strip, leaks.Outcome{Build: name, Scenario: query.Scenario, Runs: runs[name]})
		}
	}
	if err := readStrips(ctx, q, project, query.Scenario, roots, names, func(root int64, build, scenario string,
		f *leaks.SignatureFinding) {
		if cell := &rows[root].Strip[places[build]]; cell.Take(f) {
			cell.Scenario = scenario
		}
	}); err != nil {
		return err
	}
	absent, err := absencesOf(ctx, q, roots, names)
	for i := range absent {
		place, listed := places[absent[i].Build]
		if listed && (query.Scenario == "" || query.Scenario == absent[i].Scenario) {
			rows[absent[i].SignatureID].Strip[place].Absent = absent[i].caller()
		}
	}
	return err
}

// readStrips tells what runs of builds show of leaks: of the findings of one class, the newest. Like sightingsOf it
// reads nothing of findings but an index.
func readStrips(ctx context.Context, q db.Querier, project int64, scenario string, roots []int64, builds []string,
	tell func(root int64, build, scenario string, f *leaks.SignatureFinding)) error {
	rows, err := q.Query(ctx, `
		with asked as materialized (
			select r.id, r.status, b.name as build, sc.name as scenario
			from builds b join runs r on r.build_id = b.id join scenarios sc on sc.id = r.scenario_id
			where b.project_id = $1 and b.name = any($2) and ($3 = '' or sc.name = $3))
		select own.root_id, asked.build, asked.scenario, asked.status, f.class, f.certain, max(f.run_id)
		from signatures own join signatures root on root.id = own.root_id join findings f on f.signature_id = own.id join asked on asked.id = f.run_id + 0
		where own.root_id = any($4) and not (root.only_at_exit and f.tools is null and not f.class`+suspect+`) group by 1, 2, 3, 4, 5, 6`,
		project, builds, scenario, roots)
	if err != nil {
		return err
	}
	var root int64
	var build, ran string
	var f leaks.SignatureFinding
	_, err = pgx.ForEachRow(rows, []any{&root, &build, &ran, &f.Status, &f.Class, &f.Certain, &f.RunID}, func() error {
		one := f
		tell(root, build, ran, &one)
		return nil
	})
	return err
}

// runsByBuild counts the runs with a result of each build.
func runsByBuild(ctx context.Context, q db.Querier, project int64, builds []string,
	scenario string) (map[string]int, error) {
	type row struct {
		Build string
		N     int
	}
	rows, err := db.All[row](ctx, q, `
		select b.name as build, count(*) as n from runs r join builds b on b.id = r.build_id join scenarios sc on sc.id = r.scenario_id
		where b.project_id = $1 and b.name = any($2) and r.analysed_at is not null and ($3 = '' or sc.name = $3) group by 1`, project, builds, scenario)
	runs := map[string]int{}
	for _, r := range rows {
		runs[r.Build] = r.N
	}
	return runs, err
}
