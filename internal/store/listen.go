package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// Subscribe calls changed with the id of every run of which a job changes, until the context ends or the connection
// breaks. It holds one connection of its own; poolers in transaction mode do not pass notifications on.
func (s *Store) Subscribe(ctx context.Context, changed func(run int64)) error {
	conn, err := pgx.Connect(ctx, db.URL(s))
	if err != nil {
		return fmt.Errorf("store: listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `listen run`); err != nil {
		return fmt.Errorf("store: listen: %w", err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("store: listen: %w", err)
		}
		if run, err := strconv.ParseInt(n.Payload, 10, 64); err == nil {
			changed(run)
		}
	}
}
