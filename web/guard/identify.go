package guard

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/store/accountstore"
)

// identify is who a request comes from: by a token, by a session, or anybody where the server is open; the zero Actor
// for nobody.
func (g *Guard) identify(c echo.Context) (*accounts.Actor, error) {
	ctx := c.Request().Context()
	open, err := g.IsOpen(ctx)
	if err != nil {
		return nil, err
	}
	actor, err := g.known(c)
	if err != nil && (!open || !errors.Is(err, errBadToken)) {
		return &accounts.Actor{}, err
	}
	if actor == nil {
		actor = &accounts.Actor{}
	}
	actor.Open = open
	return actor, nil
}

// known is the user or token that a request names, nil for none.
func (g *Guard) known(c echo.Context) (*accounts.Actor, error) {
	r := c.Request()
	if token, ok := tokenOf(r.Header.Get("Authorization")); ok {
		digest, ok := accounts.TokenDigest(token)
		if !ok {
			return nil, errBadToken
		}
		actor, err := accountstore.FindTokenActor(r.Context(), g.store, digest)
		if errors.Is(err, store.ErrNotFound) {
			return nil, errBadToken
		}
		return actor, err
	}
	ctx, err := g.sessions.Load(r.Context(), valueOf(c, sessionCookie))
	if err != nil {
		return nil, err
	}
	user := g.sessions.GetInt64(ctx, sessionUser)
	if user == 0 {
		return nil, nil
	}
	actor, err := store.Read(r.Context(), g.store, func(v store.View) (*accounts.Actor, error) {
		return accountstore.FindUserActor(r.Context(), v, user, g.sessions.GetInt(ctx, sessionEpoch))
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return actor, err
}

// tokenOf is the token of an Authorization header. Clients that know names and passwords only, as symbol servers' do,
// send it as the password.
func tokenOf(header string) (string, bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(scheme) {
	case "bearer":
		return rest, true
	case "basic":
		text, err := base64.StdEncoding.DecodeString(rest)
		_, password, ok := strings.Cut(string(text), ":")
		return password, err == nil && ok
	}
	return "", false
}

// What a session holds.
const (
	sessionUser  = "user"
	sessionEpoch = "epoch"
)

// sessionAge is how long somebody stays logged in.
const sessionAge = 7 * 24 * time.Hour

func newSessions(s *store.Store) *scs.SessionManager {
	m := scs.New()
	m.Store = accountstore.SessionStore(s)
	m.Lifetime = sessionAge
	m.HashTokenInStore = true
	return m
}

// LogIn begins a session of a user. A session from before ends: its cookie may be known to others.
func (g *Guard) LogIn(c echo.Context, u *accountstore.User) error {
	ctx, err := g.sessions.Load(c.Request().Context(), "")
	if err != nil {
		return err
	}
	g.sessions.Put(ctx, sessionUser, u.ID)
	g.sessions.Put(ctx, sessionEpoch, u.Epoch)
	if err := g.endSession(c); err != nil {
		return err
	}
	token, until, err := g.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	c.SetCookie(cookie(c, sessionCookie, token, until))
	return nil
}

// LogOut ends the session of a request.
func (g *Guard) LogOut(c echo.Context) error {
	c.SetCookie(cookie(c, sessionCookie, "", time.Unix(1, 0)))
	return g.endSession(c)
}

func (g *Guard) endSession(c echo.Context) error {
	token := valueOf(c, sessionCookie)
	if token == "" {
		return nil
	}
	ctx, err := g.sessions.Load(context.WithoutCancel(c.Request().Context()), token)
	if err != nil {
		return err
	}
	return g.sessions.Destroy(ctx)
}

// Device is the digest of the secret by which the browser of a request is known; nil for none.
func Device(c echo.Context) []byte { return accounts.DeviceDigest(valueOf(c, deviceCookie)) }

// SetDevice gives the browser of a request the secret by which it is known.
func SetDevice(c echo.Context, secret accounts.Secret) {
	c.SetCookie(cookie(c, deviceCookie, secret.Text, time.Now().Add(accounts.DeviceAge)))
}

// The cookies.
const (
	sessionCookie = "heapdrift"
	deviceCookie  = "heapdrift-device"
)

// cookieName is the name of a cookie. By its prefix browsers refuse one that another host of the domain has set, and
// they take the prefix over TLS only.
func cookieName(c echo.Context, name string) string {
	if c.Scheme() == "https" {
		return "__Host-" + name
	}
	return name
}

// valueOf is the value of a cookie, "" where a request has none.
func valueOf(c echo.Context, name string) string {
	for _, cookie := range c.Cookies() {
		if cookie.Name == cookieName(c, name) {
			return cookie.Value
		}
	}
	return ""
}

func cookie(c echo.Context, name, value string, until time.Time) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(c, name), Value: value, Path: "/", Expires: until, HttpOnly: true, Secure: c.Scheme() == "https",
		SameSite: http.SameSiteLaxMode,
	}
}
