package api

import (
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/address"
	"heapdrift/web/problem"
)

// buildDetailView is a build as the API shows it.
type buildDetailView struct {
	Project   string         `json:"project"`
	Name      string         `json:"name"`
	Sequence  *int64         `json:"sequence"` // null where nothing declares one
	Branch    string         `json:"branch"`
	Commit    string         `json:"commit"`
	Fork      string         `json:"fork"`
	Ancestors int            `json:"ancestors"`
	Pinned    bool           `json:"pinned"`
	Runs      []buildRunView `json:"runs"`
}

type buildRunView struct {
	ID       int64          `json:"id"`
	Scenario string         `json:"scenario"`
	Name     string         `json:"name"`
	State    leaks.RunState `json:"state"`
	Complete bool           `json:"complete"`
	URL      string         `json:"url"`
}

// buildShow handles GET /api/v1/projects/:project/builds/:build.
func (a *API) buildShow(c echo.Context) error {
	project, build, err := buildOf(c)
	if err != nil {
		return err
	}
	return a.sendBuild(c, project, build)
}

// buildPatch handles PATCH /api/v1/projects/:project/builds/:build: it corrects what an upload said of the build.
func (a *API) buildPatch(c echo.Context) error {
	project, build, err := buildOf(c)
	if err != nil {
		return err
	}
	var body struct {
		Name     *string `json:"name"`
		Branch   *string `json:"branch"`
		Commit   *string `json:"commit"`
		Fork     *string `json:"fork"`
		Sequence *int64  `json:"sequence"`
	}
	if err := readJSON(c, &body); err != nil {
		return err
	}
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	change := leaks.BuildChange{Name: body.Name, Branch: body.Branch, Commit: body.Commit, Fork: body.Fork,
		Sequence: body.Sequence}
	if err := a.store.UpdateBuild(c.Request().Context(), project, build, change, by); err != nil {
		return err
	}
	if change.Name != nil {
		build = *change.Name
	}
	return a.sendBuild(c, project, build)
}

// maxAncestors is how long the body of a list of commits may be, in bytes.
const maxAncestors = 80 << 10

// ancestorsPut handles PUT /api/v1/projects/:project/builds/:build/ancestors: the body is the list of commits behind
// the build, newest first, a line each. A header or an address has no room for it on its way through proxies.
func (a *API) ancestorsPut(c echo.Context) error {
	project, build, err := buildOf(c)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxAncestors))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge, "the body takes at most %d bytes",
			maxAncestors)
	case err != nil:
		return problem.New(http.StatusBadRequest, problem.CodeUploadBroken, "the body did not come whole")
	}
	commits, err := leaks.ParseAncestors(string(text))
	if err != nil {
		return err
	}
	if err := a.store.UpdateAncestors(c.Request().Context(), project, build, commits); err != nil {
		return err
	}
	return a.sendBuild(c, project, build)
}

func (a *API) sendBuild(c echo.Context, project, build string) error {
	ctx := c.Request().Context()
	b, err := store.Read(ctx, a.store,
		func(v store.View) (*store.BuildDetail, error) { return v.FindBuild(ctx, project, build) })
	if err != nil {
		return err
	}
	view := buildDetailView{Project: project, Name: b.Name, Sequence: b.Sequence, Branch: b.Branch, Commit: b.Commit,
		Fork: b.Fork, Ancestors: b.Ancestors, Pinned: b.Pinned, Runs: []buildRunView{}}
	for i := range b.Runs {
		r := &b.Runs[i]
		view.Runs = append(view.Runs, buildRunView{r.ID, r.Scenario, r.Name, r.State(), r.CompletedAt != nil,
			address.Run(r.ID)})
	}
	return fresh(c, http.StatusOK, view)
}

// buildOf are the project and the build in the address.
func buildOf(c echo.Context) (project, build string, err error) {
	if project, err = pathText(c, "project"); err != nil {
		return "", "", err
	}
	build, err = pathText(c, "build")
	return project, build, err
}
