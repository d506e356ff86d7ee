package guard

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

func contextOf(t *testing.T, method, target string, header map[string]string) (echo.Context, *httptest.ResponseRecorder) {
	t.Helper()
	r, w := httptest.NewRequestWithContext(t.Context(), method, target, nil), httptest.NewRecorder()
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return echo.New().NewContext(r, w), w
}

// A token comes as a bearer's or as the password of any name; whatever else the header holds is none.
func TestTokenOf(t *testing.T) {
	basic := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for header, want := range map[string]struct {
		token string
		ok    bool
	}{
		"Bearer hd_1": {"hd_1", true}, "bearer  hd_1 ": {"hd_1", true}, "Bearer": {"", true},
		"Basic " + basic("any:hd_1"): {"hd_1", true}, "basic " + basic(":hd_1:2"): {"hd_1:2", true},
		"Basic " + basic("any:"): {"", true}, "Basic " + basic("hd_1"): {"", false}, "Basic %": {"", false},
		"": {"", false}, "hd_1": {"", false}, "Digest hd_1": {"", false},
	} {
		if token, ok := tokenOf(header); token != want.token || ok != want.ok {
			t.Errorf("%q: %q, %t", header, token, ok)
		}
	}
}

// After a log-in, only a path of this server is gone to.
func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{
		"/runs/1?a=b#c": "/runs/1?a=b#c", "/": "/", "": "/", "runs": "/", "//evil": "/", "/\\evil": "/", "http://evil/": "/",
		"http:/runs": "/", "//u@h/": "/", "/a\r\nSet-Cookie: b": "/", "/a\tb": "/", "/%": "/", "javascript:alert(1)": "/",
	} {
		if got := LocalPath(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// The page to log in on leads back to the page that was read; not to one that was sent a form.
func TestLogInURL(t *testing.T) {
	for _, test := range []struct {
		method, target string
		header         map[string]string
		want           string
	}{
		{"GET", "/runs/1?a=b", nil, "/login?next=%2Fruns%2F1%3Fa%3Db"},
		{"GET", "/", nil, "/login"},
		{"POST", "/runs/1", nil, "/login"},
		{"POST", "/runs/1", map[string]string{"HX-Request": "true", "HX-Current-URL": "http://h/runs/2"}, "/login?next=%2Fruns%2F2"},
		{"POST", "/runs/1", map[string]string{"HX-Current-URL": "http://h/runs/2"}, "/login"},
		{"GET", "/runs/1", map[string]string{"HX-Request": "true", "HX-Current-URL": "http://h/%"}, "/login?next=%2Fruns%2F1"},
		{"GET", "/runs/1", map[string]string{"HX-Request": "true", "HX-Current-URL": "http://h/"}, "/login"},
	} {
		c, _ := contextOf(t, test.method, test.target, test.header)
		if got := logInURL(c.Request()); got != test.want {
			t.Errorf("%s %s %v: %s, want %s", test.method, test.target, test.header, got, test.want)
		}
	}
}

// Browsers are sent to log in; programs, and what asks for a part of a page, are refused.
func TestAskWho(t *testing.T) {
	html := map[string]string{"Accept": "text/html,*/*"}
	for _, test := range []struct {
		path     string
		header   map[string]string
		redirect bool
		htmx     string
	}{
		{"/runs/1", html, true, ""}, {"/runs/1", nil, false, ""}, {"/runs/1", map[string]string{"Accept": "*/*"}, false, ""},
		{"/api/v1/runs/1", html, false, ""}, {"/symbols/a/b/c", html, false, ""}, {"/apiary", html, true, ""},
		{"/runs/1", map[string]string{"HX-Request": "true", "Accept": "text/html", "HX-Current-URL": "http://h/runs/2"}, false,
			"/login?next=%2Fruns%2F2"},
	} {
		c, w := contextOf(t, http.MethodGet, test.path, test.header)
		err := (&Guard{}).askWho(c)
		var refused *problem.Problem
		if test.redirect {
			if err != nil || w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), LogInPath) {
				t.Errorf("%s %v: %d, %v", test.path, test.header, w.Code, err)
			}
		} else if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized || refused.Code != CodeNotLoggedIn ||
			!strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s %v: %v, %v", test.path, test.header, err, w.Header())
		}
		if got := w.Header().Get("HX-Redirect"); got != test.htmx || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %v: %v", test.path, test.header, w.Header())
		}
	}
}

// Whoever may see a project learns what is missing; for others it does not exist.
func TestAllowed(t *testing.T) {
	user := func(role accounts.Role) *accounts.Actor {
		return &accounts.Actor{UserID: 1, RoleByProject: map[int64]accounts.Role{7: role}}
	}
	token := accounts.OfToken(1, "t", 7, []accounts.Scope{accounts.ScopeUpload})
	for _, test := range []struct {
		actor   *accounts.Actor
		right   accounts.Right
		project int64
		want    string // "" for none, "gone", or what the refusal says
	}{
		{user(accounts.Viewer), accounts.Read, 7, ""},
		{user(accounts.Viewer), accounts.Change, 7, "the role member"},
		{user(accounts.Member), accounts.Manage, 7, "the role admin"},
		{user(accounts.Admin), accounts.Manage, 7, ""},
		{user(accounts.Admin), accounts.Read, 8, "gone"},
		{&token, accounts.Upload, 7, ""},
		{&token, accounts.Read, 7, "the scope read"},
		{&token, accounts.Upload, 8, "gone"},
		{&accounts.Actor{}, accounts.Read, 7, "gone"},
	} {
		err := allowed(test.actor, test.right, test.project)
		var refused *problem.Problem
		switch {
		case test.want == "" && err != nil, test.want == "gone" && !errors.Is(err, store.ErrNotFound):
			t.Errorf("%+v, right %d in %d: %v, want %q", test.actor, test.right, test.project, err, test.want)
		case test.want != "" && test.want != "gone":
			if !errors.As(err, &refused) || refused.Status != http.StatusForbidden || refused.Code != CodeNotAllowed ||
				!strings.Contains(refused.Detail, test.want) {
				t.Errorf("%+v, right %d in %d: %v, want %q", test.actor, test.right, test.project, err, test.want)
			}
		}
	}
}

// Over TLS the cookie has the name that browsers protect; scripts never read it, and other sites do not send it along.
func TestSessionCookie(t *testing.T) {
	until := time.Unix(1_800_000_000, 0)
	for scheme, name := range map[string]string{"http": "heapdrift", "https": "__Host-heapdrift"} {
		c, _ := contextOf(t, http.MethodGet, "/", nil)
		if scheme == "https" {
			c.Request().TLS = &tls.ConnectionState{}
		}
		got := cookie(c, sessionCookie, "abc", until)
		if got.Name != name || got.Value != "abc" || got.Path != "/" || !got.HttpOnly || got.Secure != (scheme == "https") ||
			got.SameSite != http.SameSiteLaxMode || !got.Expires.Equal(until) {
			t.Errorf("%s: %+v", scheme, got)
		}
		c.Request().AddCookie(&http.Cookie{Name: "other", Value: "x"})
		if valueOf(c, sessionCookie) != "" {
			t.Errorf("%s: another cookie is taken for the session's", scheme)
		}
		c.Request().AddCookie(got)
		if valueOf(c, sessionCookie) != "abc" {
			t.Errorf("%s: the session's cookie is not found", scheme)
		}
	}
}

// A HEAD needs what its GET does, and a route that the table does not name is not served.
func TestNeeds(t *testing.T) {
	if n, ok := needOfRoute(http.MethodHead, "/runs/:id"); !ok || n.right != accounts.Read {
		t.Errorf("%+v, %t", n, ok)
	}
	for _, route := range [][2]string{{http.MethodPost, "/runs/:id"}, {http.MethodGet, "/nothing"}, {http.MethodHead, "/nothing"}} {
		if n, ok := needOfRoute(route[0], route[1]); ok {
			t.Errorf("%v: %+v", route, n)
		}
	}
	known := []*echo.Route{{Method: http.MethodGet, Path: "/healthz"}, {Method: echo.RouteNotFound, Path: "/*"}}
	if err := CheckCoverage(known); err != nil {
		t.Error(err)
	}
	more := append(slices.Clone(known), &echo.Route{Method: http.MethodPut, Path: "/b"},
		&echo.Route{Method: http.MethodGet, Path: "/a"})
	if err := CheckCoverage(more); err == nil || !strings.HasSuffix(err.Error(), "call GET /a, PUT /b") {
		t.Error(err)
	}
	c, _ := contextOf(t, http.MethodGet, "/healthz", nil)
	c.SetPath("/healthz")
	if _, ok := needOf(c); !ok {
		t.Error("a route of the table is none")
	}
	c.Set(echo.ContextKeyHeaderAllow, "GET")
	if _, ok := needOf(c); ok {
		t.Error("a method that the router refuses has a need")
	}
}

// Names that the database would not take for text name nothing.
func TestIsText(t *testing.T) {
	for s, want := range map[string]bool{"": true, "a/ä": true, "a\x00": false, "\xff": false} {
		if got := isText(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}

// A server that asks who somebody is is not open; one that serves everybody is, without a look at its accounts.
func TestIsOpenWithoutAccounts(t *testing.T) {
	for access, want := range map[Access]bool{ByAccount: false, Everybody: true} {
		if open, err := (&Guard{access: access}).IsOpen(t.Context()); open != want || err != nil {
			t.Errorf("%d: %t, %v", access, open, err)
		}
	}
	g := &Guard{access: UntilFirstAccount}
	g.hasUsers.Store(true)
	if open, err := g.IsOpen(t.Context()); open || err != nil {
		t.Errorf("with an account: %t, %v", open, err)
	}
}
