//go:build !client

package main

import (
	"context"
	"io"
	"maps"

	"heapdrift/ingest"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/intake"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/worker/task"
)

// isClient says that this is the full program.
const isClient = false

// serverCommands run a server, or look after one.
func serverCommands() []command {
	return []command{
		{"up", "[--demo]", "run everything on this machine: web, worker, private PostgreSQL, Redis", up, true},
		{"serve", "", "run the web server against HEAPDRIFT_DATABASE_URL, _REDIS_URL, _BLOB_URL", serve, true},
		{"work", "", "run a worker with the same settings", work, true},
		{"setup-link", "[--url U]", "print a link that creates an admin account, once, on any server of the database",
			setupLink, false},
		{"migrate", "", "migrate the database to this version", migrate, false},
		{"sweep", "[--dry-run] [--older 24h] [--claim]", "delete blobs that no row of the database names, or list them", sweep, false},
		{"backup", "[--verify] [--keep n] DIR|s3://…", "copy the database and the new blobs to a folder or bucket, while the server works", backUp, false},
		{"restore", "[--backup NAME] [--force] [--list] DIR|s3://…", "replace the database and the blobs by a backup; stop servers and workers first", restore, false},
		{"health", "", "check the server on HEAPDRIFT_LISTEN, or the worker on HEAPDRIFT_METRICS_LISTEN; for containers", health, false},
	}
}

// schema is the version that the database must have.
func schema() int64 { return store.KnownSchema() }

// errParquet is nil: this program writes Parquet.
var errParquet error

// openTable returns what writes the allocation table of a trace.
func openTable(ctx context.Context, trace *ingest.Reading) (func(io.Writer) error, error) {
	return func(w io.Writer) error { return allocations.Write(ctx, w, trace.Rows, trace.Meta) }, nil
}

// runTask does the task of a child process and does not return, if this is one.
func runTask() { sandbox.Main(readers()) }

// readers are the tasks that this program does in processes of its own.
func readers() map[string]sandbox.Task {
	tasks := task.Sandboxed()
	maps.Copy(tasks, intake.Sandboxed())
	return tasks
}
