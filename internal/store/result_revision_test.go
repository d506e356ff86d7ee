package store_test

import (
	"testing"
	"time"

	"heapdrift/internal/store"
)

// A report that newer evidence has overtaken is shown, and decides no gate: the report that follows does.
func TestOvertakenReportDecidesNoGate(t *testing.T) {
	l := newLab(t)
	run := l.run("1/soak", leaksReport(finding{signature: "A", class: stable}))
	decisions := func() int { // that gates of the run were answered with
		l.Helper()
		var n int
		if err := l.conn.QueryRow(t.Context(), `select count(*) from decisions where run_id = $1`, run).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	l.sql(`delete from decisions where run_id = $1`, run)
	again := func(overtaken bool) {
		l.Helper()
		l.sql(`insert into jobs (kind, run_id) values ('analyse', $1)`, run)
		var job int64
		if err := l.conn.QueryRow(t.Context(), `select id from jobs where run_id = $1 and state = 'queued'`, run).Scan(&job); err != nil {
			t.Fatal(err)
		}
		lease := must[store.Lease](t)(l.ClaimJob(t.Context(), job, time.Minute))
		revision := input(t, l.Store, run).Revision
		if overtaken { // a file has come while the report was written
			l.sql(`update runs set input_rev = input_rev + 1 where id = $1`, run)
		}
		save(t, l.Store, lease, leaksReport(finding{signature: "A", class: leak, bytes: 7}), "report", revision)
	}
	if again(true); decisions() != 0 {
		t.Errorf("an overtaken report: %d decisions", decisions())
	}
	if again(false); decisions() != 1 {
		t.Errorf("the report that follows: %d decisions", decisions())
	}
}
