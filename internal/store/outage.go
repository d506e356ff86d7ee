package store

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/internal/store/internal/db"
)

// IsUnavailable reports whether an error says that the database cannot be used now: it does not answer, has no
// connection left, shuts down or takes no writes. The same query may succeed later.
func IsUnavailable(err error) bool {
	var connect *pgconn.ConnectError
	var refused *pgconn.PgError
	var network net.Error
	switch {
	case errors.As(err, &refused):
		// 08: connection, 53: resources, 57P: shutdown, 25006: read-only (PostgreSQL, appendix A)
		return strings.HasPrefix(refused.Code, "08") || strings.HasPrefix(refused.Code, "53") && !IsDiskFull(err) ||
			strings.HasPrefix(refused.Code, "57P") || refused.Code == "25006"
	case errors.As(err, &connect), errors.As(err, &network), pgconn.Timeout(err):
		return true
	}
	var query *db.QueryError // an unexpected end of an upload is no outage
	return errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.ErrUnexpectedEOF) && errors.As(err, &query) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "conn closed")
}

// IsDiskFull reports whether the database's disk is full.
func IsDiskFull(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "53100"
}

// TryWrite writes a row: a database whose disk is full answers and takes no writes.
func (s *Store) TryWrite(ctx context.Context) error {
	_, err := db.LeaseConns(s).Exec(ctx,
		`insert into rounds (what) values ('write-trial') on conflict (what) do update set at = now()`)
	return db.Wrap("try to write", err)
}

// IsQueryError reports whether an error came from a query, and not from what a job does beside the database.
func IsQueryError(err error) bool {
	var query *db.QueryError
	return errors.As(err, &query)
}
