package api

import (
	"context"
	"mime"
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// suppressions handles GET /api/v1/projects/:project/suppressions: the known leaks as a file of suppressions.
func (a *API) suppressions(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	ctx, form := c.Request().Context(), c.QueryParam("form")
	list, err := store.Read(ctx, a.store, func(v store.View) ([]leaks.SuppressedLeak, error) {
		return suppressedLeaks(ctx, v, project)
	})
	if err != nil {
		return err
	}
	text, err := leaks.Suppressions(project, form, list)
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("Cache-Control", "no-store")
	header.Set(echo.HeaderContentDisposition,
		mime.FormatMediaType("attachment", map[string]string{"filename": fileName(project+"-"+form) + ".supp"}))
	return c.String(http.StatusOK, text)
}

// suppressedLeaks lists the leaks of a project, all pages of them.
func suppressedLeaks(ctx context.Context, v store.View, project string) ([]leaks.SuppressedLeak, error) {
	var list []leaks.SuppressedLeak
	q := store.SignatureQuery{Project: project, Limit: maxSignatures}
	for {
		page, err := v.ListSignatures(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Rows {
			s := &page.Rows[i].Signature
			l := leaks.SuppressedLeak{Signature: s.Text, Title: s.Title, State: s.State, Frames: s.Frames}
			if s.Known != nil {
				l.Reason = s.Known.Reason
			}
			list = append(list, l)
		}
		if q.AfterID = page.NextAfterID(); q.AfterID == 0 {
			return list, nil
		}
	}
}
