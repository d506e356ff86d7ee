package api

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
	"heapdrift/web/problem"
)

// comparisonView is how leaks changed from one side to the other.
type comparisonView struct {
	Project      string          `json:"project"`
	Scenario     string          `json:"scenario"`
	Base         buildResultView `json:"base"`
	Head         buildResultView `json:"head"`
	Baseline     string          `json:"baseline"` // how the base was found; "" where the request names it
	Sentence     string          `json:"sentence"`
	New          []rowView       `json:"new"`
	Grown        []rowView       `json:"grown"`
	Shrunk       []rowView       `json:"shrunk"`
	Fixed        []rowView       `json:"fixed"`
	Clean        []rowView       `json:"clean"` // as Fixed, but not fixed by their state
	Persisting   []rowView       `json:"persisting"`
	NotExercised []rowView       `json:"not_exercised"`
	Renames      []renameView    `json:"renames"`
	URL          string          `json:"url"`
}

type buildResultView struct {
	Build    string                   `json:"build"`
	Sequence *int64                   `json:"sequence"`
	Runs     []int64                  `json:"runs"`
	Statuses []analysis.VerdictStatus `json:"statuses"` // by run
	Pending  int                      `json:"pending_runs"`
	Trace    bool                     `json:"trace"`
	Lossy    bool                     `json:"lossy"`
	Power    *analysis.Power          `json:"power"`
}

// rowView is a signature with what each side says of it.
type rowView struct {
	Signature string       `json:"signature"`
	Kind      string       `json:"kind"`
	Title     string       `json:"title"`
	URL       string       `json:"url"`
	Why       string       `json:"why"` // by what the change was decided
	State     string       `json:"state"`
	Owner     string       `json:"owner"`
	Known     string       `json:"known"`
	Base      *sidedFigure `json:"base"`
	Head      *sidedFigure `json:"head"`
}

// sidedFigure is a finding on one side.
type sidedFigure struct {
	Class       string           `json:"class"`
	Score       *float64         `json:"score"`
	Certain     bool             `json:"certain"`
	Outstanding analysis.Amount  `json:"outstanding"`
	Growth      *analysis.Amount `json:"growth"`
	RateUnit    string           `json:"rate_unit"` // "" where there is no rate
	RateBytes   float64          `json:"rate_bytes"`
	RateCount   float64          `json:"rate_count"`
}

type renameView struct {
	Base     string  `json:"base"`
	Head     string  `json:"head"`
	Likeness float64 `json:"likeness"`
	Why      string  `json:"why"`
}

// compareShow handles GET /api/v1/compare: two builds, or two runs, or one and its baseline.
func (a *API) compareShow(c echo.Context) error {
	q, err := questionOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	compared, err := store.Read(ctx, a.store,
		func(v store.View) (*leaks.RunComparison, error) { return v.Compare(ctx, q) })
	if err != nil {
		return err
	}
	view := viewOfComparison(compared)
	return sendList(c, view, view.rows(),
		strings.Join([]string{"compare", view.Project, view.Base.Build, view.Head.Build}, "-"), "")
}

// questionOf reads what is to be compared.
func questionOf(c echo.Context) (q leaks.ComparisonQuery, err error) {
	for name, into := range map[string]*string{"project": &q.Project, "scenario": &q.Scenario,
		"base": &q.Base, "head": &q.Head} {
		if *into, err = textParam(c, name); err != nil {
			return q, err
		}
	}
	for name, into := range map[string]*int64{"base_run": &q.BaseRunID, "head_run": &q.HeadRunID} {
		text := c.QueryParam(name)
		if text == "" {
			continue
		}
		if *into, err = strconv.ParseInt(text, 10, 64); err != nil || *into <= 0 {
			return q, problem.Invalid(name, "%s: %q is not the number of a run", name, text)
		}
	}
	if q.HeadRunID == 0 { // a run has its own
		q.Scenario = cmp.Or(q.Scenario, leaks.DefaultScenario)
		if q.Project == "" {
			return q, problem.Invalid("project", "project: is missing")
		}
	}
	return q, nil
}

func viewOfComparison(c *leaks.RunComparison) *comparisonView {
	rows := map[compare.Change][]rowView{}
	for _, r := range c.Rows {
		rows[r.Change] = append(rows[r.Change], viewOfRow(c.Project, r))
	}
	v := &comparisonView{
		Project: c.Project, Scenario: c.Scenario, Base: viewOfSide(c.Base), Head: viewOfSide(c.Head),
		Baseline: c.Why, Sentence: c.Sentence,
		New: filled(rows[compare.ChangeNew]), Grown: filled(rows[compare.ChangeGrown]),
		Shrunk: filled(rows[compare.ChangeShrunk]),
		Fixed:  filled(rows[compare.ChangeFixed]), Clean: filled(rows[compare.ChangeClean]),
		Persisting: filled(rows[compare.ChangePersisting]), NotExercised: filled(rows[compare.ChangeNotExercised]),
		Renames: []renameView{},
		URL:     address.Compare(c.Project, c.Scenario, c.Base.Build, c.Head.Build),
	}
	for _, r := range c.Renames {
		v.Renames = append(v.Renames, renameView{r.Base, r.Head, r.Likeness, r.Why})
	}
	return v
}

// A changedRow is a row of a comparison with the list that it is in.
type changedRow struct {
	Change string `json:"change"`
	rowView
}

// rows are all lists of the comparison as one, in their order.
func (v *comparisonView) rows() (all []changedRow) {
	for _, list := range []struct {
		change compare.Change
		rows   []rowView
	}{{compare.ChangeNew, v.New}, {compare.ChangeGrown, v.Grown}, {compare.ChangeShrunk, v.Shrunk},
		{compare.ChangeFixed, v.Fixed},
		{compare.ChangeClean, v.Clean}, {compare.ChangePersisting, v.Persisting},
		{compare.ChangeNotExercised, v.NotExercised}} {
		for _, r := range list.rows {
			all = append(all, changedRow{string(list.change), r})
		}
	}
	return all
}

func viewOfSide(s *compare.BuildResult) buildResultView {
	return buildResultView{s.Build, s.Sequence, filled(s.RunIDs), filled(s.Statuses), s.Pending, s.Trace, s.Lossy, s.Power}
}

func viewOfRow(project string, r compare.Row) rowView {
	f := r.HeadOrBase()
	return rowView{
		Signature: f.Signature, Kind: f.Kind, Title: f.Title, URL: address.Signature(project, f.Signature), Why: r.Why,
		State: f.State, Owner: f.Owner, Known: f.Known, Base: viewOfFinding(r.Base), Head: viewOfFinding(r.Head),
	}
}

func viewOfFinding(f *compare.Finding) *sidedFigure {
	if f == nil {
		return nil
	}
	return &sidedFigure{string(f.Class), f.Score, f.Certain, f.Outstanding, f.Growth, f.RateUnit, f.RateBytes, f.RateCount}
}
