package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

type failureCauseView struct {
	Code  string    `json:"code"`
	Cause string    `json:"cause"`
	Jobs  int64     `json:"jobs"`
	Runs  int64     `json:"runs"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// mostCauses is how many causes of failures are listed.
const mostCauses = 200

// failureList handles GET /api/v1/failures: the causes for which jobs failed that may end better, most jobs first.
func (a *API) failureList(c echo.Context) error {
	causes, err := store.Read(c.Request().Context(), a.store, func(v store.View) ([]store.FailureCause, error) {
		return v.ListFailureCauses(c.Request().Context(), mostCauses)
	})
	if err != nil {
		return err
	}
	view := struct {
		Causes []failureCauseView `json:"causes"`
	}{Causes: []failureCauseView{}}
	for _, f := range causes {
		view.Causes = append(view.Causes, failureCauseView{f.Code, f.Text, f.Jobs, f.Runs, f.First.UTC(), f.Last.UTC()})
	}
	return fresh(c, http.StatusOK, view)
}

// failureRetry handles POST /api/v1/failures/retry: the jobs that failed for a cause are queued again.
func (a *API) failureRetry(c echo.Context) error {
	var in struct {
		Code  string `json:"code"`
		Cause string `json:"cause"`
	}
	if err := readJSON(c, &in); err != nil {
		return err
	}
	who, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	done, err := a.store.RetryFailures(c.Request().Context(), in.Code, in.Cause, who)
	if err != nil {
		return err
	}
	return fresh(c, http.StatusAccepted, done)
}
