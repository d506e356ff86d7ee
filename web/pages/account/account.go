package account

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/pages/ui"
)

type accountView struct {
	ui.Frame
	actor    *accounts.Actor
	projects []accountstore.RoleIn
}

// account handles GET /account: who somebody is here, and what they may do in which project.
func (p *pages) account(c echo.Context) error {
	ctx := c.Request().Context()
	v := &accountView{Frame: ui.FrameOf(c, "Your account"), actor: accounts.ActorFrom(ctx)}
	var err error
	v.projects, err = store.Read(ctx, p.store,
		func(view store.View) ([]accountstore.RoleIn, error) {
			return accountstore.ListRoles(ctx, view, v.actor.UserID)
		})
	if err != nil {
		return err
	}
	return ui.Render(c, http.StatusOK, accountPage(v))
}
