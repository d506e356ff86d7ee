package pages_test

import (
	"bytes"
	"context"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/web"
	"heapdrift/web/api"
	"heapdrift/web/guard"
	"heapdrift/worker/workertest"
)

func TestMain(m *testing.M) {
	defer chromium.close()
	testdb.Main(m, store.Migrate)
}

// A site is a server on a database of its own.
type site struct {
	t     testing.TB
	url   string
	store *store.Store
	log   *logText
	// windows are those of the traces that a test has made up.
	windows *traceWindows
	handler http.Handler
}

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

// open starts a server. A test fails when it logs an error.
func open(t testing.TB) *site {
	t.Helper()
	beside(t)
	return openAt(t, testdb.New(t), t.TempDir())
}

// openAt starts a server on the database at url and the blobs in dir.
func openAt(t testing.TB, url, dir string) *site {
	t.Helper()
	s := must[*store.Store](t)(store.Open(t.Context(), url))
	t.Cleanup(s.Close)
	return serve(t, s, must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir)), nil)
}

// beside lets a test run in parallel with others, which it does not affect: it has its own server, database and browser
// profile. A browser and a server wait for each other much of the time.
func beside(t testing.TB) {
	if test, ok := t.(*testing.T); ok {
		if _, is := parallel.LoadOrStore(test, true); !is {
			test.Parallel()
		}
	}
}

var parallel sync.Map // tests that run in parallel with others

// openClosed starts a server that asks people who they are.
func openClosed(t testing.TB) *site {
	t.Helper()
	beside(t)
	s := must[*store.Store](t)(store.Open(t.Context(), testdb.New(t)))
	t.Cleanup(s.Close)
	return serveTo(t, guard.ByAccount, s, must[blob.Store](t)(blob.Open(t.Context(), "file://"+t.TempDir())), nil)
}

// openWorking starts a server with a worker behind it.
func openWorking(t testing.TB) *site {
	t.Helper()
	beside(t)
	p := workertest.Start(t)
	return serve(t, p.Store, p.Blobs, nil)
}

// serve runs a server. It answers for windows from windows, or from the traces that a test makes up.
func serve(t testing.TB, s *store.Store, blobs blob.Store, windows api.Windows) *site {
	t.Helper()
	return serveTo(t, guard.Everybody, s, blobs, windows)
}

func serveTo(t testing.TB, access guard.Access, s *store.Store, blobs blob.Store, windows api.Windows) *site {
	t.Helper()
	blobsOf.Store(s, blobs)
	log, made := &logText{}, &traceWindows{runs: map[int64]tracedRun{}}
	if windows == nil {
		windows = made
	}
	server := must[*web.Server](t)(web.New(web.Options{
		Access: access, Store: s, Blobs: blobs, Intake: &intake.Intake{Store: s, Blobs: blobs, MaxBytes: 64 << 20},
		Version: "1.2.3", Windows: windows,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}))
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if text := log.text(); strings.Contains(text, "level=ERROR") {
			t.Errorf("the server logged:\n%s", text)
		}
	})
	return &site{t, "http://" + listener.Addr().String(), s, log, made, server.Handler()}
}

// get returns the status and the body of a page; header holds pairs of names and values.
func (s *site) get(path string, header ...string) (int, string) {
	s.t.Helper()
	req := must[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil))
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

// linkOf is the address that the link with the text leads to.
func linkOf(t testing.TB, page, text string) string {
	t.Helper()
	before, _, found := strings.Cut(page, text)
	at := strings.LastIndex(before, `href="`)
	if !found || at < 0 {
		t.Fatalf("the page has no link %q", text)
	}
	to, _, _ := strings.Cut(before[at+len(`href="`):], `"`)
	return html.UnescapeString(to)
}

func lacks(t testing.TB, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}
