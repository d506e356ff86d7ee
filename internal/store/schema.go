package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"heapdrift/internal/store/internal/db"
	"heapdrift/migrations"
)

// ErrSchema says that the database has another schema than this version of heapdrift knows.
var ErrSchema = errors.New("store: another schema")

// known is the version of the schema that this program's migrations end at.
var known = lastMigration()

func lastMigration() int64 {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		panic(err)
	}
	var last int64
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(err)
		}
		last = max(last, n)
	}
	return last
}

// KnownSchema is the newest version of the schema that this program knows.
func KnownSchema() int64 { return known }

// SchemaVersions are the version that a database has and the one that this program knows.
type SchemaVersions struct{ Have, Want int64 }

// FindSchemaVersions tells the versions of the schema.
func (s *Store) FindSchemaVersions(ctx context.Context) (SchemaVersions, error) {
	have, err := db.Value[int64](ctx, db.Conns(s), `select coalesce(max(version_id), 0) from goose_db_version`)
	return SchemaVersions{have, known}, db.Wrap("schema", err)
}

// CheckSchema returns an error that wraps ErrSchema and says what to do if the database does not have the schema that
// this program knows.
func (s *Store) CheckSchema(ctx context.Context) error {
	v, err := s.FindSchemaVersions(ctx)
	switch {
	case err != nil:
		return err
	case v.Have < v.Want:
		return fmt.Errorf("%w: the database has version %d, this heapdrift needs %d; run heapdrift migrate",
			ErrSchema, v.Have, v.Want)
	case v.Have > v.Want:
		return fmt.Errorf("%w: the database has version %d, this heapdrift knows %d only; a newer one has migrated it: install that here too", ErrSchema, v.Have, v.Want)
	}
	return nil
}
