package store

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// CreateDownloadAudit records in the audit of a run's project who downloads what of the run.
func (s *Store) CreateDownloadAudit(ctx context.Context, run int64, by string, what map[string]any) error {
	return db.Tx(ctx, s, "note download", func(tx pgx.Tx) error {
		project, err := View{db.In(tx)}.FindProjectOfRun(ctx, run)
		if err != nil {
			return err
		}
		after := maps.Clone(what)
		after["run"] = run
		return audit.RecordProjectChange(ctx, tx, project, by, "download", map[string]any{}, after)
	})
}
