package testdb_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/await"
	"heapdrift/internal/testdb"
)

// childEnv selects the behaviour of a test binary that a test starts.
const childEnv = "TESTDB_TEST_CHILD"

var migrations atomic.Int32

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "no main":
		m.Run()
	case "migration fails":
		testdb.Main(m, func(context.Context, string) error { return errors.New("column without a type") })
	default:
		testdb.Main(m, migrate)
	}
}

func migrate(ctx context.Context, url string) error {
	migrations.Add(1)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, `create table marks (name text)`)
	return err
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func query[T any](t *testing.T, conn *pgx.Conn, statement string) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), statement).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The server plans a statement once for each connection and derives the key of a login in one round; for benchmarks it
// plans as in production.
func TestStatementsAndLoginsAreCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	conn := connect(t, testdb.New(t)) // with the password
	if key := query[string](t, conn, `select rolpassword from pg_authid where rolname = current_user`); !strings.HasPrefix(
		key, "SCRAM-SHA-256$1:") {
		t.Errorf("the key of the password is %s", key)
	}
	want := "force_generic_plan"
	if flag.Lookup("test.bench").Value.String() != "" {
		want = "auto"
	}
	if mode := query[string](t, conn, `show plan_cache_mode`); mode != want {
		t.Errorf("plans: %s, want %s", mode, want)
	}
}

// Every test has a database of its own, made from a template that is migrated once.
func TestDatabasesAreApart(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Run("together", func(t *testing.T) {
		for i := range 20 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				url := testdb.New(t)
				t.Logf("%v", time.Since(began).Round(time.Millisecond))
				conn := connect(t, url)
				// Counted in the snapshot before the insert.
				if n := query[int](t, conn, `with added as (insert into marks values ('x')) select count(*) from marks`); n != 0 {
					t.Errorf("%d rows of other tests", n)
				}
				if n := query[int](t, conn, `select count(*) from marks`); n != 1 {
					t.Errorf("%d rows of its own", n)
				}
			})
		}
	})
	if n := migrations.Load(); n != 1 {
		t.Errorf("migrated %d times", n)
	}
}

// A database goes after its test, even if that leaves a connection open.
func TestDatabaseIsDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	conn := connect(t, testdb.New(t))
	name := ""
	t.Run("one", func(t *testing.T) {
		own, err := pgx.Connect(t.Context(), testdb.New(t))
		if err != nil {
			t.Fatal(err)
		}
		name = query[string](t, own, `select current_database()`)
		if n := query[int](t, conn, `select count(*) from pg_database where datname = '`+name+`'`); n != 1 {
			t.Errorf("%d databases are called %s", n, name)
		}
	})
	await.Until(t, "the end of database "+name, func() bool {
		return query[int](t, conn, `select count(*) from pg_database where datname = '`+name+`'`) == 0
	})
}

var fillings atomic.Int32

// Tests that ask for the same filled database get a copy each, and it is filled once.
func TestCopies(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, testdb.Copy(t, "filled", func(url string) {
				fillings.Add(1)
				conn, err := pgx.Connect(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				_ = query[int](t, conn, `with added as (insert into marks values ('filled')) select 1`)
				if err := conn.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}))
			if all := query[string](t, conn, `select string_agg(name, ' ') from marks`); all != "filled" {
				t.Errorf("it has %s", all)
			}
			_ = query[int](t, conn, `with added as (insert into marks values ('own')) select 1`)
		})
	}
	if n := fillings.Load(); n != 1 {
		t.Errorf("filled %d times", n)
	}
	if all := query[int](t, connect(t, testdb.New(t)), `select count(*) from marks`); all != 0 {
		t.Errorf("the template has %d rows", all)
	}
}

func TestServerIsFast(t *testing.T) {
	conn := connect(t, testdb.New(t))
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		if got := query[string](t, conn, "show "+name); got != "off" {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// TestChild is what the tests below run in a process of its own.
func TestChild(t *testing.T) {
	way := os.Getenv(childEnv)
	if way == "" {
		return
	}
	conn := connect(t, testdb.New(t))
	fmt.Println("data:", query[string](t, conn, `show data_directory`))
	switch way {
	case "fails":
		t.Fatal("as it should")
	case "does not fill":
		for range 2 {
			t.Run("one", func(t *testing.T) { testdb.Copy(t, "it", func(string) { t.Fatal("no room") }) })
		}
	case "drops it itself":
		name := query[string](t, conn, `select current_database()`)
		admin := connect(t, strings.Replace(testdb.New(t), "/test_2", "/postgres", 1))
		if _, err := admin.Exec(t.Context(), "drop database "+name+" with (force)"); err != nil {
			t.Fatal(err)
		}
	case "is killed":
		_ = exec.Command("kill", "-9", fmt.Sprint(os.Getpid())).Run()
		select {}
	}
}

// child runs TestChild and returns its result, its output and the state directory of its server.
func child(t *testing.T, way string) (output, dir string, err error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+way)
	out, err := cmd.CombinedOutput()
	if _, data, ok := strings.Cut(string(out), "data: "); ok {
		data, _, _ = strings.Cut(data, "\n")
		dir = filepath.Dir(filepath.Dir(data)) // …/postgres/data
	}
	return string(out), dir, err
}

func TestNothingStays(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for way, fails := range map[string]bool{"passes": false, "fails": true} {
		output, dir, err := child(t, way)
		if (err != nil) != fails || !strings.Contains(filepath.Base(dir), "heapdrift-testdb-") {
			t.Errorf("%s: %v, %q:\n%s", way, err, dir, output)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %s: %v", way, dir, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for way, want := range map[string]string{
		"no main":         "call testdb.Main from TestMain",
		"migration fails": "testdb: migrate the template: column without a type",
		"does not fill":   `testdb: the first test that asked for "it" could not fill it`,
		"drops it itself": `-- of TestChild: ERROR: database "test_1" does not exist`,
	} {
		if output, _, err := child(t, way); err == nil || !strings.Contains(output, want) {
			t.Errorf("%s: %v:\n%s", way, err, output)
		}
	}
}
