// Package testdb gives tests PostgreSQL databases: one private server per test process, one database per test.
package testdb

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/embedded"
)

// template is the database that every test's is a copy of.
const template = "heapdrift"

var server struct {
	start   func() (*embedded.Postgres, error)
	started atomic.Bool
	next    atomic.Int64
}

// Main runs a package's tests with a server that starts when the first test asks for a database and whose template is
// migrated once. Call it from TestMain.
func Main(m *testing.M, migrate func(ctx context.Context, url string) error) {
	dir := ""
	server.start = sync.OnceValues(func() (*embedded.Postgres, error) {
		server.started.Store(true)
		var err error
		if dir, err = stateDir(); err != nil {
			return nil, err
		}
		p, err := embedded.StartPostgres(context.Background(), embedded.PostgresOptions{
			Dir: dir, Settings: []string{"fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=300"},
		})
		if err != nil {
			return nil, fmt.Errorf("testdb: %w", err)
		}
		return p, migrate(context.Background(), p.URL())
	})
	code := m.Run()
	if server.started.Load() {
		if p, _ := server.start(); p != nil {
			_ = p.Stop() // its data goes with the folder
		}
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// stateDir makes a folder that the server's account can enter, in memory where there is room: databases are copied for
// every test, and a busy disk makes that ten times slower.
func stateDir() (string, error) {
	parent := ""
	if free, err := freeBytes("/dev/shm"); err == nil && free > 1<<30 {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "heapdrift-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755) //nolint:gosec // for the server's account
	}
	if err != nil {
		return "", fmt.Errorf("testdb: %w", err)
	}
	return dir, nil
}

// New returns the URL of a fresh, migrated database that is dropped when the test ends.
func New(t testing.TB) string {
	t.Helper()
	if server.start == nil {
		t.Fatal("testdb: TestMain must call testdb.Main")
	}
	p, err := server.start()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d", server.next.Add(1))
	admin(t, p, "create database "+name+" template "+template+" strategy wal_log")
	t.Cleanup(func() { admin(t, p, "drop database "+name+" with (force)") })
	return withDatabase(t, p.URL(), name)
}

// admin runs one statement outside every test's database.
func admin(t testing.TB, p *embedded.Postgres, statement string) {
	t.Helper()
	ctx := context.Background() // the test's own is done when its cleanups run
	conn, err := pgx.Connect(ctx, withDatabase(t, p.URL(), "postgres"))
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil && !strings.Contains(err.Error(), "does not exist") {
		t.Fatalf("testdb: %s: %v", statement, err)
	}
}

func withDatabase(t testing.TB, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	u.Path = "/" + name
	return u.String()
}
