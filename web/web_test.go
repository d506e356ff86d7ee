package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/web"
	"heapdrift/web/guard"
	"heapdrift/web/problem"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// A logText is what a server has logged.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// options are the options of a server with a database and a blob store of its own.
func options(t testing.TB) (web.Options, *logText) {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := &logText{}
	return web.Options{Access: guard.Everybody, Store: s, Blobs: blobs, Intake: &intake.Intake{Store: s, Blobs: blobs},
		Log: slog.New(slog.NewJSONHandler(log, nil)), Version: "1.2.3"}, log
}

func newServer(t testing.TB, opt web.Options) *web.Server {
	t.Helper()
	s, err := web.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request to a handler; header holds pairs of names and values.
func ask(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestOptions(t *testing.T) {
	if _, err := web.New(web.Options{}); err == nil {
		t.Error("a server without a store starts")
	}
}

func TestHealth(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	opt, log := options(t)
	var queueDown atomic.Bool
	var pings atomic.Int32
	opt.PingQueue = func(context.Context) error {
		pings.Add(1)
		if queueDown.Load() {
			return errors.New("dial tcp 10.1.2.3:6379: refused")
		}
		return nil
	}
	h := newServer(t, opt).Handler()
	if w := ask(h, "GET", "/healthz"); w.Code != 200 || !strings.Contains(w.Body.String(), "1.2.3") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, method := range []string{"GET", "HEAD", "GET"} {
		if w := ask(h, method, "/readyz"); w.Code != 200 ||
			method == "GET" && !strings.Contains(w.Body.String(), `"queue":"ok"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if pings.Load() != 1 {
		t.Errorf("%d pings for three questions in a moment", pings.Load())
	}
	queueDown.Store(true)
	var w *httptest.ResponseRecorder
	notReady := func() bool { w = ask(h, "GET", "/readyz"); return w.Code == 503 } // the outcome is kept for a second
	await.Until(t, "a server without its queue to be not ready", notReady)
	if !strings.Contains(w.Body.String(), `"queue":"failing"`) ||
		!strings.Contains(w.Body.String(), `"database":"ok"`) || strings.Contains(w.Body.String(), "10.1.2.3") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.text(), "10.1.2.3") {
		t.Error("the log does not say why")
	}
	if w := ask(h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("alive: %d", w.Code)
	}
	opt.Store.Close()
	await.Until(t, "readiness to name the database", func() bool {
		return notReady() && strings.Contains(w.Body.String(), `"database":"failing"`)
	})
}

// A check that hangs does not hang readiness.
func TestReadyHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	opt, _ := options(t)
	opt.PingQueue = func(context.Context) error { select {} }
	began := time.Now()
	if w := ask(newServer(t, opt).Handler(), "GET", "/readyz"); w.Code != 503 || time.Since(began) > 10*time.Second {
		t.Errorf("%d after %v", w.Code, time.Since(began))
	}
}

func TestHeaders(t *testing.T) {
	opt, log := options(t)
	h := newServer(t, opt).Handler()
	w := ask(h, "GET", "/api/v1/runs/1", "Traceparent", "00-abc-def-01")
	for name, want := range map[string]string{
		"Content-Security-Policy": "script-src 'self'; style-src 'self'", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
	} {
		if got := w.Header().Get(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	var p problem.Problem
	id := w.Header().Get("X-Request-Id")
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || id == "" || p.Instance != "urn:heapdrift:request:"+id ||
		!strings.Contains(log.text(), id) || !strings.Contains(log.text(), "00-abc-def-01") {
		t.Errorf("request %q, problem %+v, log %s", id, p, log.text())
	}
}

func TestErrorsForPeopleAndPrograms(t *testing.T) {
	opt, _ := options(t)
	h := newServer(t, opt).Handler()
	for _, test := range []struct{ path, accept, contentType string }{
		{"/api/nowhere", "text/html", "application/problem+json"},
		{"/nowhere", "application/json", "application/problem+json"},
		{"/nowhere", "text/html,*/*;q=0.8", "text/html"}, {"/nowhere", "", "text/html"}, {"/nowhere", "*/*", "text/html"},
	} {
		if w := ask(h, "GET", test.path, "Accept", test.accept); w.Code != 404 ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), test.contentType) {
			t.Errorf("%s, Accept %q: %d %s", test.path, test.accept, w.Code, w.Header().Get("Content-Type"))
		}
	}
	if w := ask(h, "HEAD", "/api/nowhere"); w.Body.Len() > 0 {
		t.Errorf("HEAD has a body: %s", w.Body)
	}
	if w := ask(h, "POST", "/api/v1/runs/1/complete", "Sec-Fetch-Site", "cross-site"); w.Code != 403 ||
		!strings.Contains(w.Body.String(), `"cross-origin"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The details of a failure stay in the log.
func TestInternalErrors(t *testing.T) {
	opt, log := options(t)
	h := newServer(t, opt).Handler()
	opt.Store.Close()
	w := ask(h, "GET", "/api/v1/runs/1")
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"code":"internal"`) ||
		strings.Contains(w.Body.String(), "pool") || !strings.Contains(log.text(), "closed pool") {
		t.Errorf("%d %s\n%s", w.Code, w.Body, log.text())
	}
}

type panickingStore struct{ blob.Store }

func (panickingStore) Put(context.Context, string, io.Reader) (int64, error) { panic("out of luck") }

func TestPanic(t *testing.T) {
	opt, log := options(t)
	opt.Blobs = panickingStore{opt.Blobs}
	opt.Intake.Blobs = opt.Blobs
	w := ask(newServer(t, opt).Handler(), "PUT", "/api/v1/evidence?project=p&build=1&name=a")
	if w.Code != 500 || strings.Contains(w.Body.String(), "luck") || !strings.Contains(log.text(), "out of luck") {
		t.Errorf("%d %s\n%s", w.Code, w.Body, log.text())
	}
}

// The log names the client that a trusted proxy names, and a client that is no proxy by its own address.
func TestLogOfClients(t *testing.T) {
	for remote, want := range map[string]string{"10.0.0.2:1234": "203.0.113.9", "10.0.0.77:1234": "10.0.0.77"} {
		opt, log := options(t)
		opt.Proxies = web.Proxies{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/30")}}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/x", nil)
		r.RemoteAddr = remote
		r.Header.Set("X-Forwarded-For", "10.9.9.9, 203.0.113.9")
		newServer(t, opt).Handler().ServeHTTP(httptest.NewRecorder(), r)
		if !strings.Contains(log.text(), `"client":"`+want+`"`) {
			t.Errorf("from %s: %s", remote, log.text())
		}
	}
}

// Pages are sent compressed and with a tag, and the log counts the bytes that were sent. An error is compressed like
// any page.
func TestPagesAreCompressed(t *testing.T) {
	opt, log := options(t)
	h := newServer(t, opt).Handler()
	for path, status := range map[string]int{"/": 200, "/runs/1": 404} {
		plain := ask(h, "GET", path, "Accept", "text/html")
		if plain.Code != status || plain.Header().Get("Content-Encoding") != "" ||
			!strings.Contains(strings.Join(plain.Header().Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: %d %v", path, plain.Code, plain.Header())
		}
		coded := ask(h, "GET", path, "Accept", "text/html", "Accept-Encoding", "gzip, deflate, br, zstd")
		if coded.Code != status || coded.Header().Get("Content-Encoding") != "zstd" || coded.Body.Len() >= plain.Body.Len() {
			t.Errorf("%s: %d %v, %d bytes instead of %d", path, coded.Code, coded.Header(), coded.Body.Len(), plain.Body.Len())
		}
		if !strings.Contains(log.text(), fmt.Sprintf(`"sent":%d,`, coded.Body.Len())) ||
			!strings.Contains(log.text(), fmt.Sprintf(`"sent":%d,`, plain.Body.Len())) {
			t.Errorf("%s: %d and %d bytes were sent:\n%s", path, plain.Body.Len(), coded.Body.Len(), log.text())
		}
		tag := coded.Header().Get("ETag")
		if (tag != "") != (status == 200) || status == 200 && tag != plain.Header().Get("ETag") {
			t.Errorf("%s: the tag is %q, of the plain page %q", path, tag, plain.Header().Get("ETag"))
		}
	}
	tag := ask(h, "GET", "/").Header().Get("ETag")
	for _, method := range []string{"GET", "HEAD"} {
		if w := ask(h, method, "/", "If-None-Match", `"x", `+tag, "Accept-Encoding", "gzip"); w.Code != 304 ||
			w.Body.Len() > 0 || w.Header().Get("ETag") != tag || w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
	if w := ask(h, "GET", "/", "HX-Request", "true", "If-None-Match", `"x"`); w.Code != 200 {
		t.Errorf("%d for a page that the browser does not have", w.Code)
	}
}
