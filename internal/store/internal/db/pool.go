// Package db is what the packages of the store stand on: the pool of connections, transactions, snapshots, and rows as
// Go values. In come statements and their arguments; out come values, or an error such as ErrNotFound. It knows no
// table. Only packages below internal/store can import it, so no other package can run a statement.
package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heapdrift/internal/leaks"
)

// A Pool is a pool of connections. It is safe for concurrent use.
type Pool struct {
	conns  *pgxpool.Pool
	leases *pgxpool.Pool // for heartbeats: jobs that use all other connections must not cost their own leases
	url    string
}

// Open connects to the database at the URL, which must be migrated.
func Open(ctx context.Context, url string) (*Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("store: database URL: %w", err)
	}
	config.MaxConns = max(config.MaxConns, 10)
	conns, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	few := config.Copy()
	few.MaxConns, few.MinConns = 2, 0
	leases, err := pgxpool.NewWithConfig(ctx, few)
	if err != nil {
		conns.Close()
		return nil, fmt.Errorf("store: open: %w", err)
	}
	p := &Pool{conns: conns, leases: leases, url: url}
	if err := p.Ping(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close ends all connections.
func (p *Pool) Close() {
	p.leases.Close()
	p.conns.Close()
}

// Ping reports whether the database answers.
func (p *Pool) Ping(ctx context.Context) error {
	if err := p.conns.Ping(ctx); err != nil {
		return fmt.Errorf("store: the database does not answer: %w", err)
	}
	return nil
}

// A Source is a Pool, or a type that embeds one. Its method is not exported: who holds a Source outside of the store
// cannot reach the connections.
type Source interface{ pool() *Pool }

func (p *Pool) pool() *Pool { return p }

// Conns are the connections for everything but heartbeats of leases.
func Conns(s Source) *pgxpool.Pool { return s.pool().conns }

// LeaseConns are the few connections for heartbeats of leases.
func LeaseConns(s Source) *pgxpool.Pool { return s.pool().leases }

// URL is the address of the database, for a connection outside of the pool.
func URL(s Source) string { return s.pool().url }

// Tx runs f in a transaction, which is rolled back if f returns an error. what names the action in errors.
func Tx(ctx context.Context, s Source, what string, f func(pgx.Tx) error) error {
	if err := pgx.BeginFunc(ctx, Conns(s), f); err != nil {
		var wrong *leaks.FieldError
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrFenced) || errors.Is(err, ErrConflict) || errors.As(err, &wrong) {
			return err
		}
		return &QueryError{what, err}
	}
	return nil
}
