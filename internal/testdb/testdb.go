// Package testdb gives tests PostgreSQL databases: one private server per test process, which starts when the first
// test asks for it, and one database per test, copied from a template that is migrated once. Out goes its URL.
//
//	func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }
//
//	func TestSomething(t *testing.T) {
//		s, err := store.Open(t.Context(), testdb.New(t))
package testdb

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/internal/embedded"
	"heapdrift/internal/testdb/tmpfs"
)

// timeout bounds what a test waits for the server. Copying a database takes 50 ms, on a busy disk 600.
const timeout = time.Minute

// settings make the server fast and forgetful. Tests that run at once have a pool of connections each.
func settings() map[string]string {
	s := map[string]string{
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off", "max_connections": "300",
	}
	if flag.Lookup("test.bench").Value.String() == "" {
		// A test runs most statements a few times on each connection, where PostgreSQL plans anew for each. Benchmarks
		// measure the plans of production.
		s["plan_cache_mode"] = "force_generic_plan"
	}
	return s
}

// shared is the server of this process; nil outside Main.
var shared *server

type server struct {
	start    func() error // once
	dir      string
	sockets  string // the folder of its socket; empty without one
	postgres *embedded.Postgres
	next     atomic.Int64 // number of the last database
	patterns sync.Map     // *pattern by what Copy calls them
	copying  admin
	dropping dropper
}

// Main runs a package's tests; call it from TestMain, which returns after it. migrate brings an empty database to what
// tests expect. It is called once at most.
func Main(m *testing.M, migrate func(ctx context.Context, url string) error) {
	s := &server{}
	s.copying.server, s.dropping.server = s, s
	s.start = sync.OnceValue(func() error { return s.launch(migrate) })
	shared = s
	m.Run() // its result is the process's
	if err := s.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// New returns the URL of a fresh, migrated database, which is dropped after the test.
func New(t testing.TB) string {
	t.Helper()
	s := started(t)
	return s.url(s.copy(t, s.template()))
}

// A pattern is a database that Copy copies.
type pattern struct {
	once     sync.Once
	database string // empty where the test that was to fill it failed
}

// Copy returns the URL of a database like New's that has what fill stores in it. fill runs once for all tests that give
// the same name; it closes the connections that it opens.
func Copy(t testing.TB, name string, fill func(url string)) string {
	t.Helper()
	s := started(t)
	made, _ := s.patterns.LoadOrStore(name, &pattern{})
	p := made.(*pattern)
	p.once.Do(func() {
		database := s.create(t, s.template())
		fill(s.url(database))
		p.database = database
	})
	if p.database == "" {
		t.Fatalf("testdb: the first test that asked for %q could not fill it", name)
	}
	return s.url(s.copy(t, p.database))
}

func started(t testing.TB) *server {
	t.Helper()
	if shared == nil {
		t.Fatal("testdb: there is no server; call testdb.Main from TestMain")
	}
	if err := shared.start(); err != nil {
		t.Fatal(err)
	}
	return shared
}

// copy returns the name of a copy of a database for a test.
func (s *server) copy(t testing.TB, of string) string {
	t.Helper()
	name := s.create(t, of)
	t.Cleanup(func() { s.dropping.drop(name, t.Name()) }) // after those that close connections
	return name
}

func (s *server) create(t testing.TB, of string) string {
	t.Helper()
	name := "test_" + strconv.FormatInt(s.next.Add(1), 10)
	// Faster than file_copy, which makes two checkpoints.
	if err := s.copying.run("create database " + name + " template " + of + " strategy wal_log"); err != nil {
		t.Fatal(err)
	}
	return name
}

func (s *server) launch(migrate func(ctx context.Context, url string) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	tmpfs.Sweep()
	var err error
	if s.dir, err = tmpfs.MakeInMemoryOrOnDisk(); err != nil {
		return fmt.Errorf("testdb: %w", err)
	}
	if err = s.makeSockets(); err != nil {
		return fmt.Errorf("testdb: %w", err)
	}
	set := settings()
	set["unix_socket_directories"] = s.sockets
	s.postgres, err = embedded.StartPostgres(ctx,
		embedded.PostgresOptions{Dir: filepath.Join(s.dir, "postgres"), Settings: set})
	if err != nil {
		return fmt.Errorf("testdb: %w", err)
	}
	if err := s.hurryLogins(); err != nil {
		return err
	}
	if err := migrate(ctx, s.postgres.URL()); err != nil {
		return fmt.Errorf("testdb: migrate the template: %w", err)
	}
	return nil
}

// longestSocket is how many bytes the path of a socket may have: macOS takes 104, one of them at its end.
const longestSocket = 103

// makeSockets makes a folder for the server's socket. A socket of the file system costs less than one of TCP, and each
// statement crosses it twice. The server goes without it where the path is too long, or has a comma, which divides the
// setting for PostgreSQL.
func (s *server) makeSockets() error {
	dir, err := filepath.Abs(filepath.Join(s.dir, "sockets"))
	if err != nil || len(filepath.Join(dir, ".s.PGSQL.65535")) > longestSocket || strings.Contains(dir, ",") {
		return err
	}
	s.sockets = dir
	// The server may run as another account.
	return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777|os.ModeSticky))
}

// hurryLogins replaces what the server knows of the password: its keys take one round to derive in place of 4,096, on
// which each side spends milliseconds at every login. The form is that of RFC 5803, as PostgreSQL stores it.
func (s *server) hurryLogins() error {
	password, _ := s.address().User.Password()
	const salt = "sixteen bytes of"
	salted, err := pbkdf2.Key(sha256.New, password, []byte(salt), 1, sha256.Size)
	if err != nil {
		return fmt.Errorf("testdb: %w", err)
	}
	keyed := func(text string) []byte {
		mac := hmac.New(sha256.New, salted)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	stored := sha256.Sum256(keyed("Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return s.copying.run(fmt.Sprintf("alter role current_user password 'SCRAM-SHA-256$1:%s$%s:%s'",
		encode([]byte(salt)), encode(stored[:]), encode(keyed("Server Key"))))
}

func (s *server) stop() error {
	err := s.dropping.wait()
	s.copying.close()
	if s.postgres != nil {
		err = errors.Join(err, s.postgres.Stop())
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	if err != nil {
		return fmt.Errorf("testdb: %w", err)
	}
	return nil
}

// template is the database that the server came with.
func (s *server) template() string { return s.address().Path[1:] }

func (s *server) address() *url.URL {
	u, _ := url.Parse(s.postgres.URL()) // made by url.URL
	if s.sockets == "" {
		return u
	}
	query := u.Query()
	query.Set("host", s.sockets)
	query.Set("port", u.Port())
	u.Host, u.RawQuery = "", query.Encode()
	return u
}

func (s *server) url(database string) string {
	u := s.address()
	u.Path = "/" + database
	return u.String()
}
