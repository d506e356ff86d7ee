package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
)

type tokenView struct {
	ID        int64            `json:"id"`
	Name      string           `json:"name"`
	Prefix    string           `json:"prefix"` // its first characters
	Scopes    []accounts.Scope `json:"scopes"`
	CreatedBy string           `json:"created_by"`
	CreatedAt time.Time        `json:"created_at"`
	ExpiresAt *time.Time       `json:"expires_at,omitempty"`
	LastUsed  *time.Time       `json:"last_used_at,omitempty"` // to the minute
	RevokedAt *time.Time       `json:"revoked_at,omitempty"`
	Token     string           `json:"token,omitempty"` // in the answer that makes it, never again
}

func viewOfToken(t *accountstore.Token) tokenView {
	return tokenView{t.ID, t.Name, t.Prefix, t.Scopes, t.CreatedBy, t.CreatedAt, t.ExpiresAt,
		t.LastUsedAt, t.RevokedAt, ""}
}

// tokenList handles GET /api/v1/projects/:project/tokens.
func (a *API) tokenList(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	list, err := store.Read(ctx, a.store, func(v store.View) ([]accountstore.Token, error) {
		return accountstore.ListTokens(ctx, v, project)
	})
	if err != nil {
		return err
	}
	view := struct {
		Tokens []tokenView `json:"tokens"`
	}{Tokens: []tokenView{}}
	for i := range list {
		view.Tokens = append(view.Tokens, viewOfToken(&list[i]))
	}
	return fresh(c, http.StatusOK, view)
}

// tokenAdd handles POST /api/v1/projects/:project/tokens: the answer holds the token.
func (a *API) tokenAdd(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	var asked struct {
		Name      string     `json:"name"`
		Scopes    []string   `json:"scopes"`
		ExpiresAt *time.Time `json:"expires_at"`
	}
	if err := readJSON(c, &asked); err != nil {
		return err
	}
	t := accountstore.Token{Name: strings.TrimSpace(asked.Name), ExpiresAt: asked.ExpiresAt}
	if t.Scopes, err = accounts.ScopesOf(asked.Scopes); err != nil {
		return err
	}
	if t.CreatedBy, err = actorOf(c.Request()); err != nil {
		return err
	}
	secret, prefix := accounts.NewToken()
	t.Prefix = prefix
	added, err := accountstore.CreateToken(c.Request().Context(), a.store, project, &t, secret)
	if err != nil {
		return err
	}
	view := viewOfToken(&added)
	view.Token = secret.Text
	c.Response().Header().Set("Cache-Control", "no-store, no-transform")
	return c.JSON(http.StatusCreated, view)
}

// tokenRevoke handles DELETE /api/v1/projects/:project/tokens/:number.
func (a *API) tokenRevoke(c echo.Context) error {
	project, err := pathText(c, "project")
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("number"), 10, 64)
	if err != nil {
		return store.ErrNotFound
	}
	by, err := actorOf(c.Request())
	if err != nil {
		return err
	}
	if err := accountstore.RevokeToken(c.Request().Context(), a.store, project, id, by); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
