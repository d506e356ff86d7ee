// Package task does the parts of jobs that read untrusted files. In come evidence or symbol files, which a Host opens;
// out go captures, allocation tables and names of frames, which the Host keeps. A task knows neither the database nor
// the network. It runs in this process or in a child process, which asks its parent's Host by messages.
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
