package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
)

type memberView struct {
	User string        `json:"user"`
	Role accounts.Role `json:"role"`
}

// memberList handles GET /api/v1/projects/:project/members.
func (a *API) memberList(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, err := store.Read(ctx, a.store,
		func(v store.View) ([]accountstore.Membership, error) {
			return accountstore.ListMembers(ctx, v, project)
		})
	if err != nil {
		return err
	}
	view := struct {
		Members []memberView `json:"members"`
	}{Members: []memberView{}}
	for _, m := range list {
		view.Members = append(view.Members, memberView(m))
	}
	return fresh(c, http.StatusOK, view)
}

// memberPut handles PUT /api/v1/projects/:project/members/:user: a user is a member with a role.
func (a *API) memberPut(c echo.Context) error {
	var asked struct {
		Role string `json:"role"`
	}
	if err := readJSON(c, &asked); err != nil {
		return err
	}
	role, err := accounts.RoleOf(asked.Role)
	if err != nil {
		return err
	}
	return a.setMember(c, role)
}

// memberDelete handles DELETE /api/v1/projects/:project/members/:user.
func (a *API) memberDelete(c echo.Context) error { return a.setMember(c, "") }

func (a *API) setMember(c echo.Context, role accounts.Role) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	user, err := pathText(c, "user")
	if err != nil {
		return err
	}
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if err := accountstore.UpdateMember(c.Request().Context(), a.store, project, user, role, by); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
