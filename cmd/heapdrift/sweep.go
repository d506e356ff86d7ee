//go:build !client

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/blob"
	"heapdrift/internal/embedded"
	"heapdrift/internal/store"
	"heapdrift/worker"
)

// locate enters the database and the blobs of heapdrift up, which runs, where the environment names none.
func (c *config) locate() error {
	state := cmp.Or(c.StateDir, embedded.DefaultStateDir())
	if c.DatabaseURL == "" {
		running, err := embedded.RunningPostgres(filepath.Join(state, "postgres"))
		if err != nil {
			return err
		}
		c.DatabaseURL = running
	}
	if c.BlobURL == "" {
		at, err := folderURL(filepath.Join(state, "blobs"))
		if err != nil {
			return err
		}
		c.BlobURL = at
	}
	return nil
}

// folderURL is the URL of a store of blobs in a folder.
func folderURL(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("folder: %w", err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String(), nil
}

// openInstallation opens the database and the blobs of an installation for a command that looks after it.
func openInstallation(ctx context.Context) (s *store.Store, blobs blob.Store, c config, err error) {
	if c, err = loadConfig(); err != nil {
		return nil, nil, c, &usageError{err.Error()}
	}
	if err := c.locate(); err != nil {
		return nil, nil, c, err
	}
	if blobs, err = blob.Open(ctx, c.BlobURL); err != nil {
		return nil, nil, c, err
	}
	if s, err = store.Open(ctx, c.DatabaseURL); err != nil {
		return nil, nil, c, err
	}
	return s, blobs, c, nil
}

// sweep deletes blobs that no row names, or lists them.
func sweep(ctx context.Context, args []string, s streams) (int, error) {
	flags := flag.NewFlagSet("sweep", flag.ContinueOnError)
	dry := flags.Bool("dry-run", false, "list what would be deleted, and delete nothing")
	older := flags.Duration("older", worker.OrphanAge, "least age of a blob without a row")
	claim := flags.Bool("claim", false, "first make the blob store part of this installation, after a restore")
	rest, err := parse(flags, args, s)
	if err != nil {
		return exitUsage, err
	}
	switch {
	case len(rest) > 0 || *older < time.Hour:
		return exitUsage, &usageError{"takes no arguments but flags; --older is 1h or more"}
	case *dry && *claim:
		return exitUsage, &usageError{"--dry-run changes nothing, and --claim changes whose blobs they are: give one of them"}
	}
	db, blobs, _, err := openInstallation(ctx)
	if err != nil {
		return exitInput, err
	}
	defer db.Close()
	if err := db.CheckSchema(ctx); err != nil {
		return exitInput, err
	}
	keeper := &worker.Retention{Store: db, Blobs: blobs, Log: slog.New(slog.DiscardHandler)}
	if *claim {
		if err := keeper.Claim(ctx); err != nil {
			return exitInput, err
		}
	}
	var unwanted store.Removal
	if !*dry {
		if unwanted, err = keeper.Sweep(ctx); err != nil {
			return exitInput, err
		}
	}
	orphans, err := keeper.SweepOrphans(ctx, *older, func(i blob.Info) bool {
		if *dry {
			fmt.Fprintf(s.out, "%s\t%d\t%s\n", i.Key, i.Size, i.Modified.UTC().Format(time.RFC3339))
		}
		return !*dry
	})
	if err != nil {
		return exitInput, err
	}
	if *dry {
		fmt.Fprintf(s.out, "no row names %s with %s; nothing was deleted\n", quantity.Plural(orphans.Files, "blob"), quantity.Bytes(orphans.Bytes))
		return exitOK, nil
	}
	for what, freed := range map[string]store.Removal{"unwanted": unwanted, "orphans": orphans} {
		if freed.Files > 0 {
			if err := db.CreateFreed(ctx, what, freed); err != nil {
				return exitInput, err
			}
		}
	}
	fmt.Fprintf(s.out, "deleted %s of deleted and replaced rows (%s), and %s that no row names (%s)\n",
		quantity.Plural(unwanted.Files, "blob"), quantity.Bytes(unwanted.Bytes), quantity.Plural(orphans.Files, "blob"), quantity.Bytes(orphans.Bytes))
	return exitOK, nil
}
