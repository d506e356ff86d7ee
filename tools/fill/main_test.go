package main

import (
	"strings"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

// A database with a report is filled once, with as many rows as were asked for, and the states of what leaks.
func TestFill(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	s, conn := storetest.Open(t)
	url := conn.Config().ConnString()
	numbers := strings.NewReplacer("@projects", "3", "@builds", "20", "@runs", "40", "@large", "10", "@signatures", "300",
		"@sites", "20")
	if err := fill(t.Context(), url, numbers); err == nil || !strings.Contains(err.Error(), "no report") {
		t.Errorf("a database without a report: %v", err)
	}
	if _, err := s.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "demo", Build: "1", Scenario: "s", Run: "1"},
		store.Evidence{Name: "a.txt", SHA256: "a", Bytes: 1, Kind: "umdh-snapshot"}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `update runs set summary = '{}', analysed_at = now(), report_key = 'key'`); err != nil {
		t.Fatal(err)
	}
	if err := fill(t.Context(), url, numbers); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{
		`select count(*) from projects where name like 'team-%'`:                                3,
		`select count(*) from runs r join builds b on b.id = r.build_id where b.project_id > 1`: 40,
		`select count(*) from sites`:                                                            800,
		`select count(*) from signatures`:                                                       300,
		`select count(*) from pg_indexes where tablename = 'sites'`:                             indexes(t),
		`select count(*) from signatures where bad and state = ''`:                              0,
		`select count(*) from pg_tables where tablename like 'fill\_%'`:                         0,
		`select count(*) from builds where project_id > 1 and length(place)=0`:                  0,
	} {
		var got int
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, want %d; %v", query, got, want, err)
		}
	}
	if err := fill(t.Context(), url, numbers); err == nil || !strings.Contains(err.Error(), "filled already") {
		t.Errorf("once more: %v", err)
	}
}

// indexes counts those that the table of sites has in a database that nobody has filled.
func indexes(t *testing.T) (n int) {
	t.Helper()
	_, fresh := storetest.Open(t)
	if err := fresh.QueryRow(t.Context(), `select count(*) from pg_indexes where tablename = 'sites'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
