package api

import (
	"slices"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// Limits of a list of tests.
const (
	defaultTests = 100
	testStrip    = 24 // builds
)

// runTestView is what the lists of leaks at exit of a run say of a test.
type runTestView struct {
	Test    string          `json:"test"`
	State   leaks.TestState `json:"state"`
	Leaks   int             `json:"leaks"`
	Certain int             `json:"certain"`
	Known   int             `json:"known"`
	New     int             `json:"new"`
	Lost    analysis.Amount `json:"lost"`
	Whole   bool            `json:"whole"`
	// History are the states in the builds of the answer; "" where no list tells.
	History []leaks.TestState `json:"history"`
}

// runTests handles GET /api/v1/runs/:id/tests: the tests of a run by what they left at exit, with their history.
func (a *API) runTests(c echo.Context) error {
	q := store.RunTestQuery{Strip: testStrip}
	var err error
	if q.RunID, err = runID(c); err != nil {
		return err
	}
	if q.Text, err = textParam(c, "q"); err != nil {
		return err
	}
	if q.State = leaks.TestState(c.QueryParam("state")); q.State != "" && !slices.Contains(leaks.TestStates, q.State) {
		return problem.Invalid("state", "state: %q is none of new, open, known, unknown and clean", string(q.State))
	}
	if q.Limit, err = whole(c, "limit", defaultTests, 1, maxSignatures); err != nil {
		return err
	}
	if q.Offset, err = whole(c, "offset", 0, 0, maxOffset); err != nil {
		return err
	}
	ctx := c.Request().Context()
	page, err := store.Read(ctx, a.store, func(v store.View) (*store.RunTestPage, error) {
		if _, err := v.FindRun(ctx, q.RunID); err != nil {
			return nil, err
		}
		return v.ListRunTests(ctx, q)
	})
	if err != nil {
		return err
	}
	view := struct {
		Total  int                     `json:"total"`
		Counts map[leaks.TestState]int `json:"counts"`
		Builds []string                `json:"builds"`
		Tests  []runTestView           `json:"tests"`
	}{page.Total, map[leaks.TestState]int{}, filled(page.Builds), []runTestView{}}
	for _, state := range leaks.TestStates {
		view.Counts[state] = page.Counts[state]
	}
	for i := range page.Rows {
		t := &page.Rows[i]
		view.Tests = append(view.Tests, runTestView{t.Test, t.State(), t.Leaks, t.Certain, t.Known, t.New, t.Lost, t.Whole,
			filled(t.Strip)})
	}
	return fresh(c, 200, view)
}
