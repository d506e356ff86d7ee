package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

// baselinePost handles POST /api/v1/projects/:project/baseline: it pins the build that newer ones are compared with, or lets
// go of it. It answers with the one that is chosen then.
func (a *API) baselinePost(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	var body struct {
		Build  string `json:"build"`
		Pinned *bool  `json:"pinned"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	build := strings.TrimSpace(body.Build)
	if build == "" || !isLine(build) {
		return invalid("build", "build: name the build to pin, or to unpin")
	}
	ctx := c.Request().Context()
	if err := PinBaseline(ctx, a.store, project, build, body.Pinned == nil || *body.Pinned); err != nil {
		return err
	}
	chosen, err := a.store.Baseline(ctx, project)
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, map[string]string{"build": chosen})
}

// PinBaseline makes a build the one that newer ones are compared with, or lets go of it.
func PinBaseline(ctx context.Context, s *store.Store, project, build string, pinned bool) error {
	if pinned {
		return s.SetBaseline(ctx, project, build)
	}
	return s.PinBuild(ctx, project, build, false)
}
