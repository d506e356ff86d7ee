package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/store"
)

// An outage gives a job back without its attempt, after a pause that doubles up to five minutes, and says why it waits.
func TestReleaseForOutage(t *testing.T) {
	l := newLab(t)
	id := l.queued("p", "a", 1, time.Minute)
	out := store.Failure{Message: "TMPDIR of worker w2 is full", Worker: "w2", PID: 7, Version: "1", Cause: "no \x00 space \xff" + strings.Repeat("é", 5000)}
	for outages, pause := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		lease := must[store.Lease](t)(l.ClaimJob(t.Context(), id, time.Minute))
		if lease.Attempt != 1 {
			t.Errorf("attempt %d behind %d outages", lease.Attempt, outages)
		}
		for range 2 { // a second word changes nothing
			if err := l.ReleaseForOutage(t.Context(), lease, out); err != nil {
				t.Fatal(err)
			}
		}
		want := fmt.Sprintf("queued 0 %d %d outage TMPDIR of worker w2 is full w2 7 1", outages+1, pause)
		if got := l.text(`select concat_ws(' ', state, attempt, outages, round(extract(epoch from run_at - now()) + 0.4), error_code, error, worker, worker_pid, failed_by) from jobs`); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := l.text(`select (sent_at is null and lease_token is null and lease_until is null and tokens = '{}')::text from jobs`); got != "true" {
			t.Error("the lease has left something")
		}
	}
	if got := l.text(`select left(cause, 14) || ' ' || (length(cause) < 8200)::text from jobs`); got != "no \uFFFD space \uFFFDéé true" {
		t.Errorf("the cause is %q", got)
	}
	lease := must[store.Lease](t)(l.ClaimJob(t.Context(), id, time.Minute))
	if err := l.CreateCaptures(t.Context(), lease, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.text(`select concat_ws(' ', state, attempt, error_code, error) from jobs where kind = 'read'`); got != "done 1  " {
		t.Errorf("at the end: %q", got)
	}
}

// A database that is away lets the lease run out. The attempt is taken back, whether nobody has the job now or another
// worker, who keeps it; of a job that has ended nothing changes.
func TestReleaseForOutageBehindTheLease(t *testing.T) {
	l := newLab(t)
	id := l.queued("p", "a", 1, time.Minute)
	state := func() string {
		return l.text(`select concat_ws(' ', state, attempt, outages, error_code, cardinality(tokens)) from jobs where kind = 'read'`)
	}
	claim := func() store.Lease {
		t.Helper()
		return must[store.Lease](t)(l.ClaimJob(t.Context(), id, time.Minute))
	}
	lose := func() {
		t.Helper()
		l.sql(`update jobs set lease_until = now() - interval '1 second' where state = 'running'`)
		if n := must[int](t)(l.ReapJobs(t.Context())); n != 1 {
			t.Fatalf("%d jobs are lost", n)
		}
	}
	release := func(lease store.Lease, want string) {
		t.Helper()
		if err := l.ReleaseForOutage(t.Context(), lease, store.Failure{Message: "PostgreSQL is away"}); err != nil {
			t.Fatal(err)
		}
		if got := state(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	first := claim()
	lose()
	release(first, "queued 0 1 outage 0")
	second := claim()
	lose()
	third := claim()
	release(second, "running 1 2 worker-lost 1")
	if passed, err := l.RenewLease(t.Context(), third, time.Minute); passed || err != nil {
		t.Errorf("who has the job loses it: %t, %v", passed, err)
	}
	if err := l.FailJob(t.Context(), third, store.Failure{Code: "x", Message: "y", Final: true, Worker: "w1", PID: 8, Cause: "z"}); err != nil {
		t.Fatal(err)
	}
	release(third, "failed 1 2 x 0")
}
