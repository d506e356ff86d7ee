package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
)

// SourceLinks say where the source files of a project can be read.
func (v View) SourceLinks(ctx context.Context, project string) (leaks.SourceLinks, error) {
	text, err := value[string](ctx, v.q, `select source_links from projects where name = $1`, project)
	if err != nil {
		return leaks.SourceLinks{}, wrap("source links", err)
	}
	links, err := leaks.ParseSourceLinks(text)
	return links, wrap("source links", err)
}

// SetSourceLinks replaces the links of a project.
func (s *Store) SetSourceLinks(ctx context.Context, project string, links leaks.SourceLinks, by string) error {
	return s.tx(ctx, "set source links", func(tx pgx.Tx) error {
		type stored struct {
			ID          int64
			SourceLinks string
		}
		old, err := one[stored](ctx, tx, `select id, source_links from projects where name = $1 for update`, project)
		if err != nil {
			return wrap("project", err)
		}
		if old.SourceLinks == links.String() {
			return nil
		}
		if _, err := tx.Exec(ctx, `update projects set source_links = $2 where id = $1`, old.ID, links.String()); err != nil {
			return err
		}
		return auditProject(ctx, tx, old.ID, by, "source links", map[string]any{"links": old.SourceLinks}, map[string]any{"links": links.String()})
	})
}
