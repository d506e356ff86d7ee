// Package backupstore copies the database out and in, table by table. In come a store and streams; out come the rows of
// one snapshot as PostgreSQL's COPY writes them, and a database with these rows. It stands on the store, which does not
// know it.
package backupstore

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/db"
)

// A Table is a table of a backup.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
}

// A Dump says what a snapshot of the database held.
type Dump struct {
	SchemaVersion int64            `json:"schema"`
	Tables        []Table          `json:"tables"`
	Sequences     map[string]int64 `json:"sequences"` // the last value of each; 0 where none was given
	Blobs         []BlobUse        `json:"-"`         // that its rows name, by key
}

// A BlobUse is a blob that rows name.
type BlobUse struct {
	Key string
	Of  string // for people: the file or the run that it belongs to; the first of several
}

// left are tables that a backup leaves out: those of goose, which a migration fills, uploads under way, whose parts are
// not copied, and nodes, which say every few seconds that they are there.
var left = []string{"goose_db_version", "uploads", "nodes", "installation"}

// DumpTables writes every table to what open returns for it, all of one snapshot.
func DumpTables(ctx context.Context, s *store.Store,
	open func(table string) (io.WriteCloser, error)) (d Dump, err error) {
	if err := s.CheckSchema(ctx); err != nil {
		return d, err
	}
	versions, err := s.FindSchemaVersions(ctx)
	if err != nil {
		return d, err
	}
	d.SchemaVersion = versions.Have
	tx, err := db.Conns(s).BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return d, db.Wrap("snapshot", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	if d.Tables, err = tablesOf(ctx, tx); err != nil {
		return d, db.Wrap("tables", err)
	}
	for i := range d.Tables {
		if err := dumpTable(ctx, tx, &d.Tables[i], open); err != nil {
			return d, err
		}
	}
	if d.Blobs, err = blobsOf(ctx, tx); err != nil {
		return d, err
	}
	// Sequences are outside of snapshots: what they say now is no less than what the rows have.
	if d.Sequences, err = sequencesOf(ctx, tx); err != nil {
		return d, db.Wrap("sequences", err)
	}
	return d, nil
}

// ListBlobUses lists the blobs that rows name.
func ListBlobUses(ctx context.Context, v store.View) ([]BlobUse, error) { return blobsOf(ctx, db.Q(v)) }

func blobsOf(ctx context.Context, q db.Querier) ([]BlobUse, error) {
	list, err := db.All[BlobUse](ctx, q, `
		with used as (
			select 'sha256/' || left(e.sha256, 2) || '/' || e.sha256 as key, 'file ' || e.name || ' of run ' || e.run_id as of from evidence e where e.expired_at is null
			union all select c.artifact, 'what was read of ' || e.name || ' of run ' || e.run_id from captures c join evidence e on e.id = c.evidence_id
			union all select c.table_key, 'allocations of ' || e.name || ' of run ' || e.run_id from captures c join evidence e on e.id = c.evidence_id
			union all select report_key, 'report of run ' || id from runs
			union all select table_key, 'allocations of run ' || id from runs
			union all select names_key, 'names of run ' || id from runs
			union all select 'sha256/' || left(sha256, 2) || '/' || sha256, 'symbols ' || name from symbol_files)
		select key, min(of) as of from used where key <> '' group by key order by key`)
	return list, db.Wrap("blobs that rows name", err)
}

// tablesOf lists the tables of the schema with the columns that are stored.
func tablesOf(ctx context.Context, q db.Querier) ([]Table, error) {
	return db.All[Table](ctx, q, `
		select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns, 0::bigint as rows
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
		where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not c.relname = any($1)
		group by c.relname order by c.relname`, left)
}

func sequencesOf(ctx context.Context, q db.Querier) (map[string]int64, error) {
	type row struct {
		Name string
		Last int64
	}
	list, err := db.All[row](ctx, q, `
		select sequencename::text as name, coalesce(last_value, 0) as last from pg_sequences where schemaname = current_schema() and sequencename not like 'goose%'`)
	last := map[string]int64{}
	for _, r := range list {
		last[r.Name] = r.Last
	}
	return last, err
}

// dumpTable copies a table out.
func dumpTable(ctx context.Context, tx pgx.Tx, t *Table, open func(string) (io.WriteCloser, error)) error {
	w, err := open(t.Name)
	if err != nil {
		return err
	}
	tag, err := tx.Conn().PgConn().CopyTo(ctx, w, fmt.Sprintf(`copy (select %s from %s) to stdout`, columnsOf(t), quoted(t.Name)))
	t.Rows = tag.RowsAffected()
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("store: copy table %s: %w", t.Name, err)
	}
	return nil
}

func columnsOf(t *Table) string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = quoted(c)
	}
	return strings.Join(columns, ", ")
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// isLeft reports whether a backup leaves a table out.
func isLeft(table string) bool { return slices.Contains(left, table) }
