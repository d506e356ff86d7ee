package pages_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/web/api"
	"heapdrift/web/pages"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// policy is the one that the server sends with every answer; the pages must work under it.
const policy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// A site is a server of the pages and the API on a database of its own.
type site struct {
	*httptest.Server
	t     testing.TB
	store *store.Store
	hub   *pages.Hub
}

func open(t testing.TB) *site {
	t.Helper()
	s := must[*store.Store](t)(store.Open(t.Context(), testdb.New(t)))
	t.Cleanup(s.Close)
	blobs := must[blob.Store](t)(blob.Open(t.Context(), "file://"+t.TempDir()))
	in := &intake.Intake{Store: s, Blobs: blobs, MaxBytes: 64 << 20}
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		if c.Response().Committed || errors.Is(err, context.Canceled) {
			return
		}
		problem := api.ProblemOf(err)
		if problem.Status >= 500 {
			t.Errorf("%s %s: %v", c.Request().Method, c.Request().URL, err)
		}
		if strings.HasPrefix(c.Path(), "/api/") {
			_ = problem.Send(c)
		} else if err := pages.ErrorPage(c, problem.Status, problem.Code, problem.Detail); err != nil {
			t.Error(err)
		}
	}
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set("Content-Security-Policy", policy)
			return next(c)
		}
	})
	hub := pages.NewHub(s, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); hub.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	pages.Register(e, pages.Options{Store: s, Intake: in, Hub: hub, Version: "1.2.3"})
	api.New(api.Options{Store: s, Blobs: blobs, Intake: in}).Register(e)
	server := httptest.NewServer(e)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return &site{server, t, s, hub}
}

// get returns the status and the body of a page; header holds pairs of names and values.
func (s *site) get(path string, header ...string) (int, string) {
	s.t.Helper()
	req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil))
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.send(req)
}

func (s *site) send(req *http.Request) (int, string) {
	s.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := must[*http.Response](s.t)(client.Do(req))
	defer func() { _ = res.Body.Close() }()
	body := string(must[[]byte](s.t)(io.ReadAll(res.Body)))
	if location := res.Header.Get("Location"); location != "" {
		body = location
	}
	return res.StatusCode, body
}

// page returns a page that must be there.
func (s *site) page(path string, header ...string) string {
	s.t.Helper()
	status, body := s.get(path, header...)
	if status != http.StatusOK {
		s.t.Fatalf("GET %s: %d\n%s", path, status, body)
	}
	return body
}

// has checks that a page holds texts in this order.
func has(t testing.TB, page string, texts ...string) {
	t.Helper()
	rest := page
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("the page lacks %q, or has it before %q", text, texts[0])
			return
		}
		rest = after
	}
}

func lacks(t testing.TB, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}
