package store_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"heapdrift/internal/store"
)

// failed fails the read jobs of new runs.
func (l *lab) failed(run string, f store.Failure) (job int64) {
	l.Helper()
	id := l.queued("p", run, 1, time.Minute)
	f.Final = true
	if err := l.FailJob(l.Context(), must[store.Lease](l)(l.ClaimJob(l.Context(), id, time.Minute)), f); err != nil {
		l.Fatal(err)
	}
	return id
}

func (l *lab) causes() (list []string) {
	l.Helper()
	for _, c := range must[[]store.FailureCause](l)(l.now().ListFailureCauses(l.Context(), 10)) {
		list = append(list, fmt.Sprintf("%s|%s|%d|%d", c.Code, c.Text, c.Jobs, c.Runs))
	}
	return list
}

// An operator reads of a failed job who failed it and the text of its error.
func TestFailedJob(t *testing.T) {
	l := newLab(t)
	id := l.failed("a.txt", store.Failure{Code: "internal", Message: "Internal error", Version: "1.2", Worker: "w2", PID: 4121, Cause: "a\x00b"})
	job := must[store.FailedJob](t)(l.now().FindFailedJob(t.Context(), id))
	got := fmt.Sprintf("%s %s %s %s %s %s %s %d %q %d", job.Project, job.Build, job.Scenario, job.Run, job.File, job.FailedBy, job.Worker, job.WorkerPID, job.Cause, job.Attempt)
	if want := `p 1 s a.txt a.txt 1.2 w2 4121 "a�b" 1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	queued := l.queued("p", "b", 1, time.Minute)
	if _, err := l.now().FindFailedJob(t.Context(), queued); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a job that has not failed: %v", err)
	}
	if list := must[[]store.FailedJob](t)(l.now().ListFailedJobs(t.Context(), 9)); len(list) != 1 || list[0].ID != id {
		t.Errorf("%+v", list)
	}
}

// Failures of one cause differ in numbers and names, and are tried again together: once, on the record, and without
// those of other causes, those that a person wanted, and those of files that are refused.
func TestRetryFailures(t *testing.T) {
	l := newLab(t)
	for i := range 3 {
		l.failed(fmt.Sprint("full", i), store.Failure{Code: "internal", Message: fmt.Sprint("job-", i),
			Cause: fmt.Sprintf("blob: put incoming/ab%dcd: no space\nstack %d", i, i)})
	}
	l.failed("nul", store.Failure{Code: "internal", Message: "x", Cause: "store: save (SQLSTATE 22021)"})
	l.failed("taken", store.Failure{Code: "internal", Message: "x", Cause: "store: save (SQLSTATE 23505)"})
	l.failed("crash", store.Failure{Code: "reader-crashed", Message: "the process ended (signal: killed)"})
	l.failed("refused", store.Failure{Code: "unknown-format", Message: "x"})
	l.queued("p", "cancelled", 1, time.Minute)
	run, err := strconv.ParseInt(l.text(`select id::text from runs where name = 'cancelled'`), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.CancelRun(t.Context(), run, "Ann"); err != nil {
		t.Fatal(err)
	}
	cause := "blob: put incoming/#: no space"
	want := fmt.Sprint([]string{"internal|" + cause + "|3|3", "internal|store: save (SQLSTATE 22021)|1|1",
		"internal|store: save (SQLSTATE 23505)|1|1", "reader-crashed|the process ended (signal: killed)|1|1"})
	if got := fmt.Sprint(l.causes()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, step := range []struct {
		code, text string
		want       store.Retried
	}{
		{"reader-crashed", cause, store.Retried{}}, {"unknown-format", "x", store.Retried{}},
		{"cancelled", "Ann has cancelled it; it can be tried again", store.Retried{}},
		{"internal", cause, store.Retried{Runs: 3, Jobs: 3}}, {"internal", cause, store.Retried{}},
	} {
		if got := must[store.Retried](t)(l.RetryFailures(t.Context(), step.code, step.text, "Root")); got != step.want {
			t.Errorf("%s %q: %+v, want %+v", step.code, step.text, got, step.want)
		}
	}
	if got := l.text(`select string_agg(r.name, ' ' order by r.name) from jobs j join runs r on r.id = j.run_id where j.state = 'queued'`); got != "full0 full1 full2" {
		t.Errorf("queued: %s", got)
	}
	if got := l.text(`select string_agg(concat_ws(' ', actor, action, before, after), '; ') from server_audit`); got != `Root retry {} {"code": "internal", "jobs": 3, "runs": 3, "cause": "blob: put incoming/#: no space"}` {
		t.Errorf("the audit: %s", got)
	}
	if got := len(l.causes()); got != 3 {
		t.Errorf("%d causes are left: %v", got, l.causes())
	}
}

// A search for names and a report are tried again by their cause, too, and more runs than one transaction takes.
func TestRetryFailuresOfRuns(t *testing.T) {
	l := newLab(t)
	const runs = 101
	for i := range runs {
		l.failed(fmt.Sprint("r", i), store.Failure{Code: "worker-lost", Message: "lost"})
	}
	if got := must[store.Retried](t)(l.RetryFailures(t.Context(), "worker-lost", "lost", "Root")); got != (store.Retried{Runs: runs, Jobs: runs}) {
		t.Errorf("%+v", got)
	}
	if got := l.text(`select string_agg(after->>'runs', ' ' order by id) from server_audit`); got != "100 1" {
		t.Errorf("the audit has lines of %s runs", got)
	}
	l.sql(`update jobs set state = 'done', ended_at = now()`)
	l.sql(`update evidence set state = 'read'`)
	l.sql(`insert into jobs (kind, run_id, state, error_code, error, ended_at) select kind, id, 'failed', 'internal', 'y', now() from runs, (values ('symbolise'), ('analyse')) kinds (kind) where name = 'r1'`)
	l.sql(`update runs set names_error = 'y', error_code = 'internal', error = 'y' where name = 'r1'`)
	if got := must[store.Retried](t)(l.RetryFailures(t.Context(), "internal", "y", "Root")); got != (store.Retried{Runs: 1, Jobs: 2}) {
		t.Errorf("%+v", got)
	}
	if got := l.text(`select string_agg(kind, ' ' order by kind) from jobs where state = 'queued'`); got != "analyse symbolise" {
		t.Errorf("queued: %s", got)
	}
}
