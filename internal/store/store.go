// Package store keeps projects, runs, evidence, results and jobs in PostgreSQL. In come values of the domain and of the
// analysis, and queries; out come rows as Go values, or an error such as ErrNotFound, ErrConflict or ErrFenced. It is
// the only package that speaks SQL: one file per aggregate, each query beside the method that uses it.
//
// Five verbs name the methods. Find returns one thing, or ErrNotFound where there is none. List returns a slice, a map
// or a page of things, which may be empty. Create adds a row, Update changes or replaces what is there, Delete deletes
// it. Other verbs are the domain's, such as ClaimJob, RetryRun and MergeSignature. Methods of a View read; methods of
// the Store write, in one transaction each.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // goose needs database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"heapdrift/internal/leaks"
	"heapdrift/migrations"
)

// ErrNotFound says that no such row exists.
var ErrNotFound = errors.New("store: not found")

// ErrFenced says that a job's lease has passed to another worker, so the result was not stored.
var ErrFenced = errors.New("store: the job's lease was lost; its result was not stored")

// A Store is a pool of connections. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	leases *pgxpool.Pool // for heartbeats: jobs that use all other connections must not cost their own leases
	url    string
}

// Open connects to the database at the URL, which must be migrated.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("store: database URL: %w", err)
	}
	config.MaxConns = max(config.MaxConns, 10)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	few := config.Copy()
	few.MaxConns, few.MinConns = 2, 0
	leases, err := pgxpool.NewWithConfig(ctx, few)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("store: open: %w", err)
	}
	s := &Store{pool: pool, leases: leases, url: url}
	if err := s.Ping(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() {
	s.leases.Close()
	s.pool.Close()
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("store: the database does not answer: %w", err)
	}
	return nil
}

// Migrate brings the schema to the version of this program, and the builds into its order. Instances that start
// together take turns.
func Migrate(ctx context.Context, url string) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	s, err := Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.UpdateBuildOrder(ctx); err != nil {
		return err
	}
	return s.followAnew(ctx)
}

// tx runs f in a transaction.
func (s *Store) tx(ctx context.Context, what string, f func(pgx.Tx) error) error {
	if err := pgx.BeginFunc(ctx, s.pool, f); err != nil {
		var wrong *leaks.FieldError
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrFenced) || errors.Is(err, ErrConflict) || errors.As(err, &wrong) {
			return err
		}
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}

// wrap names what failed and turns pgx's "no rows" into ErrNotFound.
func wrap(what string, err error) error {
	var wrong *leaks.FieldError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNotFound
	case errors.As(err, &wrong):
		return err
	}
	return fmt.Errorf("store: %s: %w", what, err)
}

// localTime is a wall clock without a zone, as evidence has it; nil where it has none.
func localTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
