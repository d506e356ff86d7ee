package store

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/store/internal/db"
	"heapdrift/internal/tracing"
)

// symbolsLock orders symbol files and captures that arrive at the same time: whichever commits second sees the other,
// so that no run misses a file that it wants. Captures share it.
const symbolsLock = 0x53594d42

// CreateSymbolFile records a file whose content is stored, and queues the symbolise jobs of the runs that want it, in
// one transaction. A file that is there already stays as it is unless the new one says more. Files of symbol servers
// queue nothing, since whoever finds one uses it at once.
func (s *Store) CreateSymbolFile(ctx context.Context, f SymbolFile) (CreatedSymbolFile, error) {
	var added CreatedSymbolFile
	replaced := false
	err := db.Tx(ctx, s, "add symbol file "+f.Name, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, symbolsLock); err != nil {
			return err
		}
		if err := s.checkBlobs(ctx, tx, contentKey(f.SHA256)); err != nil {
			return err
		}
		old, err := symbolFile(ctx, tx, f.Name, f.Key)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			added.New = true
			added.SymbolFile, err = insertSymbolFile(ctx, tx, f)
		case err != nil:
			return err
		case f.replaces(&old):
			replaced = true
			added.SymbolFile, err = updateSymbolFile(ctx, tx, old.ID, f)
		case f.Origin == OriginUpload && old.Origin != OriginUpload: // it says less, and still the module is the team's
			added.SymbolFile, err = ownSymbolFile(ctx, tx, old.ID)
		default:
			added.SymbolFile = old
			return nil
		}
		if err != nil || f.Origin != OriginUpload {
			return err
		}
		added.Runs, err = queueWanting(ctx, tx, &f, replaced)
		return err
	})
	return added, err
}

// replaces reports whether a file takes the place of one of the same name and key: it says more, or as much and comes
// from the team itself.
func (f *SymbolFile) replaces(old *SymbolFile) bool {
	rank := func(f *SymbolFile) int {
		return slices.Index([]string{"none", "export", "public", "private"}, f.Symbols)
	}
	switch {
	case rank(f) != rank(old):
		return rank(f) > rank(old)
	case f.Origin != old.Origin:
		return f.Origin == OriginUpload
	}
	return f.Origin == OriginUpload && f.SHA256 != old.SHA256
}

const symbolColumns = `id, kind, name, key, debug_id, pdb, timestamp, size_of_image, bits, machine, symbols, note, sha256, bytes, origin, "group", uploaded_at`

func insertSymbolFile(ctx context.Context, tx pgx.Tx, f SymbolFile) (SymbolFile, error) {
	return db.One[SymbolFile](ctx, tx, `
		insert into symbol_files (kind, name, key, debug_id, pdb, timestamp, size_of_image, bits, machine, symbols, note,
			sha256, bytes, origin, "group", folded)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) returning `+symbolColumns,
		f.Kind, f.Name, f.Key, f.DebugID, f.PDB, f.Timestamp, f.SizeOfImage, f.Bits, f.Machine, f.Symbols, f.Note, f.SHA256,
		f.Bytes, f.Origin, f.Group,
		strings.ToLower(f.Name))
}

// updateSymbolFile puts a file in the place of another. What the team has uploaded stays its own.
func updateSymbolFile(ctx context.Context, tx pgx.Tx, id int64, f SymbolFile) (SymbolFile, error) {
	return db.One[SymbolFile](ctx, tx, `
		update symbol_files set name = $2, pdb = $3, size_of_image = $4, bits = $5, machine = $6, symbols = $7, note = $8,
			sha256 = $9, bytes = $10,
			origin = case when origin = 'upload' then origin else $11 end,
			"group" = case when $12 = '' then "group" else $12 end, uploaded_at = now()
		where id = $1 returning `+symbolColumns,
		id, f.Name, f.PDB, f.SizeOfImage, f.Bits, f.Machine, f.Symbols, f.Note, f.SHA256, f.Bytes, f.Origin, f.Group)
}

// ownSymbolFile makes a file that a server gave the team's own.
func ownSymbolFile(ctx context.Context, tx pgx.Tx, id int64) (SymbolFile, error) {
	return db.One[SymbolFile](ctx, tx,
		`update symbol_files set origin = 'upload' where id = $1 returning `+symbolColumns, id)
}

// queueWanting queues the naming of every run that may gain by a file, and returns how many these are. Where evidence
// has ids they decide; else the file's name, image size and bitness, and the names of images that name this PDB. Each
// name is looked up by itself, since modules are many and captures that arrive wait for this. The 32-bit system
// libraries of 64-bit Windows have PDBs whose names start with a "w". A run at rest is left alone if its report shows
// that the file would change nothing; one that replaces another may tell more than that did.
func queueWanting(ctx context.Context, tx pgx.Tx, f *SymbolFile, replaced bool) (int, error) {
	stem := stemOf(f.Name)
	queued, err := db.Values[int](ctx, tx, `
		with names as (
			select $1 stem, 0 only_bits union
			select $2, 32 where $2 <> $1 union
			select regexp_replace(folded, '\.[^.]*$', ''), 0 from symbol_files where kind = 'image' and debug_id <> '' and lower(debug_id) = lower($3)),
		named as (
			select m.*, n.only_bits from names n join modules m on m.stem = n.stem union all
			select m.*, n.only_bits from names n join modules m on m.pdb_stem = n.stem and m.pdb_stem <> ''),
		wanting as (
			select e.run_id, m.stem, m.size from modules m join captures c on c.id = m.capture_id join evidence e on e.id = c.evidence_id
			where m.debug_id <> '' and lower(m.debug_id) = lower($3)
			union
			select e.run_id, m.stem, m.size from named m join captures c on c.id = m.capture_id join evidence e on e.id = c.evidence_id
			where m.debug_id = '' and m.only_bits in (0, c.bits)
				and ($4::bigint = 0 or m.size = 0 or m.size = $4::bigint) and ($5::int = 0 or c.bits = 0 or c.bits = $5::int))
		insert into jobs (kind, run_id, trace_parent)
		select distinct 'symbolise', run_id, $7 from wanting w
		where exists (select from jobs j where j.run_id = w.run_id and j.state in ('queued', 'running'))
			or not exists (
				select from run_modules r where r.run_id = w.run_id and r.size = w.size and r.stem = w.stem
					and (r.frames = 0 or not $6 and r.symbols = 'private' and r.own and not r.unproven and lower(r.debug_id) = lower($3)))
		order by run_id `+onQueued+` returning 1`,
		stem, strings.TrimPrefix(stem, "w"), f.DebugID, f.SizeOfImage, f.Bits, replaced, tracing.Parent(ctx))
	return len(queued), err
}

// stemOf is a file name in lower case, without its extension: what a module and its files have in common.
func stemOf(name string) string {
	name = strings.ToLower(name[strings.LastIndexAny(name, `\/`)+1:])
	return strings.TrimSuffix(name, path.Ext(name))
}

// pdbStemOf is the stem of the PDB that evidence names for a module without an id, where it is another than the
// module's.
func pdbStemOf(m capture.Module) string {
	if stem := stemOf(m.PDB); m.DebugID == "" && stem != stemOf(m.Path) {
		return stem
	}
	return ""
}
