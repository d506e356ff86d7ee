// Package task does the parts of jobs that untrusted files may end. In come evidence, symbol files or what was read
// from them, which a Host opens; out go captures, allocation tables, names of frames and reports, which the Host keeps.
// A task knows neither the database nor the network. It runs in this process or in a child process, which asks its
// parent's Host by messages.
package task

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/symbols"
)

// A Host opens the files of a task and stores its results.
type Host interface {
	// Open opens a file of the task by its index.
	Open(ctx context.Context, file int) (symbols.Content, error)
	// Library is where the task searches for symbols.
	Library() symbols.Library
	// Indexes is where it keeps indexes of PDBs; nil for not at all.
	Indexes() symbols.IndexCache
	// StoreCapture stores a capture, in the order of the calls; write writes its artifact.
	StoreCapture(ctx context.Context, c *capture.Capture, write func(io.Writer) error) error
	// StoreTable stores the allocation table of a trace with so many sites. It is called before StoreCapture.
	StoreTable(ctx context.Context, sites int, write func(io.Writer) error) error
	// StoreNames stores the names of frames; write writes their artifact.
	StoreNames(ctx context.Context, write func(io.Writer) error) error
	// StoreReport stores a report; write writes it as the API serves it. r is as a process gets it that reads what was written.
	StoreReport(ctx context.Context, r *analysis.Report, write func(io.Writer) error) error
	// Progress is told how far the task is: percent of the stage, one of those of internal/jobs.
	Progress(percent int, stage string)
}
