package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"heapdrift/web"
)

// For the browser a site whose name points to this machine has the same origin as the server; only the Host header
// tells them apart.
func TestHosts(t *testing.T) {
	opt, _ := options(t)
	opt.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	server, err := web.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		method, path, host string
		status             int
	}{
		{http.MethodPost, "/api/v1/runs/7/complete", "evil.example:8080", http.StatusMisdirectedRequest},
		{http.MethodGet, "/", "evil.example", http.StatusMisdirectedRequest},
		{http.MethodGet, "/", "localhost.evil.example:8080", http.StatusMisdirectedRequest},
		{http.MethodGet, "/api/v1/nothing", "evil.example:8080", http.StatusMisdirectedRequest},
		{http.MethodGet, "/", "", http.StatusMisdirectedRequest},
		{http.MethodPost, "/api/v1/runs/7/complete", "localhost:8080", http.StatusNotFound},
		{http.MethodGet, "/", "LOCALHOST.:8080", http.StatusOK},
		{http.MethodGet, "/", "127.0.0.1", http.StatusOK},
		{http.MethodGet, "/", "[::1]:8080", http.StatusOK},
		{http.MethodGet, "/", "[::1]", http.StatusOK},
		{http.MethodGet, "/healthz", "10.1.2.3:8080", http.StatusOK},
	} {
		r := httptest.NewRequest(test.method, "http://"+test.host+test.path, nil)
		r.Host = test.host
		r.Header.Set("Origin", "http://"+test.host)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s %s of %q: %d, want %d\n%s", test.method, test.path, test.host, w.Code, test.status, w.Body)
		}
		if says := strings.Contains(w.Body.String(),
			"HEAPDRIFT_HOSTS"); says != (test.status == http.StatusMisdirectedRequest) {
			t.Errorf("%s %s of %q does not say what to do: %s", test.method, test.path, test.host, w.Body)
		}
	}
}
