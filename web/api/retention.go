package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// retentionView is how long a project keeps what it has. A null is the server's setting.
type retentionView struct {
	EvidenceDays  *int64      `json:"evidence_days"`
	EvidenceBytes *int64      `json:"evidence_bytes"`
	RunDays       *int64      `json:"run_days"`
	RunBytes      *int64      `json:"run_bytes"`
	Hold          *leaks.Hold `json:"hold"`
}

// retentionShow handles GET /api/v1/projects/:project/retention.
func (a *API) retentionShow(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	return a.sendRetention(c, project)
}

// retentionPut handles PUT /api/v1/projects/:project/retention: it replaces the settings.
func (a *API) retentionPut(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	var r leaks.Retention
	if err := readJSON(c, &r); err != nil {
		return err
	}
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if err := a.store.UpdateRetention(c.Request().Context(), project, r, by); err != nil {
		return err
	}
	return a.sendRetention(c, project)
}

func (a *API) sendRetention(c echo.Context, project string) error {
	ctx := c.Request().Context()
	view, err := store.Read(ctx, a.store, func(v store.View) (view retentionView, err error) {
		r, err := v.FindRetention(ctx, project)
		if err != nil {
			return view, err
		}
		hold, err := v.FindProjectHold(ctx, project)
		return retentionView{r.EvidenceDays, r.EvidenceBytes, r.RunDays, r.RunBytes, utcHold(hold)}, err
	})
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, view)
}

func utcHold(h *leaks.Hold) *leaks.Hold {
	if h != nil {
		h.At = h.At.UTC()
	}
	return h
}

// projectHold handles PUT and DELETE /api/v1/projects/:project/hold.
func (a *API) projectHold(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	return a.hold(c, func(ctx context.Context, reason, by string) error {
		return a.store.CreateProjectHold(ctx, project, reason, by)
	}, func(ctx context.Context, by string) error { return a.store.DeleteProjectHold(ctx, project, by) })
}

// runHold handles PUT and DELETE /api/v1/runs/:id/hold.
func (a *API) runHold(c echo.Context) error {
	run, err := runID(c)
	if err != nil {
		return err
	}
	return a.hold(c, func(ctx context.Context, reason, by string) error {
		return a.store.CreateRunHold(ctx, run, reason, by)
	}, func(ctx context.Context, by string) error { return a.store.DeleteRunHold(ctx, run, by) })
}

// hold places a legal hold with the reason of the body, or lifts it.
func (a *API) hold(c echo.Context, place func(ctx context.Context, reason, by string) error,
	lift func(ctx context.Context, by string) error) error {
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if c.Request().Method == http.MethodDelete {
		err = lift(c.Request().Context(), by)
	} else {
		var body struct {
			Reason string `json:"reason"`
		}
		if err := readJSON(c, &body); err != nil {
			return err
		}
		err = place(c.Request().Context(), body.Reason, by)
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
