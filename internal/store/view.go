package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A View is one snapshot of the database: everything that is read through it is of one instant, however many statements
// it takes. All reading of pages and of the API goes through one, and so do lists that a job works from. It is good for
// the function that it was given to, and for one goroutine.
type View struct{ q querier }

// View calls f with a snapshot and returns its error as it is. The snapshot holds one of the store's few connections: f
// must not wait for anything but the database.
func (s *Store) View(ctx context.Context, f func(View) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("store: view: %w", err)
	}
	// Nothing was written: to roll back ends the snapshot as well as to commit, also after f has panicked.
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	return f(View{tx})
}

// Read returns what f reads in one View.
func Read[T any](ctx context.Context, s *Store, f func(View) (T, error)) (T, error) {
	var result T
	err := s.View(ctx, func(v View) (err error) {
		result, err = f(v)
		return err
	})
	return result, err
}

// A querier is a snapshot or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// The functions below read rows into structs by the names of their columns: a column that moves, or one too many, is an
// error and no wrong number. A column's name is the field's, with underscores between its words.

// all returns every row.
func all[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// one returns the only row, or pgx.ErrNoRows.
func one[T any](ctx context.Context, q querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}

// values returns the only column of every row.
func values[T any](ctx context.Context, q querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// value returns the only column of the only row, or pgx.ErrNoRows.
func value[T any](ctx context.Context, q querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
}
