package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/store"
)

// maxWait is how long a request may wait for a verdict; proxies give up long before on more.
const maxWait = 5 * time.Minute

// verdictView is the decision on a run. New, grown, fixed and persisting are signatures that leak or grow, against the
// baseline; those that the team knows stand in Known alone.
type verdictView struct {
	Run            int64         `json:"run"`
	State          string        `json:"state"`
	Status         string        `json:"status"`
	Gate           string        `json:"gate"`
	Why            string        `json:"why"` // by what the gate was decided
	FailOn         []string      `json:"fail_on"`
	Baseline       *baselineView `json:"baseline"` // null where there is none
	New            []string      `json:"new"`
	Grown          []string      `json:"grown"`
	Fixed          []string      `json:"fixed"`
	Persisting     []string      `json:"persisting"`
	Known          []string      `json:"known"` // of the run, that fail no gate
	Power          string        `json:"power"` // what the evidence would have shown; "" where it could show nothing
	Sentence       string        `json:"sentence"`
	URL            string        `json:"url"`
	Pending        int           `json:"pending"`
	FailedEvidence int           `json:"failed_evidence"`
}

// baselineView is what a run was compared with, and what came of it.
type baselineView struct {
	Build    string  `json:"build"`
	Runs     []int64 `json:"runs"`
	Sentence string  `json:"sentence"`
	URL      string  `json:"url"` // the page of the comparison
}

// runVerdict handles GET /api/v1/runs/:id/verdict: it waits until no job is pending and says whether the gate is passed.
func (a *API) runVerdict(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	wait, err := waitTime(c.QueryParam("wait"))
	if err != nil {
		return err
	}
	on, err := failOn(c.QueryParam("fail_on"))
	if err != nil {
		return err
	}
	base, err := textParam(c, "baseline")
	if err != nil {
		return err
	}
	run, err := a.settled(c.Request().Context(), id, wait)
	if err != nil {
		return err
	}
	verdict, err := a.verdictOf(c.Request().Context(), &run, base, on)
	if err != nil {
		return err
	}
	if verdict.Gate == gatePending {
		c.Response().Header().Set(echo.HeaderRetryAfter, "1")
		return fresh(c, http.StatusAccepted, verdict)
	}
	return fresh(c, http.StatusOK, verdict)
}

// settled returns the run when no job of it is pending any more, or as it is when the time is up.
func (a *API) settled(ctx context.Context, id int64, wait time.Duration) (store.Run, error) {
	changed, stop := a.watch(id)
	defer stop()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	poll := time.NewTicker(a.poll)
	defer poll.Stop()
	for {
		run, err := a.store.RunByID(ctx, id)
		if err != nil || run.Pending == 0 || wait == 0 {
			return run, err
		}
		select {
		case <-ctx.Done():
			return run, context.Cause(ctx)
		case <-timeout.C:
			wait = 0 // look once more, then answer
		case <-a.closing:
			return run, nil
		case <-changed:
		case <-poll.C:
		}
	}
}

func waitTime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 {
		return 0, invalid("wait", "wait: %q is not a duration such as 60s or 5m", text)
	}
	return min(wait, maxWait), nil
}

func (a *API) verdictOf(ctx context.Context, run *store.Run, base string, on []string) (*verdictView, error) {
	v := &verdictView{
		Run: run.ID, State: run.State(), Status: run.Status, Sentence: run.Sentence, URL: runPage(run.ID), FailOn: on,
		Pending: run.Pending, FailedEvidence: run.Failed, New: []string{}, Grown: []string{}, Fixed: []string{}, Persisting: []string{}, Known: []string{},
	}
	switch {
	case run.Pending > 0:
		v.Status, v.Gate, v.Sentence = gatePending, gatePending, "The evidence is still being analysed."
	case run.ErrorCode != "": // a report may be there, but of less evidence than the run has
		v.Status, v.Gate, v.Sentence = gateError, gateError, run.Error
	case run.AnalysedAt != nil:
		return v, a.decide(ctx, v, run, base)
	case run.Failed > 0:
		sentence, err := a.firstFailure(ctx, run)
		if err != nil {
			return nil, err
		}
		v.Status, v.Gate, v.Sentence = gateError, gateError, sentence
	default:
		inconclusive := string(analysis.StatusInconclusive)
		v.Status, v.Gate, v.Sentence = inconclusive, inconclusive, "The run holds no evidence yet."
	}
	return v, nil
}

// decide compares a run that has a report with its baseline, and says whether it passes.
func (a *API) decide(ctx context.Context, v *verdictView, run *store.Run, base string) error {
	head, err := a.store.SideOfRun(ctx, run.ID)
	if err != nil {
		return err
	}
	compared, err := a.withBaseline(ctx, run, head, base)
	if err != nil {
		return err
	}
	for i := range head.Findings {
		if f := &head.Findings[i]; tolerated(f) && f.Class.IsSuspect() {
			v.Known = append(v.Known, f.Signature)
		}
	}
	if head.Power != nil {
		v.Power = head.Power.Sentence
	}
	if compared != nil {
		v.Baseline = &baselineView{
			compared.Base.Build, filled(compared.Base.Runs), compared.Sentence, ComparePage(run.Project, run.Scenario, compared.Base.Build, run.Build),
		}
		v.list(compared.Comparison)
	}
	v.Gate, v.Why = gateOf(analysis.Status(run.Status), v.FailOn, head, compared)
	return nil
}

// list sorts the rows of a comparison into the verdict.
func (v *verdictView) list(c *compare.Comparison) {
	lists := map[compare.Change]*[]string{compare.New: &v.New, compare.Grown: &v.Grown, compare.Fixed: &v.Fixed, compare.Persisting: &v.Persisting, compare.Shrunk: &v.Persisting}
	for _, r := range c.Rows {
		if list := lists[r.Change]; list != nil && (r.Head == nil || !tolerated(r.Head)) {
			*list = append(*list, r.Either().Signature)
		}
	}
}

// withBaseline compares the side of a run with the build that is named, else with the one that the store would take; nil
// where there is none to take.
func (a *API) withBaseline(ctx context.Context, run *store.Run, head *compare.Side, base string) (*Compared, error) {
	if base == run.Build {
		return nil, invalid("baseline", "baseline: build %s is the run's own; name another", base)
	}
	c := &Compared{Project: run.Project, Scenario: run.Scenario, Head: head}
	err := c.findBase(ctx, a.store, Sides{Base: base})
	var none *Problem
	switch {
	case base != "" && errors.Is(err, store.ErrNotFound):
		return nil, invalid("baseline", "baseline: there is no build %q with a run of the scenario %s", base, run.Scenario)
	case errors.As(err, &none) && none.Code == codeNoBaseline:
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.Comparison = compare.Compare(c.Base, c.Head)
	return c, nil
}

// firstFailure says why none of the evidence could be read.
func (a *API) firstFailure(ctx context.Context, run *store.Run) (string, error) {
	evidence, err := a.store.EvidenceOfRun(ctx, run.ID)
	if err != nil {
		return "", err
	}
	for _, e := range evidence {
		if e.State == "failed" {
			return fmt.Sprintf("%s could not be read: %s", e.Name, e.Error), nil
		}
	}
	return "The evidence could not be read.", nil
}
