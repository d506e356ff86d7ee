package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/labstack/echo/v4"
	"golang.org/x/oauth2"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
	"heapdrift/web/guard"
	"heapdrift/web/pages/ui"
	"heapdrift/web/problem"
)

const (
	issuerPath       = "/login/issuer"
	issuerReturnPath = "/login/issuer/return"
)

// An Issuer is an OpenID Connect provider that people may log in by.
type Issuer struct {
	Name     string // name on the log-in page
	URL      string
	ClientID string
	Secret   string // of the client
	// Client asks the provider; nil for the default one.
	Client *http.Client

	mu       sync.Mutex
	provider *oidc.Provider // once it has answered
}

func issuerURL(next string) templ.SafeURL {
	return templ.SafeURL(issuerPath + "?" + url.Values{"next": {next}}.Encode())
}

// found is the provider. It is asked for its addresses at the first log-in, not when the server starts: the server
// works without it.
func (i *Issuer) found(ctx context.Context) (*oidc.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.provider == nil {
		// Keys are fetched with this context later.
		provider, err := oidc.NewProvider(i.context(context.WithoutCancel(ctx)), i.URL)
		if err != nil {
			return nil, problem.New(http.StatusBadGateway, codeIssuer, "%s does not answer as an OpenID Connect provider: %v",
				i.Name, err)
		}
		i.provider = provider
	}
	return i.provider, nil
}

func (i *Issuer) context(ctx context.Context) context.Context {
	if i.Client == nil {
		return ctx
	}
	return oidc.ClientContext(ctx, i.Client)
}

const codeIssuer = "issuer-failed"

func (i *Issuer) config(c echo.Context, provider *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: i.ClientID, ClientSecret: i.Secret, Endpoint: provider.Endpoint(),
		RedirectURL: ui.ServerURL(c) + issuerReturnPath,
		Scopes:      []string{oidc.ScopeOpenID, "profile", "email"},
	}
}

// A journey is what a browser keeps while the provider asks who it is. It is in a cookie that this server reads only:
// state ties the answer to the browser, nonce the token to the question, verifier the code to who asked for it (RFC
// 7636).
type journey struct{ state, nonce, verifier, next string }

const journeyCookie = "heapdrift_issuer"

func (j *journey) cookie(c echo.Context) *http.Cookie {
	v := url.Values{"s": {j.state}, "n": {j.nonce}, "v": {j.verifier}, "to": {j.next}}
	return &http.Cookie{
		Name: journeyCookie, Value: v.Encode(), Path: issuerPath, MaxAge: 600, HttpOnly: true, Secure: c.Scheme() == "https",
		SameSite: http.SameSiteLaxMode, // it must come back with a navigation from the provider
	}
}

func journeyOf(c echo.Context) (*journey, bool) {
	cookie, err := c.Cookie(journeyCookie)
	if err != nil {
		return nil, false
	}
	v, err := url.ParseQuery(cookie.Value)
	j := &journey{v.Get("s"), v.Get("n"), v.Get("v"), v.Get("to")}
	return j, err == nil && j.state != "" && j.nonce != "" && j.verifier != ""
}

// issuerStart handles GET /login/issuer: it sends the browser to the provider.
func (p *pages) issuerStart(c echo.Context) error {
	provider, err := p.issuer.found(c.Request().Context())
	if err != nil {
		return err
	}
	j := &journey{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), guard.LocalPath(c.QueryParam("next"))}
	c.SetCookie(j.cookie(c))
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Redirect(http.StatusSeeOther,
		p.issuer.config(c, provider).AuthCodeURL(j.state, oidc.Nonce(j.nonce), oauth2.S256ChallengeOption(j.verifier)))
}

// issuerReturn handles GET /login/issuer/return: the provider has sent the browser back with a code.
func (p *pages) issuerReturn(c echo.Context) error {
	j, ok := journeyOf(c)
	c.SetCookie(&http.Cookie{Name: journeyCookie, Path: issuerPath, MaxAge: -1, HttpOnly: true,
		Secure: c.Scheme() == "https", SameSite: http.SameSiteLaxMode})
	c.Response().Header().Set("Cache-Control", "no-store")
	switch {
	case !ok || subtle.ConstantTimeCompare([]byte(j.state), []byte(c.QueryParam("state"))) != 1:
		return problem.New(http.StatusBadRequest, codeIssuer,
			"log in again: this log-in was started in another browser, or too long ago")
	case c.QueryParam("error") != "":
		return problem.New(http.StatusForbidden, codeIssuer, "%s refused the log-in: %s", p.issuer.Name,
			ui.Printable(c.QueryParam("error")))
	}
	user, err := p.issuer.user(c, j, p.store)
	if errors.Is(err, store.ErrNotFound) {
		return problem.New(http.StatusForbidden, codeIssuer, "the account is locked; ask an admin")
	}
	if err != nil {
		return err
	}
	return p.enter(c, &user, guard.LocalPath(j.next))
}

// user exchanges the code for a token that says who somebody is, checks it, and finds their account or makes one.
func (i *Issuer) user(c echo.Context, j *journey, s *store.Store) (accountstore.User, error) {
	ctx := i.context(c.Request().Context())
	provider, err := i.found(ctx)
	if err != nil {
		return accountstore.User{}, err
	}
	refused := func(err error) error {
		return problem.New(http.StatusBadGateway, codeIssuer, "the answer of %s does not say who you are: %v", i.Name, err)
	}
	token, err := i.config(c, provider).Exchange(ctx, c.QueryParam("code"), oauth2.VerifierOption(j.verifier))
	if err != nil {
		return accountstore.User{}, refused(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := provider.Verifier(&oidc.Config{ClientID: i.ClientID}).Verify(ctx, raw)
	if err != nil {
		return accountstore.User{}, refused(err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(j.nonce)) != 1 {
		return accountstore.User{}, refused(errors.New("its nonce is another one"))
	}
	var claims struct {
		Name     string `json:"preferred_username"`
		Email    string `json:"email"`
		FullName string `json:"name"`
	}
	if err := id.Claims(&claims); err != nil {
		return accountstore.User{}, refused(err)
	}
	return accountstore.FindOrCreateSubject(ctx, s, id.Issuer, id.Subject, nameOf(id.Subject, claims.Name, claims.Email,
		claims.FullName),
		ui.Printable(claims.Email))
}

// nameOf is the name of a new account: the first of what the provider says that may be one.
func nameOf(subject string, claims ...string) string {
	for _, name := range claims {
		if name = strings.TrimSpace(name); accounts.CheckUserName(name) == nil {
			return name
		}
	}
	if accounts.CheckUserName(subject) == nil {
		return subject
	}
	return fmt.Sprintf("user %08x", accounts.ShortSum(subject))
}
