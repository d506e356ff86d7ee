package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/worker/analysis"
)

// maxWait is how long a request may wait for a verdict; proxies give up long before on more.
const maxWait = 5 * time.Minute

// What a gate says beside passed, failed and inconclusive.
const (
	gatePending = "pending" // jobs are still under way: ask again
	gateError   = "error"   // processing failed, so nothing can be said
)

// verdictView is the decision on a run. New, fixed and persisting come with the comparison of builds: until then they
// are empty.
type verdictView struct {
	Run            int64    `json:"run"`
	State          string   `json:"state"`
	Status         string   `json:"status"`
	Gate           string   `json:"gate"`
	New            []string `json:"new"`
	Fixed          []string `json:"fixed"`
	Persisting     []string `json:"persisting"`
	Sentence       string   `json:"sentence"`
	URL            string   `json:"url"`
	Pending        int      `json:"pending"`
	FailedEvidence int      `json:"failed_evidence"`
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
	run, err := a.settled(c.Request().Context(), id, wait)
	if err != nil {
		return err
	}
	verdict, err := a.verdictOf(c.Request().Context(), &run)
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

func (a *API) verdictOf(ctx context.Context, run *store.Run) (*verdictView, error) {
	v := &verdictView{
		Run: run.ID, State: run.State(), Status: run.Status, Sentence: run.Sentence, URL: runPage(run.ID),
		Pending: run.Pending, FailedEvidence: run.Failed, New: []string{}, Fixed: []string{}, Persisting: []string{},
	}
	switch {
	case run.Pending > 0:
		v.Status, v.Gate, v.Sentence = gatePending, gatePending, "The evidence is still being analysed."
	case run.ErrorCode != "": // a report may be there, but of less evidence than the run has
		v.Status, v.Gate, v.Sentence = gateError, gateError, run.Error
	case run.AnalysedAt != nil:
		v.Gate = gateOf(analysis.Status(run.Status))
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

// gateOf turns an outcome into what a CI job acts on.
func gateOf(status analysis.Status) string {
	switch status {
	case analysis.StatusLeak:
		return "failed"
	case analysis.StatusNoLeak:
		return "passed"
	default:
		return string(analysis.StatusInconclusive)
	}
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
