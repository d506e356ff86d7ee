package settings

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/ui"
)

type settingsView struct {
	ui.Frame
	project string
	members []accountstore.Membership
	tokens  []accountstore.Token
	audit   []store.AuditRow
	sources leaks.SourceLinks
	// retention is what the project says, and hold its legal hold, nil for none.
	retention leaks.Retention
	hold      *leaks.Hold
	now       time.Time
	// made is a new token: it is shown once.
	made  string
	form  map[string]string // what was typed, by the field's name
	wrong map[string]string // what is wrong with a field
}

// settings handles GET /projects/:project/settings.
func (p *pages) settings(c echo.Context) error {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	return p.show(c, http.StatusOK, &settingsView{project: project})
}

// shownAudit is how many lines of the audit the page shows.
const shownAudit = 20

func (p *pages) show(c echo.Context, status int, v *settingsView) error {
	ctx := c.Request().Context()
	v.Frame, v.now = ui.FrameOf(c, "Settings of "+v.project), time.Now()
	v.Crumbs = []ui.Crumb{{Text: v.project, URL: ui.ProjectURL(v.project)}, {Text: "settings"}}
	err := p.store.View(ctx, func(view store.View) (err error) {
		if v.members, err = accountstore.ListMembers(ctx, view, v.project); err != nil {
			return err
		}
		if v.tokens, err = accountstore.ListTokens(ctx, view, v.project); err != nil {
			return err
		}
		if v.sources, err = view.FindSourceLinks(ctx, v.project); err != nil {
			return err
		}
		if v.retention, err = view.FindRetention(ctx, v.project); err != nil {
			return err
		}
		if v.hold, err = view.FindProjectHold(ctx, v.project); err != nil {
			return err
		}
		v.audit, err = view.ListProjectChanges(ctx, v.project, store.AuditPage{Limit: shownAudit})
		return err
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return ui.RenderOnce(c, status, settingsPage(v))
}

// form reads a form of the page.
func form(c echo.Context, fields ...string) (*settingsView, error) {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return nil, err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return nil, err
	}
	v := &settingsView{project: project, form: map[string]string{}, wrong: map[string]string{}}
	for _, name := range fields {
		v.form[name] = strings.TrimSpace(ui.Printable(c.FormValue(name)))
	}
	return v, nil
}

// after shows what became of a form: the page again with what is wrong, or the page anew.
func (p *pages) after(c echo.Context, v *settingsView, err error, to string) error {
	var field *leaks.FieldError
	switch {
	case errors.As(err, &field):
		v.wrong[field.Field] = field.Message
		return p.show(c, http.StatusUnprocessableEntity, v)
	case err != nil:
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// memberSet handles POST /projects/:project/settings/members: a role for a user, or none.
func (p *pages) memberSet(c echo.Context) error {
	v, err := form(c, "user", "role")
	if err != nil {
		return err
	}
	role := accounts.Role("")
	if v.form["role"] != "none" {
		role, err = accounts.RoleOf(v.form["role"])
	}
	if err == nil {
		err = accountstore.UpdateMember(c.Request().Context(), p.store, v.project, v.form["user"], role, ui.ActorOfForm(c))
	}
	if errors.Is(err, store.ErrNotFound) {
		err = &leaks.FieldError{Field: "user", Message: "no account has this name; ask a server admin to create it"}
	}
	return p.after(c, v, err, string(ui.SettingsURL(v.project))+"#members")
}
