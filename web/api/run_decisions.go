package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// decisionView is what a gate said of a run, and when.
type decisionView struct {
	Asked    string    `json:"asked"`         // fail_on of the call
	Baseline string    `json:"baseline"`      // that the call named
	Tighter  string    `json:"asked_matters"` // from which growth on the call asked a leak to matter; "" for nothing
	At       time.Time `json:"at"`
	leaks.Decision
}

// runDecisions handles GET /api/v1/runs/:id/decisions: what the gate said of a run, newest first.
func (a *API) runDecisions(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, err := store.Read(ctx, a.store, func(v store.View) ([]store.StoredDecision, error) {
		if _, err := v.FindRun(ctx, id); err != nil {
			return nil, err
		}
		return v.ListDecisions(ctx, id)
	})
	if err != nil {
		return err
	}
	view := struct {
		Decisions []decisionView `json:"decisions"`
	}{[]decisionView{}}
	for _, d := range list {
		view.Decisions = append(view.Decisions, decisionView{d.FailOn, d.Baseline, d.Asked, d.At, d.Decision})
	}
	return fresh(c, http.StatusOK, view)
}
