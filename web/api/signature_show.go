package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/store"
)

// signatureDetail is a leak with its history and what was written about it.
type signatureDetail struct {
	signatureView
	Evidence   *evidenceOfLeak `json:"evidence"` // null where no run shows it any more
	Builds     []buildView     `json:"builds"`   // with results, oldest first
	History    []outcomeView   `json:"history"`  // by build, then by scenario
	Aliases    []aliasView     `json:"aliases"`
	Discussion []commentView   `json:"discussion"`
}

// evidenceOfLeak is the gravest finding of the newest build: why it has its class, by which kinds of evidence.
type evidenceOfLeak struct {
	Run       int64              `json:"run"`
	Clauses   []score.Clause     `json:"clauses"`
	Witnesses []analysis.Witness `json:"witnesses"`
}

type buildView struct {
	Build    string `json:"build"`
	Sequence *int64 `json:"sequence"`
	Branch   string `json:"branch"`
	Pinned   bool   `json:"pinned"`
}

type outcomeView struct {
	Build     string `json:"build"`
	Scenario  string `json:"scenario"`
	Runs      int    `json:"runs"`
	Seen      int    `json:"seen"` // runs that show it
	Run       int64  `json:"run"`
	Exercised bool   `json:"exercised"`
	figuresView
}

type aliasView struct {
	Signature string    `json:"signature"`
	Title     string    `json:"title"`
	By        string    `json:"by"`
	At        time.Time `json:"at"`
}

type commentView struct {
	ID        int64     `json:"id"`
	Actor     string    `json:"actor"`
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
	Signature string    `json:"signature"` // that it was written under
}

type auditView struct {
	ID        int64           `json:"id"`
	Actor     string          `json:"actor"` // "" for what followed from runs
	Action    string          `json:"action"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
	At        time.Time       `json:"at"`
	Signature string          `json:"signature"`
}

// signatureShow handles GET /api/v1/projects/:project/signatures/:signature: the history of one leak.
func (a *API) signatureShow(c echo.Context) error {
	project, signature, err := signatureOf(c)
	if err != nil {
		return err
	}
	return a.sendSignature(c, http.StatusOK, project, signature)
}

// signatureOf is the project and the signature in the address.
func signatureOf(c echo.Context) (project, signature string, err error) {
	if project, err = pathText(c, "project"); err != nil {
		return "", "", err
	}
	signature, err = pathText(c, "signature")
	return project, signature, err
}

func (a *API) sendSignature(c echo.Context, status int, project, signature string) error {
	ctx := c.Request().Context()
	detail, err := store.Read(ctx, a.store, func(v store.View) (*signatureDetail, error) { return readSignature(ctx, v, project, signature) })
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", versionTag(detail.Version))
	return fresh(c, status, detail)
}

func readSignature(ctx context.Context, v store.View, project, signature string) (*signatureDetail, error) {
	history, err := v.SignatureHistory(ctx, project, signature)
	if err != nil {
		return nil, err
	}
	aliases, err := v.Aliases(ctx, project, signature)
	if err != nil {
		return nil, err
	}
	comments, err := v.Comments(ctx, project, signature)
	if err != nil {
		return nil, err
	}
	return viewOfHistory(project, history, aliases, comments), nil
}

func viewOfHistory(project string, history *store.History, aliases []store.Alias, comments []store.Comment) *signatureDetail {
	d := &signatureDetail{
		signatureView: viewOfSignature(project, &history.Signature),
		Builds:        []buildView{}, History: []outcomeView{}, Aliases: []aliasView{}, Discussion: []commentView{},
	}
	for _, b := range history.Builds {
		d.Builds = append(d.Builds, buildView{b.Name, b.Sequence, b.Branch, b.Pinned})
	}
	for i := range history.Outcomes {
		o := &history.Outcomes[i]
		d.History = append(d.History, outcomeView{o.Build, o.Scenario, o.Runs, o.Findings, o.Run, o.Exercised, viewOfFigure(&o.Figure)})
	}
	if f := history.Explained; f != nil {
		d.Evidence = &evidenceOfLeak{f.Run, filled(f.Clauses), filled(f.Witnesses)}
	}
	for _, alias := range aliases {
		d.Aliases = append(d.Aliases, aliasView{alias.Text, alias.Title, alias.By, alias.At})
	}
	for _, comment := range comments {
		d.Discussion = append(d.Discussion, commentView{comment.ID, comment.Actor, comment.Text, comment.At, comment.Signature})
	}
	return d
}

// signatureAudit handles GET /api/v1/projects/:project/signatures/:signature/audit: who changed what, newest first.
func (a *API) signatureAudit(c echo.Context) error {
	project, signature, err := signatureOf(c)
	if err != nil {
		return err
	}
	var q store.AuditQuery
	if q.Limit, err = whole(c, "limit", defaultSignatures, 1, maxSignatures); err != nil {
		return err
	}
	if q.Offset, err = whole(c, "offset", 0, 0, maxOffset); err != nil {
		return err
	}
	if q.After, err = afterParam(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	rows, err := store.Read(ctx, a.store, func(v store.View) ([]store.AuditRow, error) { return v.Audit(ctx, project, signature, q) })
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
	return fresh(c, http.StatusOK, view)
}

func viewOfAudit(r *store.AuditRow) auditView {
	return auditView{r.ID, r.Actor, r.Action, object(r.Before), object(r.After), r.At, r.Signature}
}

// object is a JSON object that is shown as an empty one where there is none.
func object(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("{}")
	}
	return text
}
