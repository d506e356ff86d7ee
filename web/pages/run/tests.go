package run

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// How many tests a page and the card of a run show, and over how many builds.
const (
	testsOnPage = 100
	testsOnCard = 5
	testStrip   = 24
)

// A testsView is the page of a run's tests, by what they left at exit.
type testsView struct {
	ui.Frame
	run   store.Run
	query store.RunTestQuery
	*store.RunTestPage
}

// tests handles GET /runs/:id/tests.
func tests(ctx context.Context, c echo.Context, r *reader, run store.Run) (answer, error) {
	q := store.RunTestQuery{RunID: run.ID, Limit: testsOnPage, Strip: testStrip}
	q.Text = strings.TrimSpace(ui.Printable(c.QueryParam("q")))
	q.Text = strings.ToValidUTF8(q.Text[:min(len(q.Text), ui.MaxFilterBytes)], "")
	if state := leaks.TestState(c.QueryParam("state")); slices.Contains(leaks.TestStates, state) {
		q.State = state
	}
	if n, err := strconv.Atoi(c.QueryParam("from")); err == nil && n > 0 {
		q.Offset = n
	}
	page, err := r.ListRunTests(ctx, q)
	if err != nil {
		return answer{}, err
	}
	v := testsView{Frame: ui.FrameOf(c, fmt.Sprintf("Tests of run %d", run.ID)), run: run, query: q, RunTestPage: page}
	v.Crumbs, v.Upload = append(runCrumbs(run), ui.Crumb{Text: "Tests"}), ui.TargetOfRun(run)
	v.Crumbs[len(v.Crumbs)-2].URL = ui.RunURL(run.ID)
	return answer{page: testsPage(v)}, nil
}

// cardTests are the tests on the page of a run, the gravest; nil of a run without any.
func (r *reader) cardTests(ctx context.Context, run int64) (*store.RunTestPage, error) {
	page, err := r.ListRunTests(ctx, store.RunTestQuery{RunID: run, Limit: testsOnCard, Strip: testStrip})
	if err != nil || page.Total == 0 {
		return nil, err
	}
	return page, nil
}

// testsURL is the page of a run's tests.
func testsURL(run int64, q store.RunTestQuery) templ.SafeURL {
	values := url.Values{}
	if q.State != "" {
		values.Set("state", string(q.State))
	}
	if q.Text != "" {
		values.Set("q", q.Text)
	}
	if q.Offset > 0 {
		values.Set("from", strconv.Itoa(q.Offset))
	}
	return ui.WithQuery(ui.RunURL(run)+"/tests", values)
}

func (v *testsView) in(state leaks.TestState) templ.SafeURL {
	return testsURL(v.run.ID, store.RunTestQuery{State: state, Text: v.query.Text})
}

// from is the page that begins with a test.
func (v *testsView) from(offset int) templ.SafeURL {
	return testsURL(v.run.ID, store.RunTestQuery{State: v.query.State, Text: v.query.Text, Offset: offset})
}

func (v *testsView) all() (n int) {
	for _, count := range v.Counts {
		n += count
	}
	return n
}

// leaksOfTest is the list of a project's leaks that a test shows.
func leaksOfTest(project, test string) templ.SafeURL {
	return ui.WithFields(ui.ProjectURL(project), []ui.Field{{Name: "test", Value: test}})
}

// testCells draw the history of a test: one cell a build.
func testCells(builds []string, strip []leaks.TestState) []ui.StripCell {
	cells := make([]ui.StripCell, len(strip))
	for i, state := range strip {
		cells[i] = ui.StripCell{Class: testClasses[state], Title: builds[i] + ": " + testWords[state]}
	}
	return cells
}

var (
	testClasses = map[leaks.TestState]string{
		leaks.TestNew: "h-leak", leaks.TestOpen: "h-growing", leaks.TestKnown: "h-other", leaks.TestClean: "h-clean",
		leaks.TestUnknown: "h-none", "": "h-none",
	}
	testWords = map[leaks.TestState]string{
		leaks.TestNew: "new leaks", leaks.TestOpen: "open leaks", leaks.TestKnown: "known leaks", leaks.TestClean: "clean",
		leaks.TestUnknown: "its list breaks off", "": "no list",
	}
)

// stripText says what a strip shows.
func stripText(strip []leaks.TestState) string {
	counts := map[leaks.TestState]int{}
	for _, state := range strip {
		counts[state]++
	}
	var parts []string
	for _, state := range append(slices.Clone(leaks.TestStates), "") {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", testWords[state], n))
		}
	}
	return strings.Join(parts, ", ")
}

// testKey explains the colours of a test's history.
var testKey = []ui.StripCell{
	{Class: "h-leak", Title: "new leaks"}, {Class: "h-growing", Title: "open leaks"},
	{Class: "h-other", Title: "known leaks"}, {Class: "h-clean", Title: "clean"}, {Class: "h-none", Title: "no list"},
}
