package account

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/ui"
)

type accountsView struct {
	ui.Frame
	list  []accountstore.User
	self  *accounts.Actor
	name  string
	email string
	wrong map[string]string
	// link is a new one, and owner whose it is: it is shown once.
	link, owner string
}

// accounts handles GET /accounts: everybody who may log in.
func (p *pages) accounts(c echo.Context) error {
	return p.showAccounts(c, http.StatusOK, &accountsView{})
}

func (p *pages) showAccounts(c echo.Context, status int, v *accountsView) error {
	ctx := c.Request().Context()
	v.Frame, v.self = ui.FrameOf(c, "Accounts"), accounts.ActorFrom(ctx)
	v.Tab = "accounts"
	if v.wrong == nil {
		v.wrong = map[string]string{}
	}
	var err error
	if v.list, err = store.Read(ctx, p.store,
		func(view store.View) ([]accountstore.User, error) { return accountstore.ListUsers(ctx, view) }); err != nil {
		return err
	}
	return renderSecret(c, status, accountsPage(v))
}

// accountAdd handles POST /accounts: a new account, whose link the page shows.
func (p *pages) accountAdd(c echo.Context) error {
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	v := &accountsView{name: strings.TrimSpace(ui.Printable(c.FormValue("name"))),
		email: strings.TrimSpace(ui.Printable(c.FormValue("email"))), wrong: map[string]string{}}
	_, err := accountstore.CreateUser(c.Request().Context(), p.store, v.name, v.email, c.FormValue("admin") != "",
		ui.ActorOfForm(c))
	if note(v.wrong, err) {
		return p.showAccounts(c, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	return p.showLink(c, v.name)
}

// accountLink handles POST /accounts/:user/link: a new link for a user who has forgotten the password.
func (p *pages) accountLink(c echo.Context) error {
	name, err := ui.NameInPath(c, "user")
	if err != nil {
		return err
	}
	return p.showLink(c, name)
}

func (p *pages) showLink(c echo.Context, name string) error {
	link := accounts.NewLink()
	if err := accountstore.CreateUserLink(c.Request().Context(), p.store, link, name, ui.ActorOfForm(c)); err != nil {
		return err
	}
	return p.showAccounts(c, http.StatusOK, &accountsView{link: ui.ServerURL(c) + SetupPath(link.Text), owner: name})
}

// accountChange handles POST /accounts/:user: locked or not, administers the server or not.
func (p *pages) accountChange(c echo.Context) error {
	name, err := ui.NameInPath(c, "user")
	if err != nil {
		return err
	}
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	ctx, by := c.Request().Context(), ui.ActorOfForm(c)
	switch c.FormValue("do") {
	case "lock", "unlock":
		err = accountstore.UpdateUserLocked(ctx, p.store, name, c.FormValue("do") == "lock", by)
	case "admin", "no-admin":
		err = accountstore.UpdateUserAdmin(ctx, p.store, name, c.FormValue("do") == "admin", by)
	}
	v := &accountsView{wrong: map[string]string{}}
	if note(v.wrong, err) {
		return p.showAccounts(c, http.StatusUnprocessableEntity, v)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/accounts")
}

func userURL(name string) string { return "/accounts/" + url.PathEscape(name) }
