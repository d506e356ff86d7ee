package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// policyView is a version of a project's policies. Version 0 is the default of a project that has saved none.
type policyView struct {
	Version int `json:"version"`
	leaks.Policies
	Meaning map[string][]string `json:"meaning"` // in sentences, by scenario; "" is the default
	Author  string              `json:"author"`
	Note    string              `json:"note"`
	At      *time.Time          `json:"at"` // null of version 0
}

func viewOfPolicy(f *store.PolicyFile) policyView {
	v := policyView{Version: f.Version, Policies: f.Policies,
		Meaning: map[string][]string{"": f.Policies.Default.Sentences(f.Version)}, Author: f.Author, Note: f.Note}
	for name, own := range f.Policies.Scenarios {
		v.Meaning[name] = own.Sentences(f.Version)
	}
	if f.Version > 0 {
		v.At = &f.At
	}
	return v
}

// policyGet handles GET /api/v1/projects/:project/policy: the policies, or one version of them.
func (a *API) policyGet(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	file, err := a.policyVersion(c, project)
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", versionTag(int64(file.Version)))
	return fresh(c, http.StatusOK, viewOfPolicy(&file))
}

// policyVersion is the version that the request names, else the present one.
func (a *API) policyVersion(c echo.Context, project string) (store.PolicyFile, error) {
	ctx := c.Request().Context()
	if c.QueryParam("version") == "" {
		return store.Read(ctx, a.store, func(v store.View) (store.PolicyFile, error) { return v.FindPolicy(ctx, project) })
	}
	version, err := strconv.Atoi(c.QueryParam("version"))
	if err != nil || version < 1 {
		return store.PolicyFile{}, problem.Invalid("version", "version: %q is not a version", c.QueryParam("version"))
	}
	versions, err := store.Read(ctx, a.store,
		func(v store.View) ([]store.PolicyFile, error) { return v.ListPolicies(ctx, project) })
	if err != nil {
		return store.PolicyFile{}, err
	}
	for _, v := range versions {
		if v.Version == version {
			return v, nil
		}
	}
	return store.PolicyFile{}, store.ErrNotFound
}

// readPolicies reads the policies in the body.
func readPolicies(c echo.Context) (leaks.Policies, error) {
	text, err := readText(c, leaks.MaxPoliciesBytes)
	if err != nil {
		return leaks.Policies{}, err
	}
	return leaks.ParsePolicies([]byte(text))
}

// policyPut handles PUT /api/v1/projects/:project/policy: the body is the project's policies from now on.
func (a *API) policyPut(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	change := store.PolicyChange{}
	if change.Author, err = actorOf(c.Request()); err != nil {
		return err
	}
	if change.Note, err = textParam(c, "note"); err != nil {
		return err
	}
	if change.Version, err = ifMatch(c); err != nil {
		return err
	}
	if change.Policies, err = readPolicies(c); err != nil {
		return err
	}
	file, err := a.store.CreatePolicy(c.Request().Context(), project, change)
	if err != nil {
		return conflicting(c, err)
	}
	c.Response().Header().Set("ETag", versionTag(int64(file.Version)))
	return fresh(c, http.StatusOK, viewOfPolicy(&file))
}

// policyPreview handles POST /api/v1/projects/:project/policy/preview: what the policies in the body would change.
func (a *API) policyPreview(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	policies, err := readPolicies(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	impact, err := store.Read(ctx, a.store,
		func(v store.View) (*leaks.Impact, error) { return v.PreviewPolicy(ctx, project, policies) })
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, viewOfImpact(impact))
}
