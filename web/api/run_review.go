package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// acceptedAtOnce is how many leaks one transaction accepts: it holds the lock of the project.
const acceptedAtOnce = 500

// reviewView are the leaks of a run that nobody has accepted, by place and by test.
type reviewView struct {
	Run   int64  `json:"run"`
	Build string `json:"build"`
	Known int    `json:"known"`
	groupFigures
	Sentence   string      `json:"sentence"`
	Places     []placeView `json:"places"`
	Tests      []testView  `json:"tests"`
	Signatures []string    `json:"signatures"`
}

// groupFigures are the figures of a group of leaks.
type groupFigures struct {
	Leaks    int             `json:"leaks"`
	Certain  int             `json:"certain"`
	Possible int             `json:"possible"`
	Held     analysis.Amount `json:"held"`
}

type placeView struct {
	Module string `json:"module"`
	File   string `json:"file"`
	groupFigures
}

type testView struct {
	Test    string `json:"test"`
	Several bool   `json:"several"`
	groupFigures
}

func groupFiguresOf(g *leaks.LeakGroup) groupFigures {
	return groupFigures{len(g.Leaks), g.Certain, g.Possible(), g.Held}
}

func viewOfReview(run *store.Run, r *leaks.Review) *reviewView {
	total := r.Total()
	v := &reviewView{Run: run.ID, Build: run.Build, Known: r.Known, groupFigures: groupFiguresOf(&total),
		Sentence: r.Sentence(run.Build), Places: []placeView{}, Tests: []testView{}, Signatures: r.Signatures()}
	for _, g := range r.ByPlace() {
		v.Places = append(v.Places, placeView{g.Module, g.File, groupFiguresOf(&g)})
	}
	for _, g := range r.ByTest() {
		v.Tests = append(v.Tests, testView{g.Test, g.Several, groupFiguresOf(&g)})
	}
	return v
}

// readReview reads a run and its leaks that nobody has accepted; none before its report is there.
func readReview(ctx context.Context, v store.View, id int64) (run store.Run, review leaks.Review, err error) {
	if run, err = v.FindRun(ctx, id); err != nil {
		return run, review, err
	}
	side, err := v.FindRunResult(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return run, review, nil
	}
	if err != nil {
		return run, review, err
	}
	return run, leaks.ReviewOf(side), nil
}

// runReview handles GET /api/v1/runs/:id/unaccepted: the leaks of a run that nobody has accepted.
func (a *API) runReview(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	view, err := store.Read(ctx, a.store, func(v store.View) (*reviewView, error) {
		run, review, err := readReview(ctx, v, id)
		return viewOfReview(&run, &review), err
	})
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, view)
}

// acceptanceView is what a call has accepted, and what is left.
type acceptanceView struct {
	Accepted *reviewView `json:"accepted"`
	Left     *reviewView `json:"left"`
	Sentence string      `json:"sentence"`
}

// mostNamed is how many patterns that name nothing a refusal names.
const mostNamed = 10

// exceptNothing refuses patterns that name no leak of the run; nil for none.
func exceptNothing(patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	var text strings.Builder
	for i, pattern := range patterns[:min(len(patterns), mostNamed)] {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(strconv.Quote(pattern))
	}
	if more := len(patterns) - mostNamed; more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	return problem.Invalid("except", "except: no leak of the run has a module, a file, a test or a signature %s; "+
		"nothing is accepted. A leak names %d tests at most: name a leak of more tests by its file or signature",
		text.String(), analysis.MaxTests)
}

// runAccept handles POST /api/v1/runs/:id/accept: it marks the leaks of a run as known, except those that the body
// names. Names of nothing are refused.
func (a *API) runAccept(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	var body struct {
		Except []string `json:"except"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	if len(body.Except) > leaks.MaxReviewExceptions {
		return problem.Invalid("except", "except: at most %d patterns", leaks.MaxReviewExceptions)
	}
	change := leaks.TriageChange{Known: &leaks.Toleration{Reason: leaks.FirstRunReason}}
	if change.Actor, err = actorOf(c.Request()); err != nil {
		return err
	}
	ctx := c.Request().Context()
	var run store.Run
	review, err := store.Read(ctx, a.store, func(v store.View) (review leaks.Review, err error) {
		run, review, err = readReview(ctx, v, id)
		return review, err
	})
	if err != nil {
		return err
	}
	if err := exceptNothing(review.NamingNothing(body.Except)); err != nil {
		return err
	}
	accepted, left := review.Without(body.Except)
	for some := range slices.Chunk(accepted.Signatures(), acceptedAtOnce) {
		picks := make([]store.PickedSignature, len(some))
		for i, signature := range some {
			picks[i] = store.PickedSignature{Signature: signature, Version: -1} // as it is now
		}
		if err := a.store.UpdateTriages(ctx, run.Project, picks, change); err != nil {
			return err
		}
	}
	left.Known += len(accepted.Leaks)
	view := acceptanceView{viewOfReview(&run, &accepted), viewOfReview(&run, &left), left.Sentence(run.Build)}
	return fresh(c, http.StatusOK, view)
}
