package account

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/ui"
)

// SetupPath is the path of the page that a link of this text opens, which makes an account.
func SetupPath(link string) string { return "/setup/" + link }

type setupView struct {
	ui.Frame
	code  string
	owner string // of the account; "" for a new one
	name  string
	wrong map[string]string
}

// setup handles GET /setup/:code: who opens the link chooses a password, and a name where the account is new.
func (p *pages) setup(c echo.Context) error {
	v, _, err := p.setupViewOf(c)
	if err != nil {
		return err
	}
	return renderSecret(c, http.StatusOK, setupPage(v))
}

func (p *pages) setupViewOf(c echo.Context) (*setupView, []byte, error) {
	digest, ok := accounts.LinkDigest(c.Param("code"))
	if !ok {
		return nil, nil, store.ErrNotFound
	}
	ctx := c.Request().Context()
	owner, err := store.Read(ctx, p.store, func(v store.View) (string, error) {
		return accountstore.FindLinkOwner(ctx, v, digest)
	})
	v := &setupView{Frame: ui.FrameOf(c, "Open your account"), code: c.Param("code"), owner: owner,
		wrong: map[string]string{}}
	return v, digest, err
}

// setupPost handles POST /setup/:code: it uses the link up and logs in.
func (p *pages) setupPost(c echo.Context) error {
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	v, digest, err := p.setupViewOf(c)
	if err != nil {
		return err
	}
	v.name = strings.TrimSpace(ui.Printable(c.FormValue("name")))
	if c.FormValue("password") != c.FormValue("again") {
		v.wrong["again"] = "the passwords differ"
	}
	if v.owner == "" {
		note(v.wrong, accounts.CheckUserName(v.name))
	}
	note(v.wrong, accounts.CheckPassword(c.FormValue("password")))
	if len(v.wrong) > 0 {
		return renderSecret(c, http.StatusUnprocessableEntity, setupPage(v))
	}
	ctx := c.Request().Context()
	hash, err := accounts.HashPassword(ctx, c.FormValue("password"))
	if err != nil {
		return err
	}
	user, err := accountstore.UseLink(ctx, p.store, digest, v.name, hash)
	if err != nil {
		if note(v.wrong, err) {
			return renderSecret(c, http.StatusUnprocessableEntity, setupPage(v))
		}
		return err
	}
	return p.enter(c, &user, "/")
}

// renderSecret answers with a page that no cache keeps, also not that of the browser: it belongs to a secret.
func renderSecret(c echo.Context, status int, page templ.Component) error {
	header := c.Response().Header()
	header.Set("Referrer-Policy", "no-referrer")
	return ui.RenderOnce(c, status, page)
}
