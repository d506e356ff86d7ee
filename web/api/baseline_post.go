package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// baselinePost handles POST /api/v1/projects/:project/baseline: it pins the build that newer ones are compared with, or
// lets go of it. It answers with the build that is the baseline afterwards.
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
	if build == "" || !leaks.IsSingleLine(build) {
		return problem.Invalid("build", "build: name the build to pin, or to unpin")
	}
	ctx := c.Request().Context()
	if err := a.store.UpdateBaseline(ctx, project, build, body.Pinned == nil || *body.Pinned); err != nil {
		return err
	}
	chosen, err := store.Read(ctx, a.store, func(v store.View) (string, error) { return v.FindBaseline(ctx, project) })
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, map[string]string{"build": chosen})
}
