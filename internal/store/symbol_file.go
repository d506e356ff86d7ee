package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The origins of symbol files.
const (
	OriginUpload = "upload" // a team's own: the modules they belong to are in-app
	OriginServer = "server" // fetched from a symbol server
)

// A SymbolFile is a PDB or an image in the team's store.
type SymbolFile struct {
	ID          int64
	Kind        string // pdb or image
	Name        string // file name
	Key         string // folder in a symbol store, name/KEY/name: a PDB's debug id, an image's time stamp and size
	DebugID     string // of the PDB, or of the PDB that an image names
	PDB         string // file name of the PDB; that which an image names
	Timestamp   int64  // of an image
	SizeOfImage int64  // in bytes; 0 unknown
	Bits        int    // 32 or 64; 0 unknown
	Machine     string // x86, x64, arm64, arm; "" unknown
	Symbols     string // private, public, export or none
	Note        string // what limits it, in a sentence; "" for nothing
	SHA256      string
	Bytes       int64
	Origin      string
	Group       string // what files that came together share; "" for nothing
	UploadedAt  time.Time
}

// An AddedSymbolFile is a file as the store has it now.
type AddedSymbolFile struct {
	SymbolFile
	New  bool // it was not there before
	Runs int  // how many runs are being symbolised again because of it
}

// A SymbolPage selects symbol files.
type SymbolPage struct {
	Filter        string // part of a name or key, in any case; "" for all
	Limit, Offset int
}

// symbolFile returns a file by its place in a symbol store.
func symbolFile(ctx context.Context, q querier, name, key string) (SymbolFile, error) {
	rows, _ := q.Query(ctx, `select `+symbolColumns+` from symbol_files where folded = $1 and lower(key) = lower($2)`, strings.ToLower(name), key)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[SymbolFile])
}

// SymbolFileByKey returns the file that has the key under the name, in any case, or ErrNotFound.
func (s *Store) SymbolFileByKey(ctx context.Context, name, key string) (SymbolFile, error) {
	f, err := symbolFile(ctx, s.pool, name, key)
	return f, wrap("symbol file", err)
}

// SymbolFilesNamed returns all files that go by one of the names, in any case, the newest first.
func (s *Store) SymbolFilesNamed(ctx context.Context, names []string) ([]SymbolFile, error) {
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(n)
	}
	rows, _ := s.pool.Query(ctx, `select `+symbolColumns+` from symbol_files where folded = any($1) order by uploaded_at desc, id desc`, lower)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SymbolFile])
	return list, wrap("symbol files by name", err)
}

// SymbolFiles returns a page of the files, the newest first, and how many there are on all pages.
func (s *Store) SymbolFiles(ctx context.Context, page SymbolPage) (files []SymbolFile, total int, err error) {
	const matching = ` from symbol_files where $1 = '' or strpos(folded, $1) > 0 or strpos(lower(key), $1) > 0`
	filter := strings.ToLower(page.Filter)
	if err := s.pool.QueryRow(ctx, `select count(*)`+matching, filter).Scan(&total); err != nil {
		return nil, 0, wrap("symbol files", err)
	}
	rows, _ := s.pool.Query(ctx, `select `+symbolColumns+matching+` order by uploaded_at desc, id desc limit $2 offset $3`, filter, page.Limit, page.Offset)
	files, err = pgx.CollectRows(rows, pgx.RowToStructByPos[SymbolFile])
	return files, total, wrap("symbol files", err)
}
