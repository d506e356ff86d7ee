package store

import (
	"context"
	"strings"
	"time"

	"heapdrift/internal/store/internal/db"
)

// The origins of symbol files.
const (
	// The origins of symbol files.
	OriginUpload = "upload" // a team's own: the modules they belong to are in-app
	OriginServer = "server" // fetched from a symbol server
)

// A SymbolFile is a PDB or an image in the team's symbol store.
type SymbolFile struct {
	ID          int64
	Kind        string // pdb or image
	Name        string // file name
	Key         string // middle folder of its path in a symbol store, name/KEY/name: a PDB's debug id, an image's time stamp and size
	DebugID     string // of the PDB, or of the PDB that an image names
	PDB         string // file name of the PDB; that which an image names
	Timestamp   int64  // of an image
	SizeOfImage int64  // in bytes; 0 unknown
	Bits        int    // 32 or 64; 0 unknown
	Machine     string // x86, x64, arm64, arm; "" unknown
	Symbols     string // capture.SymbolKind of what it can give
	Note        string // what limits it, in a sentence; "" for nothing
	SHA256      string
	Bytes       int64
	Origin      string // OriginUpload or OriginServer
	Group       string // shared by files that were uploaded together; "" for none
	UploadedAt  time.Time
}

// A CreatedSymbolFile is a symbol file as it is stored now.
type CreatedSymbolFile struct {
	SymbolFile
	New  bool // it was not stored before
	Runs int  // how many runs are symbolised again because of it
}

// A SymbolQuery chooses a page of symbol files. New ones come all the time: a page is named by the file before it.
type SymbolQuery struct {
	Filter  string // part of a name or key, in upper or lower case; "" for all
	AfterID int64  // id of a file: only older ones; 0 for the newest
	Limit   int
}

// A SymbolPage is a page of symbol files, the newest first.
type SymbolPage struct {
	Files      []SymbolFile
	RowsBefore int // how many files are on newer pages
	Total      int // how many files are on all pages
}

// NextAfterID is the AfterID of the next page; 0 where there is none.
func (p *SymbolPage) NextAfterID() int64 {
	if n := len(p.Files); n > 0 && p.RowsBefore+n < p.Total {
		return p.Files[n-1].ID
	}
	return 0
}

// symbolFile returns a file by its place in a symbol store.
func symbolFile(ctx context.Context, q db.Querier, name, key string) (SymbolFile, error) {
	return db.One[SymbolFile](ctx, q, `select `+symbolColumns+
		` from symbol_files where folded = $1 and lower(key) = lower($2)`, strings.ToLower(name), key)
}

// FindSymbolFile returns the file with this name and key, in upper or lower case, or ErrNotFound.
func (v View) FindSymbolFile(ctx context.Context, name, key string) (SymbolFile, error) {
	f, err := symbolFile(ctx, db.Q(v), name, key)
	return f, db.Wrap("symbol file", err)
}

// ListSymbolFilesByName lists all files with one of the names, in upper or lower case, the newest first.
func (v View) ListSymbolFilesByName(ctx context.Context, names []string) ([]SymbolFile, error) {
	list, err := db.All[SymbolFile](ctx, db.Q(v), `select `+symbolColumns+
		` from symbol_files where folded = any($1) order by uploaded_at desc, id desc`, foldedNames(names))
	return list, db.Wrap("symbol files by name", err)
}

// foldedNames are names as the column folded has them.
func foldedNames(names []string) []string {
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(n)
	}
	return lower
}

// ListSymbolFiles returns a page of the files.
func (v View) ListSymbolFiles(ctx context.Context, q SymbolQuery) (*SymbolPage, error) {
	const matching = ` from symbol_files f where ($1 = '' or strpos(folded, $1) > 0 or strpos(lower(key), $1) > 0)`
	// A file that stands before the page: newer than the file named by After, or that file itself.
	const before = `exists (select from symbol_files mark where mark.id = $2 and (f.uploaded_at, f.id) >= (mark.uploaded_at, mark.id))`
	filter, page := strings.ToLower(q.Filter), &SymbolPage{}
	type counts struct{ Total, Before int }
	n, err := db.One[counts](ctx, db.Q(v), `select count(*) as total, count(*) filter (where `+before+`) as before`+
		matching, filter, q.AfterID)
	if err != nil {
		return nil, db.Wrap("symbol files", err)
	}
	page.Total, page.RowsBefore = n.Total, n.Before
	page.Files, err = db.All[SymbolFile](ctx, db.Q(v), `select `+symbolColumns+matching+` and not `+before+
		` order by uploaded_at desc, id desc limit $3`, filter, q.AfterID, q.Limit)
	return page, db.Wrap("symbol files", err)
}
