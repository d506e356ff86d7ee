package store_test

import "testing"

// Rows that results are stored in by the thousand have no foreign keys. They go with their run and project all the same, and those of
// others stay.
func TestRowsGoWithTheirParent(t *testing.T) {
	l := newLab(t)
	for _, build := range []string{"1", "2"} {
		l.run(build, leaksReport(finding{signature: "A", class: leak, bytes: 7}, finding{signature: "B", class: stable}))
	}
	left := func() string {
		return l.text(`select (select count(*) from sites) || ' ' || (select count(distinct run_id) from site_names) || ' ' || (select count(*) from findings) || ' ' || (select count(*) from signatures)`)
	}
	if got := left(); got != "4 2 4 2" {
		t.Fatal(got)
	}
	l.sql(`delete from builds where name = '1'`)
	if got := left(); got != "2 1 2 2" {
		t.Errorf("one of two builds deleted: %s rows are left", got)
	}
	l.sql(`delete from projects`)
	if got := left(); got != "0 0 0 0" {
		t.Errorf("the project deleted: %s rows are left", got)
	}
}
