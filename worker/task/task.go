// Package task is what jobs do with files that nobody vouches for: reading evidence, and naming frames by symbol files. A task
// knows nothing of the database and of the network; its Host has the files and keeps what it makes. It is done in this process or in
// one of its own, which asks for the same by messages.
package task

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/symbols"
)

// A Host has the files of a task and keeps what it makes.
type Host interface {
	// Open opens a file of the task by its number.
	Open(ctx context.Context, file int) (symbols.Content, error)
	// Library is where the task looks for symbols.
	Library() symbols.Library
	// Indexes is where it keeps indexes of PDBs; nil for nowhere.
	Indexes() symbols.IndexCache
	// Capture keeps a capture, in the order of the calls; write writes its artifact.
	Capture(ctx context.Context, c *capture.Capture, write func(io.Writer) error) error
	// Table keeps the allocation table of a trace with so many sites, before its captures.
	Table(ctx context.Context, sites int, write func(io.Writer) error) error
	// Names keeps the names of frames.
	Names(ctx context.Context, write func(io.Writer) error) error
	// Progress hears how far the task is.
	Progress(percent int, stage string)
}
