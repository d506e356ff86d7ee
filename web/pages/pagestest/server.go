// Package pagestest serves the whole program to tests of pages: a server on a database of its own, runs to look at, and
// a browser. In comes a test; out go the texts of its pages, and a tab that fails the test where a page logs an error.
package pagestest

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/blob"
	"heapdrift/internal/downloads"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/web"
	"heapdrift/web/api"
	"heapdrift/web/guard"
	"heapdrift/worker/workertest"
)

// Main runs the tests of a package, and ends the database server and the browser that they share.
func Main(m *testing.M) {
	defer chromium.close()
	testdb.Main(m, store.Migrate)
}

// A Server is a server on a database of its own.
type Server struct {
	T     testing.TB
	URL   string
	Store *store.Store
	log   *logText
	// Windows are those of the traces that a test has made up.
	Windows *TraceWindows
	Handler http.Handler
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

// Open starts a server. A test fails when it logs an error.
func Open(t testing.TB) *Server {
	t.Helper()
	beside(t)
	return openAt(t, testdb.New(t), t.TempDir())
}

// openAt starts a server on the database at url and the blobs in dir.
func openAt(t testing.TB, url, dir string) *Server {
	t.Helper()
	s := Must[*store.Store](t)(store.Open(t.Context(), url))
	t.Cleanup(s.Close)
	return Serve(t, s, Must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir)), nil)
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

// OpenWithAccounts starts a server that asks people who they are.
func OpenWithAccounts(t testing.TB) *Server {
	t.Helper()
	beside(t)
	s := Must[*store.Store](t)(store.Open(t.Context(), testdb.New(t)))
	t.Cleanup(s.Close)
	return serveTo(t, guard.ByAccount, s, Must[blob.Store](t)(blob.Open(t.Context(), "file://"+t.TempDir())), nil)
}

// OpenWithDownloads starts a server that gives away the programs of a folder.
func OpenWithDownloads(t testing.TB, access guard.Access, dir string) *Server {
	t.Helper()
	beside(t)
	s := Must[*store.Store](t)(store.Open(t.Context(), testdb.New(t)))
	t.Cleanup(s.Close)
	return serveWith(t, s, Must[blob.Store](t)(blob.Open(t.Context(), "file://"+t.TempDir())), web.Options{
		Access: access, Downloads: &downloads.Library{Dir: dir, Version: version}})
}

// OpenWithWorker starts a server with a worker behind it.
func OpenWithWorker(t testing.TB) *Server {
	t.Helper()
	beside(t)
	p := workertest.Start(t)
	return Serve(t, p.Store, p.Blobs, nil)
}

// Serve runs a server. It answers for windows from windows, or from the traces that a test makes up.
func Serve(t testing.TB, s *store.Store, blobs blob.Store, windows api.WindowAnswers) *Server {
	t.Helper()
	return serveTo(t, guard.Everybody, s, blobs, windows)
}

func serveTo(t testing.TB, access guard.Access, s *store.Store, blobs blob.Store, windows api.WindowAnswers) *Server {
	t.Helper()
	return serveWith(t, s, blobs, web.Options{Access: access, Windows: windows})
}

// version is what the servers of tests say that they are.
const version = "1.2.3"

// serveWith runs a server with what options say beside the store and the blobs.
func serveWith(t testing.TB, s *store.Store, blobs blob.Store, opt web.Options) *Server {
	t.Helper()
	blobsOf.Store(s, blobs)
	log, made := &logText{}, &TraceWindows{Runs: map[int64]TracedRun{}}
	if opt.Windows == nil {
		opt.Windows = made
	}
	opt.Store, opt.Blobs, opt.Version = s, blobs, version
	opt.Intake = &intake.Intake{Store: s, Blobs: blobs, MaxBytes: 64 << 20}
	opt.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server := Must[*web.Server](t)(web.New(opt))
	listener := Must[net.Listener](t)(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))
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
	return &Server{t, "http://" + listener.Addr().String(), s, log, made, server.Handler()}
}
