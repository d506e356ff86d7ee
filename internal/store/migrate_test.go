package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/store"
	"heapdrift/migrations"
)

// An older program says that a newer one has migrated the database, and changes nothing.
func TestMigrateNewerDatabase(t *testing.T) {
	_, conn := open(t)
	if _, err := conn.Exec(t.Context(), `insert into goose_db_version (version_id, is_applied) values ($1, true)`,
		store.KnownSchema()+1); err != nil {
		t.Fatal(err)
	}
	if err := store.Migrate(t.Context(), conn.Config().ConnString()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("%v, want %v", err, store.ErrSchema)
	}
}

// The migration of symbols can be reverted with data in the database, and applied again; queued work stays queued.
func TestSymbolsMigrationDownAndUp(t *testing.T) {
	s, conn := open(t)
	run := withModule(t, s, target, capture.Module{Path: `C:\app.exe`}, 64, asItIs)
	if added := addFile(t, s, appPDB()); added.Runs != 1 {
		t.Errorf("%d runs renewed", added.Runs)
	}
	var up, down string
	for _, name := range []string{"00002_symbols.sql", "00023_build_symbols.sql", "00036_life_cycle.sql"} {
		text := string(must[[]byte](t)(migrations.FS.ReadFile(name)))
		above, below, _ := strings.Cut(text, "-- +goose Down")
		up, down = up+above, below+down
	}
	if _, err := conn.Exec(t.Context(), down); err != nil {
		t.Fatal(err)
	}
	var kind string
	if err := conn.QueryRow(t.Context(), `select kind from jobs where run_id = $1 and state = 'queued'`,
		run).Scan(&kind); err != nil || kind != "analyse" {
		t.Errorf("%q is queued, %v", kind, err)
	}
	if _, err := conn.Exec(t.Context(), up); err != nil {
		t.Fatal(err)
	}
	if added := addFile(t, s, appPDB()); !added.New || added.Runs != 1 {
		t.Errorf("%+v", added)
	}
}

// The migration of leaks can be reverted with data in the database, and applied again: then all runs with a report are
// analysed once more, for signatures of the new kind.
func TestLeaksMigrationDownAndUp(t *testing.T) {
	l := newLab(t)
	run := l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}, finding{signature: "B", class: stable}))
	var up, down []string
	for _, name := range []string{"00004_leaks.sql", "00005_places.sql", "00006_absences.sql", "00007_growing_block.sql",
		"00008_runs_add_up.sql", "00010_bulk.sql", "00011_accounts.sql", "00012_deletion.sql", "00014_states.sql",
		"00019_page_of_a_leak.sql", "00020_lines.sql", "00022_history.sql", "00024_immaterial.sql", "00025_most_held.sql",
		"00026_matters.sql", "00028_exit_lists.sql", "00036_life_cycle.sql",
		"00038_known_devices.sql", "00040_gate_index.sql", "00041_quota_reservations.sql"} {
		text := string(must[[]byte](t)(migrations.FS.ReadFile(name)))
		above, below, _ := strings.Cut(text, "-- +goose Down")
		up, down = append(up, above), append(down, below)
	}
	for _, statements := range slices.Backward(down) {
		l.sql(statements)
	}
	var found, verdict string
	if err := l.conn.QueryRow(t.Context(), `
		select s.signature, f.verdict from sites s join findings f on f.run_id = s.run_id and f.signature = s.signature where f.growth_bytes = 7`).Scan(&found, &verdict); err != nil || found != "A" || verdict != "leak" {
		t.Errorf("%q %q %v", found, verdict, err)
	}
	for _, statements := range up {
		l.sql(statements)
	}
	if a := l.signature("A"); a.Kind != "heap" || a.Title == "" {
		t.Errorf("%+v", a)
	}
	findings, n, err := l.now().ListFindings(t.Context(), store.FindingQuery{RunID: run, All: true, Limit: 9})
	if err != nil || n != 2 || findings[0].Signature != "A" || findings[0].Growth.Bytes != 7 {
		t.Errorf("%d %v %+v", n, err, findings)
	}
	l.save(run, leaksReport(finding{signature: "A2", stack: "A", class: leak, bytes: 7}))
	if got := l.visible(); got != "A2:found" {
		t.Error(got)
	}
}

// The migration of lists of leaks at exit analyses the runs with such lists again, also where a list stands beside other
// evidence and only its findings tell.
func TestExitListsMigrationQueuesRuns(t *testing.T) {
	l := newLab(t)
	beside := listOf("vld", []string{"T"}, "A")
	beside.ListsExit = false // as older versions wrote beside other evidence
	want := []int64{l.run("1", listOf("vld", []string{"T"})), l.run("2", beside)}
	l.run("3", fixed())
	l.sql(`delete from jobs`)
	var again string
	for _, name := range []string{"00040_gate_index.sql", "00028_exit_lists.sql"} {
		up, down, _ := strings.Cut(string(must[[]byte](t)(migrations.FS.ReadFile(name))), "-- +goose Down")
		l.sql(down)
		again = up + again
	}
	l.sql(again)
	rows, err := l.conn.Query(t.Context(), `
		select r.id from runs r join jobs j on j.run_id = r.id and j.kind = 'analyse' where r.seen = '' order by r.id`)
	if err != nil {
		t.Fatal(err)
	}
	if got := must[[]int64](t)(pgx.CollectRows(rows, pgx.RowTo[int64])); !slices.Equal(got, want) {
		t.Errorf("runs %v are queued, want %v", got, want)
	}
}
