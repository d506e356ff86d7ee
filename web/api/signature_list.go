package api

import (
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

const (
	defaultSignatures = 50
	maxSignatures     = 500
	maxOffset         = 1 << 24
)

// signatureClasses are what the list may be asked for; "" is what ever leaked or grew.
var signatureClasses = append([]string{"", leaks.AllClasses}, leaks.ClassFilters...)

// signatureList handles GET /api/v1/projects/:project/signatures: the leaks of a project.
func (a *API) signatureList(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	q, err := signatureQuery(c, project)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	page, err := store.Read(ctx, a.store, func(v store.View) (*store.SignaturePage, error) {
		return v.ListSignatures(ctx, q)
	})
	if err != nil {
		return err
	}
	view := struct {
		Project    string              `json:"project"`
		Total      int                 `json:"total"`
		Counts     map[leaks.State]int `json:"counts"`
		Owners     []string            `json:"owners"`
		Signatures []signatureView     `json:"signatures"`
		Next       string              `json:"next,omitempty"`
	}{Project: project, Total: page.Total, Counts: map[leaks.State]int{}, Owners: filled(page.Owners),
		Signatures: []signatureView{}}
	for _, state := range leaks.States {
		view.Counts[state] = page.Counts[state]
	}
	for i := range page.Rows {
		view.Signatures = append(view.Signatures, viewOfSignature(project, &page.Rows[i].Signature))
	}
	if next := page.NextAfterID(); next != 0 {
		view.Next = pageAfter(c.Request().URL, next)
	}
	return sendList(c, view, view.Signatures, "leaks-"+project, view.Next)
}

func signatureQuery(c echo.Context, project string) (store.SignatureQuery, error) {
	q := store.SignatureQuery{Project: project}
	states := []string{"all"}
	for _, s := range leaks.States {
		states = append(states, string(s))
	}
	state, err := oneOf(c, "state", states...)
	if err != nil {
		return q, err
	}
	if state != "all" {
		q.State = leaks.State(state)
	}
	if q.Class, err = oneOf(c, "class", signatureClasses...); err != nil {
		return q, err
	}
	order, err := oneOf(c, "sort", string(store.BySignatureScore), string(store.BySignatureGrowth),
		string(store.BySignatureLastSeen), string(store.BySignatureFirstBad))
	if err != nil {
		return q, err
	}
	q.Order = store.SignatureOrder(order)
	for name, into := range map[string]*string{"owner": &q.Owner, "scenario": &q.Scenario, "test": &q.Test, "q": &q.Text} {
		if *into, err = textParam(c, name); err != nil {
			return q, err
		}
	}
	if q.Limit, err = whole(c, "limit", defaultSignatures, 1, maxSignatures); err != nil {
		return q, err
	}
	if q.Offset, err = whole(c, "offset", 0, 0, maxOffset); err != nil {
		return q, err
	}
	q.AfterID, err = afterParam(c)
	return q, err
}

// afterParam is the row that a page stands behind; 0 for none.
func afterParam(c echo.Context) (int64, error) {
	text := c.QueryParam("after")
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, problem.Invalid("after", "after: %q names no row; take the link next of the page before", text)
	}
	return id, nil
}

// pageAfter is the same query for the page behind a row.
func pageAfter(u *url.URL, row int64) string {
	query := u.Query()
	query.Del("offset")
	query.Set("after", strconv.FormatInt(row, 10))
	return u.EscapedPath() + "?" + query.Encode()
}
