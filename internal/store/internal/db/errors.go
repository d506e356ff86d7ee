package db

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/internal/leaks"
)

// ErrNotFound says that no such row exists.
var ErrNotFound = errors.New("store: not found")

// ErrFenced says that a job's lease has passed to another worker, so the result was not stored.
var ErrFenced = errors.New("store: the job's lease was lost; its result was not stored")

// ErrConflict says that somebody else has changed what was to be changed since it was read.
var ErrConflict = errors.New("store: it was changed by somebody else meanwhile")

// Wrap names what failed and turns pgx's "no rows" into ErrNotFound.
func Wrap(what string, err error) error {
	var wrong *leaks.FieldError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNotFound
	case errors.As(err, &wrong):
		return err
	}
	return &QueryError{what, err}
}

// A QueryError is the error that PostgreSQL, or the connection to it, returned for a query.
type QueryError struct {
	What string // what the query was to do
	Err  error
}

// Error implements error.
func (e *QueryError) Error() string { return "store: " + e.What + ": " + e.Err.Error() }

// Unwrap gives errors.Is and errors.As the cause.
func (e *QueryError) Unwrap() error { return e.Err }

// uniqueViolation is PostgreSQL's code of a key that is there already.
const uniqueViolation = "23505"

// IsTaken reports whether a row could not be inserted because its key exists.
func IsTaken(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == uniqueViolation
}
