package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A View is one snapshot of the database, or a transaction that is read through. It is for one goroutine.
type View struct{ q Querier }

// In makes a View of a transaction.
func In(tx pgx.Tx) View { return View{tx} }

// Snapshot calls f with a snapshot and returns its error as it is. The snapshot holds one of the few connections: f
// must not wait for anything but the database.
func Snapshot(ctx context.Context, s Source, f func(View) error) error {
	tx, err := Conns(s).BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("store: view: %w", err)
	}
	// Nothing was written: to roll back ends the snapshot as well as to commit, also after f has panicked.
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	return f(View{tx})
}

// A Reader is a View, or a type that embeds one. Its method is not exported: who holds a Reader outside of the store
// cannot run a statement.
type Reader interface{ querier() Querier }

func (v View) querier() Querier { return v.q }

// Q returns what runs the statements of a View.
func Q(v Reader) Querier { return v.querier() }

// A Querier is a snapshot or a transaction.
type Querier interface {
	// Query runs a statement that returns rows. The caller closes them.
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	// Exec runs a statement without rows, and returns how many rows it has changed.
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// The functions below read rows into structs by the names of their columns: a column that moves, or one too many, is an
// error and no wrong number. A column's name is the field's, with underscores between its words.

// All returns every row; columns go into the fields of T by their names.
func All[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

// One returns the only row, or pgx.ErrNoRows; columns go into the fields of T by their names.
func One[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
}

// Values returns the only column of every row.
func Values[T any](ctx context.Context, q Querier, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// Value returns the only column of the only row, or pgx.ErrNoRows.
func Value[T any](ctx context.Context, q Querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
}
