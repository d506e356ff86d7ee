package store_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// job adds a job of a run as it stands in the table.
func (l *lab) job(run int64, kind, state string, fields string) {
	l.Helper()
	columns, values := "", ""
	for _, f := range strings.Split(fields, "; ") {
		if name, value, ok := strings.Cut(f, " = "); ok {
			columns, values = columns+", "+name, values+", "+value
		}
	}
	l.sql(`insert into jobs (kind, run_id, state`+columns+`) values ($1, $2, $3`+values+`)`, kind, run, state)
}

// Figures count jobs that wait, run or failed in the last day; those are stuck that no worker takes, or none takes back.
func TestQueueFigures(t *testing.T) {
	l := newLab(t)
	run := addEvidence(t, l.Store, target, "a.txt").RunID
	l.sql(`delete from jobs`)
	l.job(run, "read", "queued", "run_at = now() - interval '9 minutes'; created_at = now() - interval '20 minutes'; attempt = 1")
	l.job(run, "read", "queued", "run_at = now() - interval '11 minutes'; created_at = now() - interval '5 minutes'; attempt = 4")
	l.job(run, "read", "running", "lease_until = now() - interval '29 seconds'; run_at = now() - interval '100 seconds'; created_at = now() - interval '100 seconds'")
	l.job(run, "read", "running", "lease_until = now() - interval '31 seconds'; run_at = now() - interval '50 seconds'; created_at = now() - interval '50 seconds'")
	l.job(run, "analyse", "failed", "ended_at = now() - interval '23 hours'; run_at = now() - interval '30 hours'")
	l.job(run, "analyse", "failed", "ended_at = now() - interval '25 hours'")
	l.job(run, "analyse", "done", "ended_at = now()")
	got := ""
	for _, f := range must[[]store.QueueFigure](t)(l.now().ListQueueFigures(t.Context())) {
		got += fmt.Sprintf("%s %s %d, %.0f min, %d tries; ", f.Kind, f.State, f.Count, f.Oldest/60, f.Attempts)
	}
	if got != "analyse failed 1, 1380 min, 0 tries; read queued 2, 9 min, 4 tries; read running 2, 2 min, 0 tries; " {
		t.Error(got)
	}
	if n := must[int64](t)(l.now().CountStuckJobs(t.Context())); n != 2 {
		t.Errorf("%d jobs are stuck, want one that is due for 11 minutes and one without a worker for 31 seconds", n)
	}
}

// Failed jobs are listed, those that failed last first.
func TestFailedJobs(t *testing.T) {
	l := newLab(t)
	one := addEvidence(t, l.Store, target, "a.txt").RunID
	other := addEvidence(t, l.Store, leaks.UploadTarget{Project: "other", Build: "1", Scenario: "s", Run: "9"}, "b.txt").RunID
	l.sql(`delete from jobs`)
	l.job(one, "read", "failed", "ended_at = now() - interval '3 hours'; error = 'third'")
	l.job(other, "analyse", "failed", "ended_at = now() - interval '1 hour'; error = 'first'; error_code = 'internal'")
	l.job(one, "read", "failed", "ended_at = now() - interval '2 hours'; error = 'second'")
	l.job(one, "read", "done", "ended_at = now()")
	l.job(one, "read", "queued", "")
	list := func(most int) (text string) {
		t.Helper()
		for _, j := range must[[]store.FailedJob](t)(l.now().ListFailedJobs(t.Context(), most)) {
			text += fmt.Sprintf("%s/%s %s %s %s; ", j.Project, j.Run, j.Kind, j.Error, j.ErrorCode)
		}
		return text
	}
	if got := list(10); got != "other/9 analyse first internal; demo/1 read second ; demo/1 read third ; " {
		t.Error(got)
	}
	if got := list(1); got != "other/9 analyse first internal; " {
		t.Error(got)
	}
}

// What projects take is counted by files that are still there; projects without any are listed, too.
func TestProjectFigures(t *testing.T) {
	l := newLab(t)
	add := func(project, run, name string, bytes int64) {
		t.Helper()
		must[store.Evidence](t)(l.CreateEvidence(t.Context(), leaks.UploadTarget{Project: project, Build: "1", Scenario: "s", Run: run},
			store.Evidence{Name: name, SHA256: project + run + name, Bytes: bytes, Kind: "umdh"}))
	}
	add("small", "1", "a", 10)
	add("large", "1", "a", 100)
	add("large", "1", "b", 200)
	add("large", "2", "a", 300)
	add("large", "2", "gone", 4000)
	l.sql(`update evidence set expired_at = now() where name = 'gone'`)
	for _, name := range []string{"none", "empty"} {
		if err := l.CreateProject(t.Context(), name, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	got := fmt.Sprint(must[[]store.ProjectFigure](t)(l.now().ListProjectFigures(t.Context(), 3)))
	if got != "[{large 3 600 2} {small 1 10 1} {empty 0 0 0}]" {
		t.Error(got)
	}
}
