package store

import (
	"context"

	"heapdrift/internal/store/internal/db"
)

// An Installation is what a database says of the installation that it belongs to.
type Installation struct {
	ID           string // random; a restored database has a new one
	NamesContent bool   // rows refer to content of the blob store
}

// FindInstallation returns what the database says of its installation.
func (s *Store) FindInstallation(ctx context.Context) (Installation, error) {
	found, err := db.One[Installation](ctx, db.Conns(s), `
		select id, exists (select from evidence) or exists (select from symbol_files) or exists (select from runs where report_key <> '') as names_content
		from installation`)
	return found, db.Wrap("installation", err)
}
