package api

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

const (
	defaultSignatures = 50
	maxSignatures     = 500
	maxOffset         = 1 << 24
)

// signatureClasses are what the list may be asked for; "" is what ever leaked or grew.
var signatureClasses = []string{"", "all", "leak", "growing", "cache", "one-time", "transient", "stable", "unknown"}

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
	page, err := a.store.Signatures(c.Request().Context(), q)
	if err != nil {
		return err
	}
	view := struct {
		Project    string              `json:"project"`
		Total      int                 `json:"total"`
		Counts     map[store.State]int `json:"counts"`
		Owners     []string            `json:"owners"`
		Signatures []signatureView     `json:"signatures"`
		Next       string              `json:"next,omitempty"`
	}{Project: project, Total: page.Total, Counts: map[store.State]int{}, Owners: filled(page.Owners), Signatures: []signatureView{}}
	for _, state := range store.States {
		view.Counts[state] = page.Counts[state]
	}
	for i := range page.Rows {
		view.Signatures = append(view.Signatures, viewOfSignature(project, &page.Rows[i].Signature))
	}
	if next := q.Offset + len(page.Rows); next < page.Total && len(page.Rows) > 0 {
		view.Next = nextPage(c.Request().URL, next)
	}
	return fresh(c, http.StatusOK, view)
}

func signatureQuery(c echo.Context, project string) (store.SignatureQuery, error) {
	q := store.SignatureQuery{Project: project}
	states := []string{"all"}
	for _, s := range store.States {
		states = append(states, string(s))
	}
	state, err := oneOf(c, "state", states...)
	if err != nil {
		return q, err
	}
	if state != "all" {
		q.State = store.State(state)
	}
	if q.Class, err = oneOf(c, "class", signatureClasses...); err != nil {
		return q, err
	}
	order, err := oneOf(c, "sort", string(store.BySignatureScore), string(store.BySignatureGrowth), string(store.BySignatureLastSeen), string(store.BySignatureFirstBad))
	if err != nil {
		return q, err
	}
	q.Order = store.SignatureOrder(order)
	for name, into := range map[string]*string{"owner": &q.Owner, "scenario": &q.Scenario, "q": &q.Text} {
		if *into, err = textParam(c, name); err != nil {
			return q, err
		}
	}
	if q.Limit, err = whole(c, "limit", defaultSignatures, 1, maxSignatures); err != nil {
		return q, err
	}
	q.Offset, err = whole(c, "offset", 0, 0, maxOffset)
	return q, err
}

// nextPage is the same query from another offset on.
func nextPage(u *url.URL, offset int) string {
	query := u.Query()
	query.Set("offset", strconv.Itoa(offset))
	return u.EscapedPath() + "?" + query.Encode()
}
