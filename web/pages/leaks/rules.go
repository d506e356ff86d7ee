package leaks

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

// rules handles GET /projects/:project/rules: the rule file to edit; version= shows an older one, add= proposes lines.
func (p *pages) rules(c echo.Context) error {
	v, err := p.rulesView(c, nil)
	if err != nil {
		return err
	}
	v.saved = c.QueryParam("saved") != ""
	v.shown = v.current
	if version, err := strconv.Atoi(c.QueryParam("version")); err == nil {
		for _, file := range v.versions {
			if file.Version == version {
				v.text, v.shown = file.Text, version
			}
		}
	}
	if lines, err := leaks.NormalizeLines(c.QueryParam("add")); err == nil && strings.TrimSpace(lines) != "" &&
		len(lines) <= ui.MaxFormBytes {
		v.proposed = strings.Split(strings.TrimSpace(lines), "\n")
		v.text = leaks.AppendRules(v.text, v.proposed)
	}
	return ui.Render(c, http.StatusOK, rulesPage(v))
}

type rulesView struct {
	ui.Frame
	project  string
	text     string // in the editor
	note     string
	actor    string
	current  int // version; 0 for none yet
	shown    int // version in the editor
	versions []store.RuleFile
	saved    bool
	conflict bool
	proposed []string
	errors   []problem.LineProblem
	preview  *leaks.RulesPreview
	imported *importedRules
}

// importedRules are what a file of another tool was translated to.
type importedRules struct {
	lines    int
	rejected []problem.LineProblem
}

// rulesView reads the rules of the project in the address, and in the same View what also reads; nil for nothing.
func (p *pages) rulesView(c echo.Context, also func(from store.View, project string) error) (rulesView, error) {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return rulesView{}, err
	}
	v := rulesView{Frame: ui.FrameOf(c, "Rules of "+project), project: project, actor: ui.RememberedActor(c)}
	v.Crumbs = []ui.Crumb{{Text: project, URL: ui.ProjectURL(project)}, {Text: "Rules"}}
	ctx := c.Request().Context()
	err = p.store.View(ctx, func(from store.View) (err error) {
		if v.versions, err = from.ListRules(ctx, project); err != nil || also == nil {
			return err
		}
		return also(from, project)
	})
	if len(v.versions) > 0 { // the newest first
		v.text, v.current, v.shown = v.versions[0].Text, v.versions[0].Version, v.versions[0].Version
	}
	return v, err
}

// rulesPost handles POST /projects/:project/rules: the buttons that try and that save what is in the editor.
func (p *pages) rulesPost(c echo.Context) error {
	if err := ui.ParseForm(c, 3*leaks.MaxRuleFileBytes+ui.MaxFormBytes); err != nil { // the form escapes what is no letter
		return err
	}
	ctx, save := c.Request().Context(), c.FormValue("do") == "save"
	var trial *leaks.RuleTrial
	readTrial := func(from store.View, project string) (err error) {
		trial, err = from.FindRuleTrial(ctx, project)
		return err
	}
	if save {
		readTrial = nil
	}
	v, err := p.rulesView(c, readTrial)
	if err != nil {
		return err
	}
	v.text, v.note = c.FormValue("text"), strings.TrimSpace(ui.Printable(c.FormValue("note")))
	version, err := strconv.ParseInt(c.FormValue("version"), 10, 32)
	if err != nil || version < 0 || len(v.text) > leaks.MaxRuleFileBytes {
		return problem.New(http.StatusUnprocessableEntity, "invalid-form",
			"the form is out of date or its text too long; reload the page")
	}
	actor := ui.ActorOfForm(c)
	if save {
		if v.text, err = leaks.NormalizeLines(v.text); err == nil {
			_, _, err = p.store.CreateRules(ctx, v.project,
				store.RuleChange{Text: v.text, Author: actor, Note: v.note, Version: version})
		}
		if err == nil {
			return c.Redirect(http.StatusSeeOther, string(ui.RulesURL(v.project))+"?saved=1")
		}
	} else {
		v.preview, v.text, err = tryRules(ctx, trial, v.text)
	}
	return p.rulesAgain(c, v, err)
}

// tryRules says what the rules would move.
func tryRules(ctx context.Context, trial *leaks.RuleTrial, text string) (*leaks.RulesPreview, string, error) {
	clean, err := leaks.NormalizeLines(text)
	if err != nil {
		return nil, text, err
	}
	rules, err := blame.ParseRules(clean)
	if err != nil {
		return nil, clean, err
	}
	preview, err := trial.Preview(ctx, rules)
	return preview, clean, err
}

// rulesAgain shows the editor with what became of the form.
func (p *pages) rulesAgain(c echo.Context, v rulesView, err error) error {
	if err == nil {
		return ui.Render(c, http.StatusOK, rulesPage(v))
	}
	told := problem.FromError(err)
	switch {
	case told.Status >= http.StatusInternalServerError:
		return err
	case errors.Is(err, store.ErrConflict):
		v.conflict = true
	case len(told.Lines) > 0:
		v.errors = told.Lines
	default:
		v.errors = []problem.LineProblem{{Message: told.Detail}}
	}
	return ui.Render(c, told.Status, rulesPage(v))
}

// rulesImport handles POST /projects/:project/rules/import: what a file of another tool becomes stands in the editor
// behind the present rules, to be saved or not.
func (p *pages) rulesImport(c echo.Context) error {
	form, err := ui.MultipartForm(c)
	if err != nil {
		return err
	}
	var kind, text string
	err = readImport(form, &kind, &text)
	if err != nil {
		return err
	}
	v, err := p.rulesView(c, nil)
	if err != nil {
		return err
	}
	text, err = leaks.NormalizeLines(text)
	if err != nil {
		return p.rulesAgain(c, v, err)
	}
	made, err := leaks.ImportRules(kind, text)
	if err != nil {
		return p.rulesAgain(c, v, err)
	}
	v.imported = &importedRules{len(made.Rules), problem.RejectedLines(&made)}
	v.text = leaks.AppendRules(v.text, made.Rules)
	return ui.Render(c, http.StatusOK, rulesPage(v))
}

// readImport reads the form of an import: the kind, and a text that is pasted or in a file, whichever has something.
func readImport(form *multipart.Reader, kind, text *string) error {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return ui.FormError(err)
		}
		value, err := io.ReadAll(io.LimitReader(part, leaks.MaxRuleFileBytes+1))
		switch {
		case err != nil:
			return ui.FormError(err)
		case len(value) > leaks.MaxRuleFileBytes:
			return problem.New(http.StatusRequestEntityTooLarge, problem.CodeTooLarge, "a file to import has at most 1 MB")
		case part.FormName() == "kind":
			*kind = ui.Printable(string(value))
		case len(value) > 0 && (part.FormName() == "import" || part.FormName() == "file"):
			*text = string(value)
		}
	}
}

// lines are the versions as the page lists them.
func (v rulesView) lines() []version {
	list := make([]version, len(v.versions))
	for i := range v.versions {
		f := &v.versions[i]
		list[i] = version{f.Version, ui.RuleVersionURL(v.project, f.Version), f.Note, f.Author, f.Verified, f.At}
	}
	return list
}
