package api

import (
	"encoding/json"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
)

type auditView struct {
	ID        int64           `json:"id"`
	Actor     string          `json:"actor"`    // "" for what followed from runs
	Verified  bool            `json:"verified"` // whether the actor was logged in; else the name is as somebody typed it
	Action    string          `json:"action"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
	At        time.Time       `json:"at"`
	Signature string          `json:"signature"` // "" in the audit of a project
}

// signatureAudit handles GET /api/v1/projects/:project/signatures/:signature/audit: who changed what, newest first.
func (a *API) signatureAudit(c echo.Context) error {
	project, signature, err := signatureOf(c)
	if err != nil {
		return err
	}
	return a.sendAudit(c, "audit-"+project+"-"+signature,
		func(v store.View, q store.AuditPage) ([]store.AuditRow, error) {
			return v.ListSignatureChanges(c.Request().Context(), project, signature, q)
		})
}

// projectAudit handles GET /api/v1/projects/:project/audit: what became of the project but for its signatures, newest
// first.
func (a *API) projectAudit(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	return a.sendAudit(c, "audit-"+project, func(v store.View, q store.AuditPage) ([]store.AuditRow, error) {
		return v.ListProjectChanges(c.Request().Context(), project, q)
	})
}

// serverAudit handles GET /api/v1/audit: what became of accounts, and of projects that are gone, newest first.
func (a *API) serverAudit(c echo.Context) error {
	return a.sendAudit(c, "audit", func(v store.View, q store.AuditPage) ([]store.AuditRow, error) {
		return v.ListServerChanges(c.Request().Context(), q)
	})
}

// sendAudit answers with the page of an audit that the query asks for; name is that of its file.
func (a *API) sendAudit(c echo.Context, name string,
	read func(store.View, store.AuditPage) ([]store.AuditRow, error)) error {
	var q store.AuditPage
	var err error
	if q.Limit, err = whole(c, "limit", defaultSignatures, 1, maxSignatures); err != nil {
		return err
	}
	if q.Offset, err = whole(c, "offset", 0, 0, maxOffset); err != nil {
		return err
	}
	if q.AfterID, err = afterParam(c); err != nil {
		return err
	}
	rows, err := store.Read(c.Request().Context(), a.store,
		func(v store.View) ([]store.AuditRow, error) { return read(v, q) })
	if err != nil {
		return err
	}
	view := struct {
		Audit []auditView `json:"audit"`
		Next  string      `json:"next,omitempty"`
	}{Audit: []auditView{}}
	for i := range rows {
		view.Audit = append(view.Audit, viewOfAudit(&rows[i]))
	}
	if len(rows) == q.Limit {
		view.Next = pageAfter(c.Request().URL, rows[len(rows)-1].ID)
	}
	return sendList(c, view, view.Audit, name, view.Next)
}

func viewOfAudit(r *store.AuditRow) auditView {
	return auditView{r.ID, r.Actor, r.Verified, r.Action, object(r.Before), object(r.After), r.At, r.Signature}
}

// object is a JSON object that is shown as an empty one where there is none.
func object(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}
