package settings

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/ui"
)

// ages are how long a new token may be good, as the form offers it.
var ages = []struct {
	name, text string
	months     int // 0 for ever
}{
	{"6", "in 6 months", 6}, {"12", "in a year", 12}, {"1", "in a month", 1}, {"never", "never", 0},
}

// tokenAdd handles POST /projects/:project/settings/tokens: it makes a token and shows it.
func (p *pages) tokenAdd(c echo.Context) error {
	v, err := form(c, "name", "expires")
	if err != nil {
		return err
	}
	t := accountstore.Token{Name: v.form["name"], CreatedBy: ui.ActorOfForm(c)}
	t.Scopes, err = accounts.ScopesOf(c.Request().Form["scope"])
	if err == nil {
		t.ExpiresAt, err = expiry(v.form["expires"], time.Now())
	}
	if err != nil {
		return p.after(c, v, err, "")
	}
	secret, prefix := accounts.NewToken()
	t.Prefix = prefix
	if _, err := accountstore.CreateToken(c.Request().Context(), p.store, v.project, &t, secret); err != nil {
		return p.after(c, v, err, "")
	}
	v.made, v.form = secret.Text, nil
	return p.show(c, http.StatusOK, v)
}

func expiry(name string, now time.Time) (*time.Time, error) {
	for _, age := range ages {
		switch {
		case age.name != name:
		case age.months == 0:
			return nil, nil
		default:
			end := now.AddDate(0, age.months, 0)
			return &end, nil
		}
	}
	return nil, &leaks.FieldError{Field: "expires", Message: "must be one of the choices"}
}

// tokenRevoke handles POST /projects/:project/settings/tokens/:number: it revokes the token.
func (p *pages) tokenRevoke(c echo.Context) error {
	project, err := ui.NameInPath(c, "project")
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("number"), 10, 64)
	if err != nil {
		return store.ErrNotFound
	}
	if err := accountstore.RevokeToken(c.Request().Context(), p.store, project, id, ui.ActorOfForm(c)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, string(ui.SettingsURL(project))+"#tokens")
}
