package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestColdAndWarmStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	began := time.Now()
	p := start(t, PostgresOptions{Dir: dir})
	t.Logf("cold start %v", time.Since(began).Round(time.Millisecond))
	for statement, want := range map[string]string{
		`select current_user || '@' || current_database()`: "heapdrift@heapdrift",
		`show timezone`:                "UTC",
		`show data_checksums`:          "on",
		`show fsync`:                   "on",
		`show unix_socket_directories`: "",
		`show listen_addresses`:        "127.0.0.1",
		`select datcollate from pg_database where oid = 1`:   "C",
		`select pg_encoding_to_char(6)`:                      "UTF8",
		`select rolsuper::text from pg_roles where oid = 10`: "true",
	} {
		if got := query[string](t, p, statement); got != want {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
	execute(t, p, `create table t as select 'kept' as v`)
	if run := runFile(t, p); run.URL != p.URL() || run.PID != p.server.cmd.Process.Pid {
		t.Errorf("run.json says %+v", run)
	}
	for _, name := range []string{"run.json", "password", "postgres.log"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	select {
	case <-p.Done():
		t.Error("done while it runs")
	default:
	}
	began = time.Now()
	stop(t, p)
	t.Logf("stop %v", time.Since(began).Round(time.Millisecond))
	<-p.Done()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "run.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("run.json stays: %v", err)
	}

	began = time.Now()
	again := start(t, PostgresOptions{Dir: dir})
	t.Logf("warm start %v", time.Since(began).Round(time.Millisecond))
	if got := query[string](t, again, `select v from t`); got != "kept" {
		t.Errorf("after a restart: %q", got)
	}
	if strings.Split(again.URL(), "@")[0] != strings.Split(p.URL(), "@")[0] {
		t.Error("the password has changed")
	}
}

// A directory has one server; a second start is refused and names the process that holds the directory.
func TestSecondIsRefused(t *testing.T) {
	dir := preparedDir(t)
	p := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	_, err := StartPostgres(t.Context(), PostgresOptions{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by process %d;", os.Getpid())) {
		t.Errorf("second: %v", err)
	}
	if got := query[int](t, p, `select 1`); got != 1 {
		t.Error("the first one suffers")
	}
	if _, err := os.Stat(p.path("run.json")); err != nil {
		t.Errorf("the second one takes run.json away: %v", err)
	}
}

func TestSettings(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	t.Setenv("PGPORT", "1")
	p := start(t, PostgresOptions{Dir: preparedDir(t),
		Settings: map[string]string{"fsync": "off", "max_connections": "17", "log_line_prefix": "%m 'x' "}})
	for name, want := range map[string]string{"max_connections": "17", "log_line_prefix": "%m 'x' ",
		"shared_buffers": "128MB"} {
		if got := query[string](t, p, "show "+name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", runFile(t, p).PID))
	if errors.Is(err, os.ErrNotExist) {
		return // no /proc here
	}
	if err != nil || strings.Contains(string(environ), "AWS_") || strings.Contains(string(environ), "PGPORT") {
		t.Errorf("the server's environment: %q, %v", environ, err)
	}
}

// The error of a server that does not start contains what the server logged.
func TestServerThatDoesNotStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := preparedDir(t)
	refused(t, PostgresOptions{Dir: dir, Settings: map[string]string{"fsync": "off", "shared_buffers": "plenty"}},
		"ended by itself", `invalid value for parameter "shared_buffers": "plenty"`, filepath.Join(dir, "postgres.log"))
	start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast}) // the cluster is fine
}

// Another process may take the chosen port before the server starts: then another port is chosen.
func TestPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	picked := 0
	pickPort = func() (int, error) {
		picked++
		if picked == 1 {
			return taken.Addr().(*net.TCPAddr).Port, nil
		}
		return freePort()
	}
	defer func() { pickPort = freePort }()
	go func() { // pgx shall hear at once that this is no PostgreSQL
		for {
			c, err := taken.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	p := start(t, PostgresOptions{Dir: preparedDir(t), Settings: unsafeButFast})
	if got := query[int](t, p, `select 1`); got != 1 || picked != 2 {
		t.Errorf("%d, %d ports picked", got, picked)
	}
}

func TestStartCancelled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	cause := errors.New("the user has changed his mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for { // in the middle of initdb
			if _, err := os.Stat(filepath.Join(dir, "data.new", "base")); err == nil {
				cancel(cause)
				return
			}
		}
	}()
	if p, err := StartPostgres(ctx, PostgresOptions{Dir: dir, Settings: unsafeButFast}); !errors.Is(err, cause) {
		t.Fatalf("%v, %v", p, err)
	}
	p := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	if _, err := os.Stat(p.path("data.new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data.new stays: %v", err)
	}
}

// A killed initdb leaves a directory that looks like a cluster; the next start makes a new one.
func TestHalfMadeCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	half := filepath.Join(dir, "data.new")
	if err := errors.Join(os.MkdirAll(half, 0o700),
		os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("15\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	if got := query[int](t, p, `select 1`); got != 1 {
		t.Error(got)
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data.new stays: %v", err)
	}
}

func TestDamagedStateDir(t *testing.T) {
	dir := preparedDir(t)
	password, version := filepath.Join(dir, "password"), filepath.Join(dir, "data", "PG_VERSION")
	for _, c := range []struct {
		file, content string // "" removes it
		want          []string
	}{
		{password, "", []string{"password of the database", "restore the file"}},
		{password, "\n", []string{password + " is empty"}},
		{password, "another\n", []string{"refuses us", "password authentication failed", "was the password"}},
		{version, "fifteen\n", []string{version + " is damaged"}},
		{version, "13\n", []string{"PostgreSQL 13, which made", "apt-get install postgresql-13",
			"HEAPDRIFT_DATABASE_URL", "version 1"}},
	} {
		before, err := os.ReadFile(c.file)
		if err == nil {
			err = os.Remove(c.file)
		}
		if err == nil && c.content != "" {
			err = os.WriteFile(c.file, []byte(c.content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(c.file)+"-"+strings.TrimSpace(c.content), func(t *testing.T) {
			t.Setenv("PATH", t.TempDir()) // with an npm it would still not fetch another version
			refused(t, PostgresOptions{Dir: dir, Settings: unsafeButFast}, c.want...)
		})
		if err := os.WriteFile(c.file, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoBinaries(t *testing.T) {
	const advice = "run apt-get install postgresql, or set HEAPDRIFT_DATABASE_URL to a server of yours"
	t.Setenv("PATH", t.TempDir())
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	refused(t, PostgresOptions{Dir: stateDir(t), BinDir: nowhere}, "no PostgreSQL 14 or newer", advice,
		nowhere+": no postgres there")

	t.Run("PG_BIN", func(t *testing.T) { // is meant, so nothing else is taken
		t.Setenv("HEAPDRIFT_PG_BIN", nowhere)
		refused(t, PostgresOptions{Dir: stateDir(t)}, advice, nowhere+": no postgres there")
	})
	t.Run("anywhere", func(t *testing.T) {
		defer func(p []string) { places = p }(places)
		places = nil
		refused(t, PostgresOptions{Dir: stateDir(t)}, advice, "npm: not installed")
	})
	t.Run("broken", func(t *testing.T) { // there, but they do not run, or are something else
		for name, script := range map[string]string{
			"missing library": "echo cannot open libicu.so >&2; exit 127",
			"says \"MySQL\"":  "echo MySQL",
			"is too old":      "echo 'postgres (PostgreSQL) 9.6.24'",
		} {
			bin, err := os.MkdirTemp("", "embedded-test-") //nolint:usetesting // the server's account must enter it
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(bin) })
			for _, program := range []string{"postgres", "initdb"} {
				err = errors.Join(err, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
			if err = errors.Join(err, os.Chmod(bin, 0o755)); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"missing library": "cannot open libicu.so"}[name]
			if want == "" {
				want = name
			}
			refused(t, PostgresOptions{Dir: stateDir(t), BinDir: bin}, bin+": ", want)
		}
	})
}

func TestMajorOf(t *testing.T) {
	for version, want := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": 15,
		"postgres (PostgreSQL) 18beta2":                        18,
		"postgres (PostgreSQL) 17":                             17,
		"postgres (PostgreSQL) ":                               0,
		"postgres (PostgreSQL) devel":                          0,
		"redis-server v=7":                                     0,
		"":                                                     0,
	} {
		if got := majorOf(version); got != want {
			t.Errorf("%q: %d, want %d", version, got, want)
		}
	}
}

// The newest version comes first, by number and not by name.
func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"9.6", "15", "17", "100"} {
		if err := os.MkdirAll(filepath.Join(dir, version, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	defer func(p []string) { places = p }(places)
	places = []string{filepath.Join(dir, "*", "bin")}
	want := ""
	for _, version := range []string{"100", "17", "15", "9.6"} {
		want += filepath.Join(dir, version, "bin") + " "
	}
	if got := strings.Join(candidates(t.Context()), " ") + " "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The log does not grow for ever.
func TestLogIsPutAside(t *testing.T) {
	p := &Postgres{dir: t.TempDir()}
	for _, c := range []struct {
		size  int64
		aside bool
	}{{maxLog, false}, {maxLog + 1, true}} {
		err := os.WriteFile(p.path("postgres.log"), nil, 0o600)
		if err == nil {
			err = os.Truncate(p.path("postgres.log"), c.size)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.openLog()
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		if _, err := os.Stat(p.path("postgres.log.1")); (err == nil) != c.aside {
			t.Errorf("%d bytes: %v", c.size, err)
		}
	}
}

func TestDefaultStateDir(t *testing.T) {
	if os.Geteuid() == 0 {
		if got := DefaultStateDir(); got != "/var/lib/heapdrift" {
			t.Errorf("root: %s", got)
		}
		return
	}
	t.Setenv("HOME", "/home/somebody")
	for xdg, want := range map[string]string{
		"":           "/home/somebody/.local/state/heapdrift",
		"/elsewhere": "/elsewhere/heapdrift",
		"relative":   "/home/somebody/.local/state/heapdrift",
	} {
		t.Setenv("XDG_STATE_HOME", xdg)
		if got := DefaultStateDir(); got != want {
			t.Errorf("XDG_STATE_HOME=%s: %s, want %s", xdg, got, want)
		}
	}
}
