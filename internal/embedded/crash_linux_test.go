package embedded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"heapdrift/internal/await"
)

// A crash of the server is noticed at once. The next start recovers all committed rows, even if a busy child outlived
// the server.
func TestServerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := preparedDir(t)
	p := start(t, PostgresOptions{Dir: dir})
	execute(t, p, `create table t as select generate_series(1, 1000) as id`)
	busy := connect(t, p)
	pid := busy.PgConn().PID()
	go func() {
		_, _ = busy.Exec(context.Background(),
			`select sum(a * b) from generate_series(1, 100000) a, generate_series(1, 100000) b`)
	}()
	await.Until(t, "the query to run", func() bool {
		return query[int](t, p,
			fmt.Sprintf(`select count(*) from pg_stat_activity where pid = %d and state = 'active'`, pid)) > 0
	})
	if err := syscall.Kill(runFile(t, p).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("nobody notices")
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "ended by itself: signal: killed") {
		t.Errorf("Stop: %v", err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		t.Errorf("no child has outlived the server, so this test shows too little: %v", err)
	}
	began := time.Now()
	again := start(t, PostgresOptions{Dir: dir})
	t.Logf("start with recovery %v", time.Since(began).Round(time.Millisecond))
	if got := query[int](t, again, `select count(*) from t`); got != 1000 {
		t.Errorf("%d rows", got)
	}
}

// supervisor starts a process that runs a server and writes rows.
func supervisor(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), superviseEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// When the process that runs the server is killed, the server ends by itself, without another start. All rows that were
// reported as committed are still there.
func TestSupervisorKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	cmd, out := supervisor(t, dir)
	last := -1
	for out.Scan() {
		id, err := strconv.Atoi(out.Text())
		if err != nil {
			t.Fatal(out.Text())
		}
		if last = id; last == 300 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if last < 300 {
		t.Fatalf("it ended after row %d", last)
	}
	killed := time.Now()
	await.Until(t, "the end of the server", func() bool {
		left, err := processesIn(filepath.Join(dir, "data"))
		return err == nil && len(left) == 0
	})
	t.Logf("the server was gone %v later", time.Since(killed).Round(time.Millisecond))
	p := start(t, PostgresOptions{Dir: dir})
	if got := query[int](t, p, fmt.Sprintf(`select count(*) from rows where id <= %d`, last)); got != last+1 {
		t.Errorf("%d rows of %d that were committed", got, last+1)
	}
}

// The next process may start while the server of a killed process is still shutting down.
func TestSupervisorKilledAndReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	cmd, out := supervisor(t, dir)
	for out.Scan() && out.Text() != "100" {
		continue
	}
	if err := errors.Join(cmd.Process.Kill(), ignoreExit(cmd.Wait())); err != nil {
		t.Fatal(err)
	}
	p := start(t, PostgresOptions{Dir: dir})
	if got := query[int](t, p, `select count(*) from rows where id <= 100`); got != 101 {
		t.Errorf("%d rows", got)
	}
}

func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// An initdb whose process is killed does not write into the next process's cluster.
func TestSupervisorKilledInInitdb(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	cmd, _ := supervisor(t, dir)
	await.Until(t, "initdb", func() bool {
		_, err := os.Stat(filepath.Join(dir, "data.new", "base"))
		return err == nil
	})
	if err := errors.Join(cmd.Process.Kill(), ignoreExit(cmd.Wait())); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		t.Skip("initdb was faster than this test")
	}
	p := start(t, PostgresOptions{Dir: dir})
	if got := query[int](t, p, `select 1`); got != 1 {
		t.Error(got)
	}
}

// After a restart of the machine the number in postmaster.pid may belong to another process of the same account, which
// PostgreSQL would take for a running server.
func TestStalePID(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := preparedDir(t)
	p := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	stop(t, p)
	other := exec.Command("sleep", "60")
	tie(other, p.account, syscall.SIGKILL)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	file := filepath.Join(dir, "data", "postmaster.pid")
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d\n%s\n", other.Process.Pid, p.data()), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := p.account; a != nil {
		if err := os.Chown(file, a.uid, a.gid); err != nil {
			t.Fatal(err)
		}
	}
	again := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	if got := query[int](t, again, `select 1`); got != 1 {
		t.Error(got)
	}
	if err := syscall.Kill(other.Process.Pid, 0); err != nil {
		t.Errorf("the other process suffers: %v", err)
	}
}

// Only PostgreSQL's processes are found: other processes, such as a shell, may have the directory as their own.
func TestProcessesIn(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	dir := preparedDir(t)
	p := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	shell := exec.Command("sleep", "60")
	shell.Dir = p.data()
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shell.Process.Kill(); _ = shell.Wait() }()
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{p.data(), filepath.Join(link, "data")} {
		pids, err := processesIn(data)
		found := map[int]bool{}
		for _, pid := range pids {
			found[pid] = true
		}
		if err != nil || !found[runFile(t, p).PID] || found[shell.Process.Pid] || len(pids) < 3 {
			t.Errorf("%s: %v, %v", data, pids, err)
		}
	}
	// Ctrl-C in a terminal goes to a whole process group; the server must end after this process.
	if group, err := syscall.Getpgid(runFile(t, p).PID); err != nil || group == syscall.Getpgrp() {
		t.Errorf("the server is in our process group: %d, %v", group, err)
	}
	if pids, err := processesIn(filepath.Join(dir, "nothing")); len(pids) != 0 || err != nil {
		t.Errorf("%v, %v", pids, err)
	}
}

// A server that does not stop in time is forced to.
func TestStopInsists(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := start(t, PostgresOptions{Dir: preparedDir(t), Settings: unsafeButFast})
	conn := connect(t, p)
	if err := syscall.Kill(int(conn.PgConn().PID()), syscall.SIGSTOP); err != nil { // will not hear of the shutdown
		t.Fatal(err)
	}
	defer func(d time.Duration) { shutdownTimeout = d }(shutdownTimeout)
	shutdownTimeout = 200 * time.Millisecond
	began := time.Now()
	stop(t, p)
	if took := time.Since(began); took < shutdownTimeout || took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	await.Until(t, "the end of all processes", func() bool {
		left, err := processesIn(p.data())
		return err == nil && len(left) == 0
	})
}

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: only root runs the server as another account")
	}
}

func TestUnreachableDir(t *testing.T) {
	asRoot(t)
	private := filepath.Join(filepath.Dir(stateDir(t)), "private")
	dir := filepath.Join(private, "deep", "state")
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o755), os.Chmod(private, 0o700)); err != nil {
		t.Fatal(err)
	}
	refused(t, PostgresOptions{Dir: dir}, "cannot enter "+dir, "open "+private+" by chmod a+x",
		"choose another state directory")
}

func TestAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	asRoot(t)
	for name, want := range map[string]string{
		"no-such-account": "no account no-such-account; set HEAPDRIFT_PG_USER",
		"root":            "account root is root",
	} {
		t.Setenv("HEAPDRIFT_PG_USER", name)
		refused(t, PostgresOptions{Dir: stateDir(t)}, want)
	}
	t.Setenv("HEAPDRIFT_PG_USER", "nobody")
	p := start(t, PostgresOptions{Dir: stateDir(t), Settings: unsafeButFast})
	info, err := os.Stat(p.data())
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != p.account.uid || p.account.name != "nobody" ||
		info.Mode().Perm() != 0o700 {
		t.Errorf("data belongs to %d, %v; the server runs as %+v", owner.Uid, info.Mode(), p.account)
	}
}

// The server's account can read what it needs, even if heapdrift starts with a strict umask.
func TestUmask(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := stateDir(t)
	defer syscall.Umask(syscall.Umask(0o077))
	p := start(t, PostgresOptions{Dir: dir, Settings: unsafeButFast})
	if got := query[int](t, p, `select 1`); got != 1 {
		t.Error(got)
	}
	programs := t.TempDir()
	content := tarball(t, entry{name: "package/native/bin/postgres"}, noLinks)
	if err := unpack(bytes.NewReader(content), filepath.Join(programs, "bundle")); err != nil {
		t.Fatal(err)
	}
	for _, line := range tree(t, programs) {
		if !strings.Contains(line, "r-x ") && !strings.Contains(line, "r-- ") {
			t.Errorf("closed to others: %s", line)
		}
	}
}
