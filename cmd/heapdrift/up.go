//go:build !client

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"heapdrift/internal/demo"
	"heapdrift/internal/embedded"
	"heapdrift/internal/store"
)

// up runs everything on this machine. It uses the services that the environment names, and starts the others.
func up(ctx context.Context, args []string, s streams) (int, error) {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	withDemo := flags.Bool("demo", false, "load a demo project and print the address of its report")
	if rest, err := parse(flags, args, s); err != nil {
		return exitUsage, err
	} else if len(rest) > 0 {
		return exitUsage, &usageError{"takes no arguments but --demo"}
	}
	c, err := loadConfig()
	if err != nil {
		return exitUsage, err
	}
	log := c.logger(s.err)
	own, err := startOwn(ctx, &c, log)
	if err != nil {
		return exitInput, err
	}
	defer own.stop(log)
	r := role{web: true, work: true, freshBroker: own.redis != nil, atHome: true}
	if err := waitFor(ctx, neededServices(c, r), log); err != nil {
		return exitOK, stopped(ctx, err)
	}
	if err := store.Migrate(ctx, c.DatabaseURL); err != nil {
		return exitInput, err
	}
	p, err := openParts(ctx, c, r, s.budget, log)
	if err != nil {
		return exitInput, err
	}
	defer p.store.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go own.watch(ctx, cancel)
	err = p.run(ctx, r, func(ctx context.Context, at serverAddress) error {
		url := "http://" + browsable(at.address)
		if !*withDemo {
			fmt.Fprintf(s.out, "heapdrift is up: %s\n", url)
			return p.printAccess(ctx, s.out, at.access, url)
		}
		report, err := demo.Load(ctx, p.intake(), p.store)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "heapdrift is up: %s\nthe demo report:  %s%s\n", url, url, report)
		return p.printAccess(ctx, s.out, at.access, url)
	})
	if cause := context.Cause(ctx); errors.Is(cause, errPostgresDied) {
		err = cause
	}
	return exitOK, err
}

var errPostgresDied = errors.New("the private PostgreSQL exited: see its log in the state directory")

// ownServices are the services that this process started for itself.
type ownServices struct {
	postgres *embedded.Postgres
	redis    *embedded.Redis
}

// startOwn starts what the environment does not name and enters it into the configuration.
func startOwn(ctx context.Context, c *config, log *slog.Logger) (*ownServices, error) {
	if c.StateDir == "" {
		c.StateDir = embedded.DefaultStateDir()
	}
	if err := os.MkdirAll(c.StateDir, 0o755); err != nil {
		return nil, fmt.Errorf("state directory: %w; set HEAPDRIFT_STATE_DIR to one that can be written", err)
	}
	o := &ownServices{}
	if c.DatabaseURL == "" {
		postgres, err := embedded.StartPostgres(ctx,
			embedded.PostgresOptions{Dir: filepath.Join(c.StateDir, "postgres"), Log: log})
		if err != nil {
			return nil, err
		}
		o.postgres, c.DatabaseURL = postgres, postgres.URL()
	}
	if c.RedisURL == "" {
		redis, err := embedded.StartRedis()
		if err != nil {
			o.stop(log)
			return nil, err
		}
		o.redis, c.RedisURL = redis, "redis://"+redis.Addr()
	}
	if c.BlobURL == "" {
		dir, err := filepath.Abs(filepath.Join(c.StateDir, "blobs"))
		if err != nil {
			o.stop(log)
			return nil, fmt.Errorf("state directory: %w", err)
		}
		c.BlobURL = (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
	}
	return o, nil
}

// watch cancels everything when the private database ends by itself.
func (o *ownServices) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	if o.postgres == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-o.postgres.Done():
		cancel(errPostgresDied)
	}
}

// stop ends what was started, the database last.
func (o *ownServices) stop(log *slog.Logger) {
	if o.redis != nil {
		o.redis.Stop()
	}
	if o.postgres != nil {
		if err := o.postgres.Stop(); err != nil {
			log.Warn("the private PostgreSQL did not stop cleanly", "error", err)
		}
	}
}
