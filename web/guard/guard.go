// Package guard lets requests in. It finds out who asks, by a session or a token, looks up in one table what a route
// needs, and asks package accounts whether that may be. A route that the table does not name is not served.
//
// In come requests before their handlers. A request that passes carries its Actor in the context. A request that does
// not pass gets the same answer whether the thing that it asks for does not exist or belongs to others.
package guard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/problem"
)

// Access says who may use a server without logging in.
type Access int

const (
	// ByAccount lets in only people who have logged in and jobs with tokens.
	ByAccount Access = iota
	// UntilFirstAccount lets in everybody while the server has no account, as on one's own machine, and then works as
	// ByAccount.
	UntilFirstAccount
	// Everybody lets in whoever reaches the server.
	Everybody
)

// A Guard stands before the routes of a server.
type Guard struct {
	store    *store.Store
	access   Access
	sessions *scs.SessionManager
	hasUsers atomic.Bool // there is an account: that stays so
}

// New makes a guard.
func New(s *store.Store, access Access) *Guard {
	return &Guard{store: s, access: access, sessions: newSessions(s)}
}

// Check is middleware: it answers requests that are not allowed and passes on the others.
func (g *Guard) Check(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		actor, err := g.identify(c)
		if err != nil && !errors.Is(err, errBadToken) {
			return err
		}
		need, ok := needOf(c)
		if !ok || need.in == nil { // the router knows no such route either, see CheckCoverage; or a page is public, and greets whom it knows
			c.SetRequest(r.WithContext(accounts.WithActor(r.Context(), actor)))
			return next(c)
		}
		if err != nil {
			return err
		}
		if !actor.Somebody() {
			return g.askWho(c)
		}
		if err := g.allow(c, actor, need); err != nil {
			return err
		}
		c.SetRequest(r.WithContext(accounts.WithActor(r.Context(), actor)))
		return next(c)
	}
}

// allow finds where the request wants to do what it needs a right for, and returns an error unless it has it there.
func (g *Guard) allow(c echo.Context, actor *accounts.Actor, need need) error {
	ctx := c.Request().Context()
	projects, err := store.Read(ctx, g.store, func(v store.View) ([]int64, error) { return need.in(c, v) })
	switch {
	case errors.Is(err, errAnywhere) && (need.right == 0 || actor.MaySomewhere(need.right)):
		return nil
	case errors.Is(err, errAnywhere):
		return refusal(actor, need.right)
	case errors.Is(err, errServer):
		if actor.MayEverywhere() {
			return nil
		}
		return store.ErrNotFound
	case errors.Is(err, store.ErrNotFound) && need.makes && actor.MayEverywhere():
		return nil
	}
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := allowed(actor, need.right, project); err != nil {
			return err
		}
	}
	return nil
}

// allowed returns an error unless an actor has a right in a project. Who may not know of the project does not learn of
// it.
func allowed(a *accounts.Actor, right accounts.Right, project int64) error {
	switch {
	case a.May(right, project):
		return nil
	case a.MaySee(project):
		return refusal(a, right)
	}
	return store.ErrNotFound
}

// AllowUpload returns an error unless the actor of the context may upload to a project. The guard cannot check it for a
// form: the form names the project.
func AllowUpload(ctx context.Context, s *store.Store, project string) error {
	actor := accounts.ActorFrom(ctx)
	if actor.MayEverywhere() {
		return nil
	}
	id, err := store.Read(ctx, s, func(v store.View) (int64, error) { return v.FindProjectID(ctx, project) })
	if err != nil {
		return err
	}
	return allowed(actor, accounts.Upload, id)
}

// IsOpen reports whether everybody may use the server now.
func (g *Guard) IsOpen(ctx context.Context) (bool, error) {
	if g.access != UntilFirstAccount {
		return g.access == Everybody, nil
	}
	has, err := g.HasUsers(ctx)
	return !has, err
}

// HasUsers reports whether anybody has an account.
func (g *Guard) HasUsers(ctx context.Context) (bool, error) {
	if g.hasUsers.Load() {
		return true, nil
	}
	has, err := accountstore.HasUsers(ctx, g.store)
	if has {
		g.hasUsers.Store(true)
	}
	return has, err
}

// The codes of requests that are not let in.
const (
	CodeNotLoggedIn = "not-logged-in"
	CodeBadToken    = "bad-token"
	CodeNotAllowed  = "not-allowed"
)

var errBadToken = problem.New(http.StatusUnauthorized, CodeBadToken,
	"the token is not known, has ended or is revoked; make a new one on the project's settings")

// what names rights in sentences.
var what = map[accounts.Right]struct{ role, scope string }{
	accounts.Decide: {"viewer", "upload or read"},
	accounts.Read:   {"viewer", "read"},
	accounts.Upload: {"member", "upload"},
	accounts.Change: {"member", "admin"},
	accounts.Manage: {"admin", "admin"},
}

// refusal says what is missing to somebody who may know that the thing is there.
func refusal(a *accounts.Actor, right accounts.Right) error {
	if a.TokenID != 0 {
		return problem.New(http.StatusForbidden, CodeNotAllowed, "this needs a token with the scope %s", what[right].scope)
	}
	return problem.New(http.StatusForbidden, CodeNotAllowed, "this needs the role %s; an admin of the project gives it",
		what[right].role)
}

// askWho answers somebody who is not known: browsers log in, programs send a token.
func (g *Guard) askWho(c echo.Context) error {
	r, header := c.Request(), c.Response().Header()
	header.Set("Cache-Control", "no-store")
	switch to := logInURL(r); {
	case r.Header.Get("HX-Request") == "true":
		header.Set("HX-Redirect", to)
	case !strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/symbols/") &&
		strings.Contains(r.Header.Get("Accept"), "text/html"):
		return c.Redirect(http.StatusSeeOther, to)
	}
	header.Set("WWW-Authenticate", `Bearer realm="heapdrift", Basic realm="heapdrift: any name, a token as password"`)
	return problem.New(http.StatusUnauthorized, CodeNotLoggedIn,
		"the server must know who asks: log in, or send a token as Authorization: Bearer hd_…")
}

// logInURL is the page to log in on, which leads back to a page that can be read again.
func logInURL(r *http.Request) string {
	next := r.URL.RequestURI()
	if r.Method != http.MethodGet {
		next = ""
	}
	if current, err := url.Parse(r.Header.Get("HX-Current-URL")); err == nil && r.Header.Get("HX-Request") == "true" {
		next = current.RequestURI()
	}
	if next == "" || next == "/" {
		return LogInPath
	}
	return LogInPath + "?" + url.Values{"next": {next}}.Encode()
}

// LogInPath is the page to log in on.
const LogInPath = "/login"

// LocalPath is the path to continue at after a log-in: next if it is a path of this server, else "/".
func LocalPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
