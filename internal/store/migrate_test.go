package store_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/migrations"
)

// The migration of symbols can be taken back with data in the database, and made again; what was to be done still is.
func TestSymbolsMigrationDownAndUp(t *testing.T) {
	s, conn := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	if added := addFile(t, s, appPDB()); added.Runs != 1 {
		t.Errorf("%d runs renewed", added.Runs)
	}
	text := must[[]byte](t)(migrations.FS.ReadFile("00002_symbols.sql"))
	up, down, _ := strings.Cut(string(text), "-- +goose Down")
	if _, err := conn.Exec(t.Context(), down); err != nil {
		t.Fatal(err)
	}
	var kind string
	if err := conn.QueryRow(t.Context(), `select kind from jobs where run_id = $1 and state = 'queued'`, run).Scan(&kind); err != nil || kind != "analyse" {
		t.Errorf("%q is queued, %v", kind, err)
	}
	if _, err := conn.Exec(t.Context(), up); err != nil {
		t.Fatal(err)
	}
	if added := addFile(t, s, appPDB()); !added.New || added.Runs != 1 {
		t.Errorf("%+v", added)
	}
}
