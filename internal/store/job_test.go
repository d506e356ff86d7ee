package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// queued queues a read job of a run of a project, which has run for so long, and returns the job's id.
func (l *lab) queued(project, run string, bytes int64, age time.Duration) int64 {
	l.Helper()
	e := must[store.Evidence](l)(l.CreateEvidence(l.Context(), leaks.UploadTarget{Project: project, Build: "1", Scenario: "s", Run: run},
		store.Evidence{Name: run, SHA256: project + run, Bytes: bytes, Kind: "umdh"}))
	l.sql(`update jobs set run_at = now() - $2::interval where run_id = $1`, e.RunID, age)
	return must[[]store.Job](l)(l.now().ListJobs(l.Context(), e.RunID))[0].ID
}

// handed are the runs of the jobs that are handed over next.
func (l *lab) handed(light, heavy int) string {
	l.Helper()
	due := must[[]store.DueJob](l)(l.DispatchJobs(l.Context(), time.Hour, store.DispatchLimit{Light: light, Heavy: heavy}))
	var names []string
	for _, d := range due {
		var name string
		if err := l.conn.QueryRow(l.Context(), `select r.name from jobs j join runs r on r.id = j.run_id where j.id = $1`,
			d.ID).Scan(&name); err != nil {
			l.Fatal(err)
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// Heavy jobs have turns and a window of their own: a project does not wait because its heavy jobs are older.
func TestTurnsOfHeavyJobs(t *testing.T) {
	l := newLab(t)
	l.queued("a", "large1", 1<<30, 9*time.Minute)
	l.queued("a", "large2", 1<<30, 8*time.Minute)
	l.queued("a", "a1", 1, 7*time.Minute)
	l.queued("b", "b1", 1, 6*time.Minute)
	l.queued("b", "b2", 1, 5*time.Minute)
	l.queued("b", "large3", 1<<30, 4*time.Minute)
	if got, want := l.handed(2, 0), "a1 b1"; got != want {
		t.Errorf("with room for two light jobs: %s, want %s", got, want)
	}
	if got, want := l.handed(2, 2), "large1 large3"; got != want {
		t.Errorf("with room for two heavy jobs: %s, want %s", got, want)
	}
	if got, want := l.handed(3, 3), "large2 b2"; got != "large2 b2" && got != "b2 large2" {
		t.Errorf("the rest: %s, want %s", got, want)
	}
}

// A job is heavy where its evidence is larger than the limit, not where it has just that size.
func TestHeavy(t *testing.T) {
	l := newLab(t)
	l.queued("a", "at", 256<<20, time.Minute)
	l.queued("a", "above", 256<<20+1, time.Minute)
	if got, want := l.handed(9, 0), "at"; got != want {
		t.Errorf("light is %q, want %q", got, want)
	}
}

// A job is due at its time, and again where it was handed over so long ago that the broker may have lost it.
func TestJobsAreHandedOverAgain(t *testing.T) {
	l := newLab(t)
	l.queued("a", "a1", 1, time.Minute)
	l.queued("a", "later", 1, -time.Minute)
	for _, step := range []struct {
		what, change, want string
	}{
		{"at first", ``, "a1"},
		{"at once", ``, ""},
		{"within the interval", `update jobs set sent_at = now() - interval '59 minutes' where sent_at is not null`, ""},
		{"after the interval", `update jobs set sent_at = now() - interval '61 minutes' where sent_at is not null`, "a1"},
	} {
		if step.change != "" {
			l.sql(step.change)
		}
		if got := l.handed(9, 9); got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
	// A broker that starts empty gets what is queued, not what runs.
	running := l.queued("b", "b1", 1, time.Minute)
	if got := l.handed(9, 9); got != "b1" {
		t.Fatal(got)
	}
	must[store.Lease](t)(l.ClaimJob(t.Context(), running, time.Minute))
	if err := l.ResetDispatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := l.handed(9, 9); got != "a1" {
		t.Errorf("after the broker has forgotten: %q", got)
	}
	if sent := l.text(`select (sent_at is not null)::text from jobs where state = 'running'`); sent != "true" {
		t.Errorf("a running job was sent: %s", sent)
	}
}

// A program leaves jobs alone as soon as the database is one version newer than it knows.
func TestClaimOfANewerSchema(t *testing.T) {
	l := newLab(t)
	job := l.queued("a", "a1", 1, time.Minute)
	l.sql(`insert into goose_db_version (version_id, is_applied) values ($1, true)`, store.KnownSchema()+1)
	if _, err := l.ClaimJob(t.Context(), job, time.Minute); !errors.Is(err, store.ErrSchema) {
		t.Errorf("claimed: %v", err)
	}
	l.sql(`delete from goose_db_version where version_id > $1`, store.KnownSchema())
	if _, err := l.ClaimJob(t.Context(), job, time.Minute); err != nil {
		t.Error(err)
	}
}

// Of a job that has failed for good no result is taken, not even of an earlier worker that seemed lost.
func TestNoResultAfterTheEnd(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	lost := claim(t, s)
	if _, err := s.RenewLease(t.Context(), lost, -time.Second); err != nil {
		t.Fatal(err)
	}
	must[int](t)(s.ReapJobs(t.Context()))
	if err := s.FailJob(t.Context(), claim(t, s), store.Failure{Code: "unknown-format", Message: "not evidence",
		Final: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateCaptures(t.Context(), lost,
		[]store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "late"}}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a late result: %v", err)
	}
	if e := must[store.Evidence](t)(storetest.Now(t, s).FindEvidence(t.Context(), e.ID)); e.State != "failed" ||
		e.ErrorCode != "unknown-format" {
		t.Errorf("%+v", e)
	}
}

// A result is taken of a worker that has claimed the job, also while the job waits for another one.
func TestResultOfAQueuedJob(t *testing.T) {
	s, _ := open(t)
	addEvidence(t, s, target, "a.txt")
	lost := claim(t, s)
	if _, err := s.RenewLease(t.Context(), lost, -time.Second); err != nil {
		t.Fatal(err)
	}
	must[int](t)(s.ReapJobs(t.Context()))
	stranger := store.Lease{Job: lost.Job}
	captures := []store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: "late"}}
	if err := s.CreateCaptures(t.Context(), stranger, captures); !errors.Is(err, store.ErrFenced) {
		t.Errorf("of somebody who never claimed it: %v", err)
	}
	if err := s.CreateCaptures(t.Context(), lost, captures); err != nil {
		t.Errorf("of the worker that seemed lost: %v", err)
	}
}

// Only leases that have run out are taken back. Progress counts from the worker that holds the lease.
func TestLeasesThatHold(t *testing.T) {
	s, _ := open(t)
	e := addEvidence(t, s, target, "a.txt")
	lease := claim(t, s)
	if n := must[int](t)(s.ReapJobs(t.Context())); n != 0 {
		t.Errorf("%d leases that hold are taken back", n)
	}
	if err := s.UpdateProgress(t.Context(), store.Lease{Job: lease.Job}, 70, "of a stranger"); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateProgress(t.Context(), lease, 30, "half"); err != nil {
		t.Fatal(err)
	}
	job := func() store.Job {
		return must[[]store.Job](t)(storetest.Now(t, s).ListJobs(t.Context(), e.RunID))[0]
	}
	if j := job(); j.Percent != 30 || j.Stage != "half" || j.State != "running" {
		t.Errorf("%+v", j)
	}
	if err := s.UpdateProgress(t.Context(), store.Lease{Job: lease.Job}, 70, "of a stranger"); err != nil {
		t.Fatal(err)
	}
	if j := job(); j.Percent != 30 {
		t.Errorf("%+v", j)
	}
}

// Evidence that somebody has sent by browser is urgent for an hour, whether it is to be read or its run to be judged.
// A job whose time has not come is not handed over.
func TestUrgencyEnds(t *testing.T) {
	l := newLab(t)
	for _, kind := range []string{store.JobRead, store.JobAnalyse} {
		for _, job := range []struct {
			run            string
			urgent         bool
			uploaded, runs time.Duration // ago
		}{
			{"expired", true, 61 * time.Minute, time.Minute}, {"recent", true, 59 * time.Minute, time.Minute},
			{"plain", false, time.Minute, 2 * time.Minute}, {"later", true, time.Minute, -time.Hour},
		} {
			e := must[store.Evidence](l)(l.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: kind, Scenario: "s",
				Run: job.run, Urgent: job.urgent}, store.Evidence{Name: job.run, SHA256: kind + job.run, Bytes: 1, Kind: "umdh"}))
			l.sql(`update evidence set uploaded_at = now() - $2::interval where run_id = $1`, e.RunID, job.uploaded)
			l.sql(`update jobs set run_at = now() - $2::interval where run_id = $1`, e.RunID, job.runs)
			if kind != store.JobRead { // a job of the run, not of a file
				l.sql(`update jobs set kind = $2, evidence_id = null where run_id = $1`, e.RunID, kind)
			}
		}
		// What has waited longest goes first, then what a person waits for, and then the rest.
		l.sql(`delete from queue_turns`)
		if got, want := l.handed(10, 10), "plain recent expired"; got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
