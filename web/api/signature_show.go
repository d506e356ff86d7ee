package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
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
	Lines      []lineView      `json:"lines"` // on which it was bad, that of the default branch first
}

// evidenceOfLeak is the gravest finding of the newest build: why it has its class, by which kinds of evidence.
type evidenceOfLeak struct {
	Run     int64                 `json:"run"`
	Clauses []score.Clause        `json:"clauses"`
	ByKind  []analysis.KindResult `json:"witnesses"`
	Pooled  *pooledView           `json:"pooled"` // null where the run stands for itself
	Own     *leaks.Rating         `json:"own"`    // what the run says by itself; null where it stands for itself
}

// pooledView is the judgement on several runs of a scenario together.
type pooledView struct {
	Runs    int      `json:"runs"`
	Score   float64  `json:"score"`
	Leaks   bool     `json:"leaks"`
	Certain bool     `json:"certain"`
	Builds  []string `json:"builds"` // oldest first
	// Onset compares them with the runs before; null where there are none.
	Onset *score.Onset `json:"onset"`
	// Work compares runs of the build with different work; null where there are none.
	Work *leaks.WorkComparison `json:"work"`
}

func viewOfEvidence(f *store.Finding) *evidenceOfLeak {
	v := &evidenceOfLeak{Run: f.RunID, Clauses: filled(f.Clauses), ByKind: filled(f.ByKind)}
	if p := f.Pooled; p != nil && (p.Runs > 1 || p.Onset != nil || p.Work != nil) {
		v.Own, v.Pooled = f.Alone, &pooledView{p.Runs, p.Score, p.Leaks, p.Certain, p.Builds, p.Onset, p.Work}
	}
	return v
}

type buildView struct {
	Build    string `json:"build"`
	Sequence *int64 `json:"sequence"`
	Branch   string `json:"branch"`
	Commit   string `json:"commit,omitempty"`
	Pinned   bool   `json:"pinned"`
}

type outcomeView struct {
	Build     string `json:"build"`
	Scenario  string `json:"scenario"`
	Runs      int    `json:"runs"`
	Seen      int    `json:"seen"` // runs that show it
	Run       int64  `json:"run"`
	Exercised bool   `json:"exercised"`
	// Absent is the frame that proves that the leak is gone where no run shows it; null where nothing proves it.
	Absent *absentView `json:"absent"`
	figuresView
}

// absentView is a frame by which callers of a leak ran in a build that shows nothing of it.
type absentView struct {
	Frame    string `json:"frame"`
	Stacks   int    `json:"stacks"` // that hold it
	Sentence string `json:"sentence"`
}

func viewOfAbsent(o *leaks.Outcome) *absentView {
	if !o.IsAbsent() {
		return nil
	}
	return &absentView{o.Absent.Frame, o.Absent.Stacks, o.Absent.Text(o.Build)}
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
	Verified  bool      `json:"verified"` // whether the actor was logged in
	Text      string    `json:"text"`
	At        time.Time `json:"at"`
	Signature string    `json:"signature"` // that it was written under
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
	detail, err := store.Read(ctx, a.store,
		func(v store.View) (*signatureDetail, error) { return readSignature(ctx, v, project, signature) })
	if err != nil {
		return err
	}
	c.Response().Header().Set("ETag", versionTag(detail.Version))
	return fresh(c, status, detail)
}

func readSignature(ctx context.Context, v store.View, project, signature string) (*signatureDetail, error) {
	history, err := v.FindHistory(ctx, project, signature)
	if err != nil {
		return nil, err
	}
	aliases, err := v.ListAliases(ctx, project, signature)
	if err != nil {
		return nil, err
	}
	comments, err := v.ListComments(ctx, project, signature)
	if err != nil {
		return nil, err
	}
	return viewOfHistory(project, history, aliases, comments), nil
}

func viewOfHistory(project string, history *store.History, aliases []store.Alias,
	comments []store.Comment) *signatureDetail {
	d := &signatureDetail{
		signatureView: viewOfSignature(project, &history.Signature),
		Builds:        []buildView{}, History: []outcomeView{}, Aliases: []aliasView{}, Discussion: []commentView{},
		Lines: viewOfLines(history.Lines),
	}
	for _, b := range history.Builds {
		d.Builds = append(d.Builds, buildView{b.Name, b.Sequence, b.Branch, b.Commit, b.Pinned})
	}
	for i := range history.Outcomes {
		o := &history.Outcomes[i]
		d.History = append(d.History,
			outcomeView{o.Build, o.Scenario, o.Runs, o.RunsShowing, o.RunID, o.Exercised, viewOfAbsent(o),
				viewOfFigure(&o.Figure)})
	}
	if f := history.Explained; f != nil {
		d.Evidence = viewOfEvidence(f)
	}
	for _, alias := range aliases {
		d.Aliases = append(d.Aliases, aliasView{alias.Text, alias.Title, alias.By, alias.At})
	}
	for _, comment := range comments {
		d.Discussion = append(d.Discussion,
			commentView{comment.ID, comment.Actor, comment.Verified, comment.Text, comment.At, comment.Signature})
	}
	return d
}
