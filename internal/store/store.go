// Package store keeps projects, runs, evidence, results and jobs in PostgreSQL. In come values of the domain and of the
// analysis, and queries; out come rows as Go values, or an error such as ErrNotFound, ErrConflict or ErrFenced. Only
// packages below this folder speak SQL: one file per aggregate, each query beside the method that uses it.
//
// Five verbs name the methods. Find returns one thing, or ErrNotFound where there is none. List returns a slice, a map
// or a page of things, which may be empty. Create adds a row, Update changes or replaces what is there, Delete deletes
// it. Other verbs are the domain's, such as ClaimJob, RetryRun and MergeSignature. Methods of a View read; methods of
// the Store write, in one transaction each.
//
// Accounts and uploads have packages of their own, accountstore and uploadstore, which stand on this one. What all of
// them need of the database is in internal/db.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // goose needs database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"heapdrift/internal/store/internal/db"
	"heapdrift/migrations"
)

// These errors are known to callers of every package of the store.
var (
	// ErrNotFound says that no such row exists.
	ErrNotFound = db.ErrNotFound
	// ErrFenced says that a job's lease has passed to another worker, so the result was not stored.
	ErrFenced = db.ErrFenced
	// ErrConflict says that somebody else has changed what was to be changed since it was read.
	ErrConflict = db.ErrConflict
	// ErrBlobGone says that a blob was deleted between its upload and the transaction that would refer to it. Nothing was
	// stored; another try stores the blob again.
	ErrBlobGone = errors.New("store: a blob was deleted before it was recorded; try again")
)

// A Store is a pool of connections. It is safe for concurrent use.
type Store struct {
	*db.Pool
	// HasBlob reports whether a blob exists. It is asked before a transaction commits that has rows refer to the blob:
	// see checkBlobs. nil asks nobody. It is set before the store is used.
	HasBlob func(ctx context.Context, key string) (bool, error)
	// NodeID is the Node.ID of this process, with which what it reserves ends; "" where it is no node. It is set before
	// the store is used.
	NodeID string
}

// Open connects to the database at the URL, which must be migrated.
func Open(ctx context.Context, url string) (*Store, error) {
	pool, err := db.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	return &Store{Pool: pool}, nil
}

// Migrate brings the schema to the version of this program, and computes the order of builds. Instances that start
// together take turns.
func Migrate(ctx context.Context, url string) error {
	if err := MigrateTo(ctx, url, known); err != nil {
		return err
	}
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckSchema(ctx); err != nil { // goose leaves a newer schema as it is, without a word
		return err
	}
	if err := s.UpdateBuildOrder(ctx); err != nil {
		return err
	}
	return s.followAnew(ctx)
}

// MigrateTo brings the schema to a version, and nothing else. Instances that start together take turns.
func MigrateTo(ctx context.Context, url string, version int64) error {
	conn, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	defer func() { _ = conn.Close() }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, migrations.FS, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	return nil
}

// localTime is a wall clock without a zone, as evidence has it; nil where it has none.
func localTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
