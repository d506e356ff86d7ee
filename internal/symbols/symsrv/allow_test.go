package symsrv_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"heapdrift/internal/symbols/symsrv"
)

func TestRedirectToAllowedHost(t *testing.T) {
	far := serve(t, map[string]string{"blob": right}, nil)
	near := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, far.URL+"/blob", http.StatusFound)
	})
	opt := online(t, near)
	if _, lines := find(t, parse(t, "srv*"+near.URL, opt), app); len(far.questions()) != 0 {
		t.Errorf("another port of the host was asked: %q", lines)
	}
	opt = online(t, near)
	opt.Allow = append(opt.Allow, far.host())
	if found, lines := find(t, parse(t, "srv*"+near.URL, opt), app); found == "" {
		t.Errorf("%q", lines)
	}
}

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		allow, url string
		ok         bool
	}{
		{"", "https://a.example", false},
		{"a.example", "https://a.example", true},
		{"A.Example", "https://a.EXAMPLE:8443", true},
		{"a.example:443", "https://a.example", true},
		{"a.example:443", "http://a.example", false},
		{"example", "https://a.example", false},
		{"*.example", "https://b.a.example", true},
		{"*.example", "https://example", false},
		{"*", "https://a.example", true},
		{"[::1]:80", "http://[::1]", true},
	} {
		asked := false
		opt := symsrv.Options{Cache: t.TempDir(), Limits: symsrv.Limits{Retries: -1},
			Client: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
				asked = true
				return nil, http.ErrHandlerTimeout
			})}}
		if c.allow != "" {
			opt.Allow = []string{c.allow}
		}
		if _, lines := find(t, parse(t, "srv*"+c.url, opt), app); asked != c.ok ||
			!c.ok && !strings.HasPrefix(results(lines), "not-found offline") {
			t.Errorf("%s, allowed %q: asked %v: %q", c.url, c.allow, asked, lines)
		}
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestProxy(t *testing.T) {
	var asked atomic.Pointer[url.URL]
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL)
		_, _ = rw.Write([]byte(right))
	}))
	defer proxy.Close()
	opt := symsrv.Options{Allow: []string{"symbols.example"}, Cache: t.TempDir(),
		Proxy: strings.TrimPrefix(proxy.URL, "http://"), Limits: quick}
	if found, lines := find(t, parse(t, "srv*http://symbols.example/x", opt), app); found == "" ||
		asked.Load().Host != "symbols.example" {
		t.Errorf("%q", lines)
	}
}
