//go:build client

package main

import (
	"context"
	"io"

	"heapdrift/ingest"
)

// isClient says that this program is the client.
const isClient = true

// serverCommands are in the full program alone.
func serverCommands() []command { return nil }

// schema is 0: the client has no database.
func schema() int64 { return 0 }

// errParquet refuses a format: the library that writes Parquet is a quarter of a program that each CI job fetches.
var errParquet error = &usageError{
	"the client writes no Parquet: use the full program, or export the view on the server's page of the run"}

func openTable(context.Context, *ingest.Reading) (func(io.Writer) error, error) {
	return nil, errParquet
}

// runTask does nothing: the client starts no child processes.
func runTask() {}
