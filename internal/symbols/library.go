package symbols

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
)

// A Library finds symbol files: a symbol path, a team's symbol store, or several of them in order.
type Library interface {
	// Find returns the file with the identity, or nil, and every place that was searched.
	Find(ctx context.Context, want Want) (*File, []capture.Attempt, error)
	// FindByName returns all files with one of the names, whatever their keys: candidates for modules of evidence that
	// has no ids.
	FindByName(ctx context.Context, names []string) ([]*File, []capture.Attempt, error)
}

// A Want is the identity of a file to find. A PDB has a debug id, an image a time stamp and a size.
type Want struct {
	Name        string // file name
	DebugID     string
	Timestamp   uint32
	SizeOfImage uint32
}

// A File is a symbol file that a Library has.
type File struct {
	Identity
	Place string // a server, a folder, or "upload"; for people
	Own   bool   // the team uploaded it
	// Group is shared by files that belong together: a folder, or one upload. "" for none.
	Group string
	// Build is the name of the run's build, if a push has bound the file to it; else "".
	Build string
	Open  func(ctx context.Context) (Content, error) // the caller closes the Content
}

// Content is an open file.
type Content interface {
	io.ReaderAt
	io.Closer
	// Size is the file's size in bytes.
	Size() int64
}

// An IndexCache stores indexes. A key has the debug id of the PDB and the kind of symbols that it gives; letters,
// digits and a dash.
type IndexCache interface {
	// Open opens an index; nil and no error where there is none.
	Open(ctx context.Context, key string) (Content, error)
	// Put stores the index that write writes.
	Put(ctx context.Context, key string, write func(io.Writer) error) error
}

// The results of attempts that this package gives; symbol paths give those of symsrv.Result.
const (
	ResultFound     = "found"
	ResultNotFound  = "not-found"
	ResultMismatch  = "mismatch"
	ResultRefused   = "refused"
	ResultOffline   = "offline"
	ResultWaiting   = "waiting"
	ResultFailed    = "failed"
	ResultAmbiguous = "ambiguous"
)
