package account

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/guard"
	"heapdrift/web/pages/ui"
)

type logInView struct {
	ui.Frame
	next     string
	name     string
	wrong    string
	hasUsers bool
	issuer   string // "" for none
}

// logIn handles GET /login.
func (p *pages) logIn(c echo.Context) error {
	v, err := p.logInViewOf(c, c.QueryParam("next"))
	if err != nil {
		return err
	}
	return renderSecret(c, http.StatusOK, logInPage(v))
}

func (p *pages) logInViewOf(c echo.Context, next string) (*logInView, error) {
	v := &logInView{Frame: ui.FrameOf(c, "Log in"), next: guard.LocalPath(next)}
	if p.issuer != nil {
		v.issuer = p.issuer.Name
	}
	var err error
	v.hasUsers, err = p.guard.HasUsers(c.Request().Context())
	return v, err
}

// logInPost handles POST /login: name and password, for a session.
func (p *pages) logInPost(c echo.Context) error {
	if err := ui.ParseForm(c, ui.MaxFormBytes); err != nil {
		return err
	}
	v, err := p.logInViewOf(c, c.FormValue("next"))
	if err != nil {
		return err
	}
	v.name = strings.TrimSpace(ui.Printable(c.FormValue("name")))
	ctx := c.Request().Context()
	may, err := accountstore.TryLogIn(ctx, p.store, attempt(c, v.name), accounts.LogIns)
	if err != nil {
		return err
	}
	if !may {
		v.wrong = "Too many log-ins have failed. Wait a quarter of an hour, or ask an admin for a new link."
		c.Response().Header().Set("Retry-After", "900")
		return renderSecret(c, http.StatusTooManyRequests, logInPage(v))
	}
	user, err := store.Read(ctx, p.store,
		func(view store.View) (accountstore.User, error) {
			return accountstore.FindUserByName(ctx, view, v.name)
		})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	is, err := accounts.VerifyPassword(ctx, user.PasswordHash, c.FormValue("password"))
	if err != nil {
		return err
	}
	if !is || user.LockedAt != nil {
		v.wrong = "Name or password is wrong."
		return renderSecret(c, http.StatusUnprocessableEntity, logInPage(v))
	}
	return p.enter(c, &user, v.next)
}

// enter begins a session and goes on to a page.
func (p *pages) enter(c echo.Context, u *accountstore.User, next string) error {
	if err := p.guard.LogIn(c, u); err != nil {
		return err
	}
	device := accounts.NewDevice()
	if err := accountstore.CompleteLogIn(c.Request().Context(), p.store, u, attempt(c, u.Name),
		device.Digest); err != nil {
		return err
	}
	guard.SetDevice(c, device)
	return c.Redirect(http.StatusSeeOther, next)
}

// attempt is a request that logs in, for the store to count.
func attempt(c echo.Context, name string) accountstore.LogIn {
	return accountstore.LogIn{Name: name, Client: c.RealIP(), Device: guard.Device(c)}
}

// logOut handles POST /logout.
func (p *pages) logOut(c echo.Context) error {
	if err := p.guard.LogOut(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, guard.LogInPath)
}
