package backupstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/db"
)

// These errors say why a database is not loaded.
var (
	// ErrNotEmpty says that the database has data already.
	ErrNotEmpty = errors.New("the database is not empty")
	// ErrNewer says that the backup has a schema that this program does not know.
	ErrNewer = errors.New("the backup is of a newer version")
)

// CheckTarget returns ErrNewer where this program does not know the schema of a backup, and ErrNotEmpty where the
// database has projects, accounts or symbol files.
func CheckTarget(ctx context.Context, s *store.Store, d *Dump) error {
	if d.SchemaVersion > store.KnownSchema() {
		return fmt.Errorf("%w: it has schema %d, and this heapdrift knows up to %d; install that version", ErrNewer, d.SchemaVersion,
			store.KnownSchema())
	}
	for _, table := range []string{"projects", "users", "symbol_files"} {
		has, err := hasRows(ctx, db.Conns(s), table)
		if err != nil {
			return db.Wrap("look at the database", err)
		}
		if has {
			return fmt.Errorf("%w: table %s has rows", ErrNotEmpty, table)
		}
	}
	return nil
}

// hasRows reports whether there is a table of this name that has rows.
func hasRows(ctx context.Context, q db.Querier, table string) (bool, error) {
	there, err := db.Value[bool](ctx, q, `select to_regclass($1) is not null`, quoted(table))
	if err != nil || !there {
		return false, err
	}
	return db.Value[bool](ctx, q, `select exists (select from `+quoted(table)+`)`)
}

// ListTombstonesBefore lists the tombstones of a database that LoadTables is to replace; none where it has no such
// table.
func ListTombstonesBefore(ctx context.Context, s *store.Store) (list []store.Tombstone, err error) {
	err = s.View(ctx, func(v store.View) error {
		has, err := hasRows(ctx, db.Q(v), "tombstones")
		if err == nil && has {
			list, err = v.ListTombstones(ctx)
		}
		return err
	})
	return list, err
}

// LoadTables replaces everything in a database by the rows of a backup, which open returns by table, and brings the
// schema to this version. No number is given twice, since tombstones name runs by them: sequences go on after those of
// the backup and of the former database, that of runs also after lastRun.
func LoadTables(ctx context.Context, s *store.Store, d *Dump, lastRun int64,
	open func(table string) (io.ReadCloser, error)) error {
	url := db.URL(s)
	last, err := sequencesOf(ctx, db.Conns(s))
	if err != nil {
		return db.Wrap("sequences", err)
	}
	for name, value := range d.Sequences {
		last[name] = max(last[name], value)
	}
	last[runSequence] = max(last[runSequence], lastRun)
	if _, err := db.Conns(s).Exec(ctx, dropAll); err != nil {
		return db.Wrap("empty the database", err)
	}
	if err := store.MigrateTo(ctx, url, d.SchemaVersion); err != nil {
		return err
	}
	db.Conns(s).Reset() // statements that were prepared for the former tables
	// Before the rows: where these cannot be loaded, the next restore finds the sequences.
	if err := setSequences(ctx, s, last); err != nil {
		return err
	}
	err = db.Tx(ctx, s, "load the backup", func(tx pgx.Tx) error { return load(ctx, tx, d, open) })
	if err != nil {
		return err
	}
	if err := store.Migrate(ctx, url); err != nil {
		return err
	}
	return setSequences(ctx, s, last) // those that the backup's schema did not have, too
}

// runSequence gives runs their numbers.
const runSequence = "runs_id_seq"

// setSequences lets the sequences that are there go on after these values, unless they are further.
func setSequences(ctx context.Context, s *store.Store, last map[string]int64) error {
	here, err := sequencesOf(ctx, db.Conns(s))
	if err != nil {
		return db.Wrap("sequences", err)
	}
	for name, now := range here {
		if last[name] <= now {
			continue
		}
		if _, err := db.Conns(s).Exec(ctx, `select setval($1::text::regclass, $2::bigint)`, quoted(name),
			last[name]); err != nil {
			return db.Wrap("set sequence "+name, err)
		}
	}
	return nil
}

// dropAll drops the tables and functions of the schema, but not those of extensions.
const dropAll = `
	do $$
	declare what record;
	begin
		for what in select c.oid::regclass as name from pg_class c
			where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
				and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') loop
			execute format('drop table if exists %s cascade', what.name);
		end loop;
		for what in select p.oid::regprocedure as name from pg_proc p
			where p.pronamespace = current_schema()::regnamespace and p.prokind = 'f'
				and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') loop
			execute format('drop function if exists %s cascade', what.name);
		end loop;
	end $$`

// A foreignKey is a constraint that is off while tables are loaded in any order.
type foreignKey struct{ Relation, Name, Definition string }

// load copies all tables in. Triggers and foreign keys are off meanwhile; the keys are checked when they are on again.
func load(ctx context.Context, tx pgx.Tx, d *Dump, open func(table string) (io.ReadCloser, error)) error {
	keys, err := db.All[foreignKey](ctx, tx, `
		select conrelid::regclass::text as relation, conname::text as name, pg_get_constraintdef(oid) as definition from pg_constraint
		where contype = 'f' and connamespace = current_schema()::regnamespace order by oid`)
	if err != nil {
		return err
	}
	here, err := tablesOf(ctx, tx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	var before, after []string
	for _, k := range keys {
		before = append(before, fmt.Sprintf(`alter table %s drop constraint %s`, k.Relation, quoted(k.Name)))
	}
	for _, t := range here {
		known[t.Name] = true
		before = append(before, `alter table `+quoted(t.Name)+` disable trigger user`, `delete from `+quoted(t.Name))
		after = append(after, `alter table `+quoted(t.Name)+` enable trigger user`)
	}
	for _, k := range keys {
		after = append(after, fmt.Sprintf(`alter table %s add constraint %s %s`, k.Relation, quoted(k.Name), k.Definition))
	}
	if err := execAll(ctx, tx, before); err != nil {
		return err
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		if isLeft(t.Name) || !known[t.Name] {
			return fmt.Errorf("store: the backup has a table %s, which schema %d does not know", t.Name, d.SchemaVersion)
		}
		if err := loadTable(ctx, tx, t, open); err != nil {
			return err
		}
	}
	return execAll(ctx, tx, after)
}

func execAll(ctx context.Context, tx pgx.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// loadTable copies a table in, and checks the number of its rows.
func loadTable(ctx context.Context, tx pgx.Tx, t *Table, open func(table string) (io.ReadCloser, error)) error {
	r, err := open(t.Name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	tag, err := tx.Conn().PgConn().CopyFrom(ctx, r, fmt.Sprintf(`copy %s (%s) from stdin`, quoted(t.Name), columnsOf(t)))
	if err != nil {
		return fmt.Errorf("store: load table %s: %w", t.Name, err)
	}
	if tag.RowsAffected() != t.Rows {
		return fmt.Errorf("store: table %s has %d rows in the backup, and its manifest says %d", t.Name, tag.RowsAffected(), t.Rows)
	}
	return nil
}
