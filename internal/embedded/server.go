package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// readyTimeout is how long the server may be silent after its start. Recovery from a crash does not count.
	readyTimeout = time.Minute
	// maxLog is the size in bytes at which the log is put aside at the next start.
	maxLog = 10 << 20
)

// settings are the server's own; PostgresOptions.Settings come on top.
var settings = map[string]string{
	"listen_addresses": "127.0.0.1",
	// No socket: its path could be too long, and our user is not the server's, so that "peer" would not work.
	"unix_socket_directories": "",
	"max_connections":         "100",
	"shared_buffers":          "128MB",
	"max_wal_size":            "2GB",
	"log_destination":         "stderr",
	"logging_collector":       "off",
	"log_checkpoints":         "off", // every five minutes, into a log that is looked at after months
	"timezone":                "UTC",
	"log_timezone":            "UTC",
}

func (p *Postgres) url(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, p.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// start runs the server on a free port. Somebody may take the port before the server does; then there are others.
func (p *Postgres) start(ctx context.Context) error {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		from, err := p.launch()
		if err != nil {
			return err
		}
		if err = p.awaitReady(ctx); err == nil {
			return nil
		}
		if attempt == attempts || ctx.Err() != nil || !strings.Contains(p.logSince(from), "could not bind") {
			return err
		}
		<-p.server.done // it says so before it ends
	}
}

// launch starts the server and returns where its log begins.
func (p *Postgres) launch() (int64, error) {
	var err error
	if p.port, err = pickPort(); err != nil {
		return 0, err
	}
	all := maps.Clone(settings)
	maps.Copy(all, p.opt.Settings)
	args := []string{"-D", p.data(), "-p", strconv.Itoa(p.port)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", name+"="+all[name])
	}
	log, err := p.openLog()
	if err != nil {
		return 0, fmt.Errorf("log of the server: %w", err)
	}
	defer func() { _ = log.Close() }() // the server has its own
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("log of the server: %w", err)
	}
	// The context is not that of the start: the server outlives it.
	cmd := p.command(context.Background(), syscall.SIGINT, executable(p.bin, "postgres"), args...)
	cmd.Stdout, cmd.Stderr = log, log
	p.server, err = startProcess(cmd, func() string {
		return fmt.Sprintf("the end of %s: %s", p.path("postgres.log"), cmp.Or(lastLines(p.logSince(from)), "(nothing)"))
	})
	if err != nil {
		p.server = nil
		return 0, fmt.Errorf("start the server: %w", err)
	}
	return from, nil
}

func (p *Postgres) openLog() (*os.File, error) {
	file := p.path("postgres.log")
	if info, err := os.Stat(file); err == nil && info.Size() > maxLog {
		if err := os.Rename(file, file+".1"); err != nil {
			return nil, err //nolint:wrapcheck // says where
		}
	}
	return os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:wrapcheck // says where
}

// logSince returns the last of what the server has said since an offset in its log.
func (p *Postgres) logSince(from int64) string {
	const most = 4 << 10
	f, err := os.Open(p.path("postgres.log"))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = f.Close() }()
	if end, err := f.Seek(0, io.SeekEnd); err == nil {
		from = max(from, end-most)
	}
	content, _ := io.ReadAll(io.NewSectionReader(f, from, most))
	return string(content)
}

// awaitReady waits until the server takes connections and sees to it that our database is there.
func (p *Postgres) awaitReady(ctx context.Context) error {
	deadline := time.Now().Add(readyTimeout)
	for told := false; ; {
		err := p.makeDatabase(ctx)
		var refusal *pgconn.PgError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refusal) && refusal.Code == "57P03": // cannot_connect_now: starting, or recovering from a crash
			if !told && time.Until(deadline) < readyTimeout-3*time.Second {
				p.opt.Log.Info("PostgreSQL is recovering from a crash; this may take minutes", "log", p.path("postgres.log"))
				told = true
			}
			deadline = time.Now().Add(readyTimeout)
		case errors.As(err, &refusal):
			return fmt.Errorf("the server refuses us: %w; was the password in %s changed?", err, p.dir)
		case time.Now().After(deadline):
			return fmt.Errorf("the server does not answer for %v: %w", readyTimeout, err)
		}
		select {
		case <-p.server.done:
			return p.server.failure()
		case <-ctx.Done():
			return fmt.Errorf("wait for the server: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *Postgres) makeDatabase(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout/2)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	if err != nil {
		return err //nolint:wrapcheck // the caller says more
	}
	defer func() { _ = conn.Close(ctx) }()
	var there bool
	err = conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, superuser).Scan(&there)
	if err == nil && !there {
		_, err = conn.Exec(ctx, `create database `+superuser)
	}
	return err //nolint:wrapcheck // the caller says more
}

// writeRun tells others on the machine how to connect.
func (p *Postgres) writeRun(context.Context) error {
	content, err := json.Marshal(runState{p.URL(), p.server.cmd.Process.Pid})
	if err != nil {
		return fmt.Errorf("run.json: %w", err)
	}
	temp := p.path("run.json.new")
	err = os.WriteFile(temp, append(content, '\n'), 0o600)
	if err == nil {
		err = os.Rename(temp, p.path("run.json"))
	}
	if err != nil {
		return fmt.Errorf("run.json: %w", err)
	}
	return nil
}

// A runState is what run.json holds.
type runState struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
}

// RunningPostgres is the URL of the server that another process runs on a state directory.
func RunningPostgres(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if errors.Is(err, os.ErrNotExist) {
		return "", wrap(fmt.Errorf("none runs on %s: start heapdrift up, or set HEAPDRIFT_DATABASE_URL to the database of the server", dir))
	}
	var run runState
	if err == nil {
		err = json.Unmarshal(text, &run)
	}
	return run.URL, wrap(err)
}

// pickPort is freePort; tests put one in its place that is not free.
var pickPort = freePort

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // returns at once
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, nil
}
