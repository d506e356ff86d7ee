package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/testdb/tmpfs"
)

// superviseEnv makes the test binary run a server in the directory that the variable names, and write rows until it is
// killed.
const superviseEnv = "EMBEDDED_TEST_SUPERVISE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(superviseEnv); dir != "" {
		fmt.Println(supervise(dir))
		os.Exit(1)
	}
	tmpfs.Sweep()
	m.Run()
	if prepared != "" {
		_ = os.RemoveAll(prepared)
	}
}

func supervise(dir string) error {
	ctx := context.Background()
	p, err := StartPostgres(ctx, PostgresOptions{Dir: dir})
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, p.URL())
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `create table rows (id int primary key)`); err != nil {
		return err
	}
	for id := 0; ; id++ {
		if _, err := conn.Exec(ctx, `insert into rows values ($1)`, id); err != nil {
			return err
		}
		fmt.Println(id) // committed
	}
}

// unsafeButFast is for tests that do not check what survives a crash.
var unsafeButFast = map[string]string{"fsync": "off"}

// stateDir is a directory that the server's account can enter, which t.TempDir is not.
func stateDir(t *testing.T) string {
	t.Helper()
	dir, err := tmpfs.MakeInMemoryOrOnDisk()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "postgres")
}

// prepared is a state directory to be copied by tests that are not about the first start, which takes a second.
var prepared string

func preparedDir(t *testing.T) string {
	t.Helper()
	if prepared == "" {
		dir, err := tmpfs.MakeInMemoryOrOnDisk() // other tests use it
		if err != nil {
			t.Fatal(err)
		}
		stop(t, start(t, PostgresOptions{Dir: filepath.Join(dir, "postgres"), Settings: unsafeButFast}))
		prepared = dir
	}
	dir := stateDir(t)
	if out, err := exec.Command("cp", "-a", filepath.Join(prepared, "postgres"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func start(t *testing.T, opt PostgresOptions) *Postgres {
	t.Helper()
	p, err := StartPostgres(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	return p
}

func stop(t *testing.T, p *Postgres) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}

// refused checks that the server does not start, and that the error is one line with all of want.
func refused(t *testing.T, opt PostgresOptions, want ...string) {
	t.Helper()
	p, err := StartPostgres(t.Context(), opt)
	if err == nil {
		_ = p.Stop()
		t.Fatal("it starts")
	}
	for _, part := range append(want, "embedded postgres: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error of several lines: %s", err)
	}
	if lock, err := lockDir(filepath.Join(opt.Dir, "lock")); err == nil {
		_ = lock.Close()
	} else if _, there := os.Stat(opt.Dir); there == nil {
		t.Errorf("the directory stays locked: %v", err)
	}
}

func connect(t *testing.T, p *Postgres) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, p *Postgres, statement string) {
	t.Helper()
	conn := connect(t, p)
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
}

func query[T any](t *testing.T, p *Postgres, statement string) (v T) {
	t.Helper()
	conn := connect(t, p)
	if err := conn.QueryRow(t.Context(), statement).Scan(&v); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	return v
}

// runFile is what run.json says.
func runFile(t *testing.T, p *Postgres) (run struct {
	URL string
	PID int
}) {
	t.Helper()
	content, err := os.ReadFile(p.path("run.json"))
	if err == nil {
		err = json.Unmarshal(content, &run)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}
