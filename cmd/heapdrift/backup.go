//go:build !client

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/backup"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/backupstore"
)

// openPlace opens the folder or the bucket of backups.
func openPlace(ctx context.Context, name, blobURL string) (blob.Store, error) {
	at := name
	if !strings.HasPrefix(name, "s3://") && !strings.HasPrefix(name, "file://") {
		var err error
		if at, err = folderURL(name); err != nil {
			return nil, err
		}
	}
	if strings.TrimSuffix(at, "/") == strings.TrimSuffix(blobURL, "/") {
		return nil, &usageError{"the folder or bucket holds the server's own blobs: choose another one"}
	}
	return blob.Open(ctx, at)
}

// backUp copies the installation to a folder or a bucket, while it works.
func backUp(ctx context.Context, args []string, s streams) (int, error) {
	flags := flag.NewFlagSet("backup", flag.ContinueOnError)
	verify := flags.Bool("verify", false, "check the blobs of earlier backups too, and copy damaged ones again")
	keep := flags.Int("keep", 0, "delete all but the newest `n` backups, with the blobs that only they have; 0 keeps all")
	rest, err := parse(flags, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) != 1 {
		return exitUsage, &usageError{"takes one folder, or s3://bucket/prefix"}
	}
	if *keep < 0 {
		return exitUsage, &usageError{"--keep cannot be negative"}
	}
	db, blobs, c, err := openInstallation(ctx)
	if err != nil {
		return exitInput, err
	}
	defer db.Close()
	to, err := openPlace(ctx, rest[0], c.BlobURL)
	if err != nil {
		return exitInput, err
	}
	began := time.Now()
	from := backup.Installation{Store: db, Blobs: blobs}
	m, err := backup.Write(ctx, from, to,
		backup.WriteOptions{Version: buildVersion(), Verify: *verify})
	if err != nil {
		return exitInput, err
	}
	fmt.Fprintf(s.out, "backup %s: %s, %s, %s; %s copied (%s) in %v\n", m.Name, quantity.Plural(len(m.Tables), "table"),
		quantity.Plural(countRows(m.Tables), "row"), quantity.Plural(m.Blobs.Count, "blob"), quantity.Plural(m.Blobs.Copied, "blob"), quantity.Bytes(m.Blobs.Bytes),
		time.Since(began).Round(time.Millisecond))
	if *keep > 0 {
		if err := pruneBackups(ctx, from, to, *keep, m.Name, s); err != nil {
			return exitInput, fmt.Errorf("the backup is complete, but older ones could not be deleted: %w", err)
		}
	}
	return sayLost(s.err, m.Lost, "the server has lost")
}

// pruneBackups deletes old backups, and says what it has deleted and what has to stay.
func pruneBackups(ctx context.Context, of backup.Installation, in blob.Store, keep int, written string,
	s streams) error {
	p, err := backup.Prune(ctx, of, in, keep, written)
	if len(p.Backups) > 0 {
		fmt.Fprintf(s.out, "deleted %s and %s (%s)\n", quantity.Plural(len(p.Backups), "old backup"),
			quantity.Plural(p.Blobs, "blob"), quantity.Bytes(p.Bytes))
	}
	if len(p.Foreign) > 0 {
		fmt.Fprintf(s.err, "warning: %s not complete, of another installation, or from before a restore: they stay, and no blobs are deleted. "+
			"Delete their folders below backups/ when you do not need them: %s\n", quantity.Plural(len(p.Foreign), "backup"), strings.Join(p.Foreign, ", "))
	}
	return err
}

func countRows(tables []backupstore.Table) (rows int64) {
	for _, t := range tables {
		rows += t.Rows
	}
	return rows
}

// sayLost names blobs that are gone, with what they belong to.
func sayLost(w io.Writer, lost []backup.LostBlob, who string) (int, error) {
	for _, l := range lost {
		fmt.Fprintln(w, l)
	}
	if len(lost) > 0 {
		return exitInput, fmt.Errorf("%s %s; everything else is complete", who, quantity.Plural(len(lost), "blob"))
	}
	return exitOK, nil
}

// restore replaces the installation by a backup.
func restore(ctx context.Context, args []string, s streams) (int, error) {
	flags := flag.NewFlagSet("restore", flag.ContinueOnError)
	name := flags.String("backup", "", "`name` of the backup (default: the newest)")
	list := flags.Bool("list", false, "list the complete backups, and restore nothing")
	force := flags.Bool("force", false, "replace a database that has data")
	rest, err := parse(flags, args, s)
	if err != nil {
		return exitUsage, err
	}
	if len(rest) != 1 {
		return exitUsage, &usageError{"takes one folder, or s3://bucket/prefix"}
	}
	c, err := loadConfig()
	if err != nil {
		return exitUsage, err
	}
	from, err := openPlace(ctx, rest[0], c.BlobURL)
	if err != nil {
		return exitInput, err
	}
	if *list {
		names, err := backup.List(ctx, from)
		for _, n := range names {
			fmt.Fprintln(s.out, n)
		}
		return exitOK, err
	}
	log := c.logger(s.err)
	own, err := startOwn(ctx, &c, log) // heapdrift up does not run: it must not, during a restore
	if err != nil {
		return exitInput, err
	}
	defer own.stop(log)
	blobs, err := blob.Open(ctx, c.BlobURL)
	if err != nil {
		return exitInput, err
	}
	db, err := store.Open(ctx, c.DatabaseURL)
	if err != nil {
		return exitInput, err
	}
	defer db.Close()
	r, err := backup.Restore(ctx, from, *name, backup.Installation{Store: db, Blobs: blobs}, *force)
	if errors.Is(err, backupstore.ErrNotEmpty) {
		return exitInput, fmt.Errorf("%w; --force replaces all of it", err)
	}
	if err != nil {
		return exitInput, err
	}
	fmt.Fprintf(s.out, "restored %s: %s in %s, %s copied\n", r.Name, quantity.Plural(countRows(r.Tables), "row"),
		quantity.Plural(len(r.Tables), "table"), quantity.Plural(r.Copied, "blob"))
	if r.Runs+r.Files > 0 {
		fmt.Fprintf(s.out, "deletions after the backup applied: %s, %s\n", quantity.Plural(r.Runs, "run"),
			quantity.Plural(r.Files, "file"))
	}
	return sayLost(s.err, r.Lost, "the backup has lost")
}
