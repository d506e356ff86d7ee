// Package migrations holds the database schema as goose migrations: SQL files, embedded, which package store applies in
// order.
package migrations

import "embed"

// FS holds the SQL files.
//
//go:embed *.sql
var FS embed.FS
