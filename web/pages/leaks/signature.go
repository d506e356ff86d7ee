package leaks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	// auditShown is how many changes of a signature its page lists.
	auditShown = 50
	// historyShown is how many builds the history of a signature shows before the rest folds.
	historyShown = 20
)

// signature handles GET /projects/:project/signatures/:signature: what is known of one leak, and what the team says of
// it.
func (p *pages) signature(c echo.Context) error {
	project, text, err := signatureInPath(c)
	if err != nil {
		return err
	}
	return p.sendSignature(c, http.StatusOK, project, text, nil)
}

// signatureInPath is the project and the signature that an address names.
func signatureInPath(c echo.Context) (project, signature string, err error) {
	if project, err = ui.NameInPath(c, "project"); err != nil {
		return "", "", err
	}
	signature, err = ui.NameInPath(c, "signature")
	return project, signature, err
}

// sendSignature answers with the page of a signature. wrong is the refusal of a form of the page, nil for none.
func (p *pages) sendSignature(c echo.Context, status int, project, text string, wrong *refusal) error {
	ctx, form := c.Request().Context(), openFormOf(c)
	view, err := store.Read(ctx, p.store,
		func(v store.View) (signatureView, error) { return readSignature(ctx, v, project, text, form) })
	if err != nil {
		return err
	}
	if view.form != nil {
		if err := p.previewForm(c, project, view.Text, view.form); err != nil {
			return err
		}
	}
	view.Frame = ui.FrameOf(c, view.title.Whole)
	view.Crumbs = []ui.Crumb{{Text: project, URL: ui.ProjectURL(project)}, {Text: "Leaks", URL: ui.ProjectURL(project)},
		{Text: view.title.Name.Name}}
	view.trend = view.historyOf(c)
	view.actor, view.wrong = ui.RememberedActor(c), wrong
	return ui.Render(c, status, signaturePage(view))
}

// A refusal says why a form changed nothing.
type refusal struct{ field, message string }

// A signatureView is what the page of a signature shows.
type signatureView struct {
	ui.Frame
	project string
	store.Signature
	title    ui.LeakTitle
	history  *store.History
	aliases  []store.Alias
	comments []store.Comment
	audit    []store.AuditRow
	stack    *ui.LayeredStack // that explains the signature; nil without one
	variants *variants        // nil where no run shows a stack
	kinds    *kindSummaries   // nil where no run shows it
	commits  templ.SafeURL    // what lies between the last clean build and the first bad one; "" where nobody says
	trend    *ui.Trend        // nil where there is nothing to draw
	changes  bool             // the reader may change what the team says
	form     *openForm        // the form that is open; nil for none
	actor    string
	wrong    *refusal
}

func readSignature(ctx context.Context, from store.View, project, text string, form *openForm) (signatureView, error) {
	v := signatureView{project: project}
	var err error
	if v.history, err = from.FindHistory(ctx, project, text); err != nil {
		return v, err
	}
	id, err := from.FindProjectID(ctx, project)
	if err != nil {
		return v, err
	}
	v.changes = accounts.ActorFrom(ctx).May(accounts.Change, id)
	v.Signature = v.history.Signature
	if v.changes && form != nil {
		v.form = form
		form.begin(&v.Triage)
		if form.owners, err = from.ListOwners(ctx, project); err != nil {
			return v, err
		}
	}
	v.title = ui.TitleOf(v.Title)
	if v.aliases, err = from.ListAliases(ctx, project, v.Text); err != nil {
		return v, err
	}
	if v.comments, err = from.ListComments(ctx, project, v.Text); err != nil {
		return v, err
	}
	if v.audit, err = from.ListSignatureChanges(ctx, project, v.Text, store.AuditPage{Limit: auditShown}); err != nil {
		return v, err
	}
	if v.stack, err = explainedStack(ctx, from, &v); err != nil {
		return v, err
	}
	links, err := from.FindSourceLinks(ctx, project)
	if err != nil {
		return v, err
	}
	if v.variants, err = variantsOf(ctx, from, &v, links); err != nil {
		return v, err
	}
	if v.commits, err = ui.CommitsBetween(ctx, from, links, project, v.LastClean, v.FirstBad); err != nil {
		return v, err
	}
	v.kinds, err = kindSummariesOf(ctx, from, &v)
	return v, err
}

// explainedStack is the stack of the site by which the gravest run explains the signature.
func explainedStack(ctx context.Context, from store.View, v *signatureView) (*ui.LayeredStack, error) {
	f := v.history.Explained
	if f == nil {
		return nil, nil
	}
	sites, _, err := from.ListSites(ctx, store.SiteQuery{RunID: f.RunID, Filter: f.Own, Limit: 1})
	if err != nil || len(sites) == 0 || sites[0].StackID == nil || sites[0].Signature != v.Text {
		return nil, err
	}
	frames, err := from.ListStackFrames(ctx, []int64{*sites[0].StackID})
	if err != nil {
		return nil, err
	}
	return ui.LayeredStackOf(v.project, frames[*sites[0].StackID], v.Frames), nil
}

// since says in which interval the leak came.
func (v signatureView) since() string {
	switch {
	case v.FirstBad == "":
		return "The leak was seen in no build."
	case v.LastClean == "":
		return fmt.Sprintf("First seen in %s. No older build was tested for it.", v.FirstBad)
	}
	return fmt.Sprintf("First seen in %s. Clean in %s, which ran its callers.", v.FirstBad, v.LastClean)
}

// later says what became of it since.
func (v signatureView) later() string {
	var parts []string
	if v.LastBad != "" {
		parts = append(parts, "last leaked in build "+v.LastBad)
	}
	if v.LastSeen != "" && v.LastSeen != v.LastBad {
		parts = append(parts, "last exercised in build "+v.LastSeen)
	}
	if v.FixedIn != "" {
		parts = append(parts, "fixed in build "+v.FixedIn)
	}
	if v.RegressedIn != "" {
		parts = append(parts, "leaks again since build "+v.RegressedIn)
	}
	return strings.Join(parts, ", ")
}

// A historyBuild is a build with what its scenarios say.
type historyBuild struct {
	store.BuildRef
	outcomes []leaks.Outcome
}

// byBuild is the history, newest build first. Builds that ran none of the scenarios are left out.
func (v signatureView) byBuild() []historyBuild {
	outcomes := map[string][]leaks.Outcome{}
	for _, o := range v.history.Outcomes {
		outcomes[o.Build] = append(outcomes[o.Build], o)
	}
	var list []historyBuild
	for _, b := range slices.Backward(v.history.Builds) {
		if len(outcomes[b.Name]) > 0 {
			list = append(list, historyBuild{b, outcomes[b.Name]})
		}
	}
	return list
}

// cameURL compares the builds between which the leak came.
func (v signatureView) cameURL() templ.SafeURL {
	scenario := ""
	for _, o := range v.history.Outcomes {
		if o.Build == v.FirstBad && o.IsBad() {
			scenario = o.Scenario
		}
	}
	return ui.CompareURL(v.project, scenario, v.LastClean, v.FirstBad)
}

// whatChanged describes an audit row in words.
func whatChanged(r store.AuditRow) string {
	before, after := fieldsOf(r.Before), fieldsOf(r.After)
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := fieldText(before[name]), fieldText(after[name]); was != is {
			parts = append(parts, fmt.Sprintf("%s: %s → %s", strings.ReplaceAll(name, "_", " "), was, is))
		}
	}
	return strings.Join(parts, "; ")
}

// fieldsOf are the fields of a JSON object; what is no object has none.
func fieldsOf(text json.RawMessage) map[string]any {
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	return fields
}

func fieldText(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case string:
		return ui.OrDash(v)
	case bool, float64:
		return fmt.Sprint(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "…"
	}
	return string(text)
}

// ticketURL is the ticket of a signature as a link, where it is one that browsers may follow.
func ticketURL(ticket string) (templ.SafeURL, bool) {
	return templ.SafeURL(ticket), leaks.IsTicketLink(ticket)
}
