// Package account serves the pages on which people log in, open their account and see it, and on which those who
// administer the server see all accounts.
//
// In come forms with names, passwords and the secrets of links. Out go sessions, which package guard keeps.
package account

import (
	"github.com/labstack/echo/v4"

	"heapdrift/internal/store"
	"heapdrift/web/guard"
)

// Options are what the pages of accounts work with. Store and Guard are required.
type Options struct {
	Store *store.Store
	Guard *guard.Guard
	// Issuer is an OpenID Connect provider that people may log in by; nil for none.
	Issuer *Issuer
}

// pages holds the handlers of this package.
type pages struct {
	store  *store.Store
	guard  *guard.Guard
	issuer *Issuer
}

// Register adds the routes of accounts.
func Register(e *echo.Echo, opt Options, use echo.MiddlewareFunc) {
	p := &pages{store: opt.Store, guard: opt.Guard, issuer: opt.Issuer}
	for path, handle := range map[string]echo.HandlerFunc{
		guard.LogInPath: p.logIn,
		"/setup/:code":  p.setup,
		"/account":      p.account,
		"/accounts":     p.accounts,
	} {
		e.GET(path, handle, use)
		e.HEAD(path, handle, use)
	}
	e.POST(guard.LogInPath, p.logInPost, use)
	e.POST("/logout", p.logOut)
	e.POST("/setup/:code", p.setupPost, use)
	e.POST("/accounts", p.accountAdd, use)
	e.POST("/accounts/:user", p.accountChange, use)
	e.POST("/accounts/:user/link", p.accountLink, use)
	if p.issuer != nil {
		e.GET(issuerPath, p.issuerStart)
		e.GET(issuerReturnPath, p.issuerReturn)
	}
}
