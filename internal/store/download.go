package store

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"
)

// CreateDownloadAudit writes into the audit of a run's project who takes what of the run.
func (s *Store) CreateDownloadAudit(ctx context.Context, run int64, by string, what map[string]any) error {
	return s.tx(ctx, "note download", func(tx pgx.Tx) error {
		project, err := View{tx}.FindProjectOfRun(ctx, run)
		if err != nil {
			return err
		}
		after := maps.Clone(what)
		after["run"] = run
		return auditProject(ctx, tx, project, by, "download", map[string]any{}, after)
	})
}
