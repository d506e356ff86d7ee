package store_test

import (
	"errors"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// A nextLab reads evidence and asks what its worker goes on with.
type nextLab struct {
	*lab
	begun map[int64]store.Lease // jobs by their evidence
}

// begin uploads a file and claims its read job.
func (l *nextLab) begin(run, name string, bytes int64) store.Evidence {
	l.Helper()
	target := leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: run}
	e := must[store.Evidence](l)(l.CreateEvidence(l.Context(), target,
		store.Evidence{Name: name, SHA256: run + name, Bytes: bytes, Kind: "umdh"}))
	var job int64
	if err := l.conn.QueryRow(l.Context(), `select id from jobs where evidence_id = $1`, e.ID).Scan(&job); err != nil {
		l.Fatal(err)
	}
	l.begun[e.ID] = must[store.Lease](l)(l.ClaimJob(l.Context(), job, time.Minute))
	return e
}

// read stores what was read of a file.
func (l *nextLab) read(e store.Evidence) {
	l.Helper()
	captures := []store.StoredCapture{{Capture: snapshot(1, 0), ArtifactKey: e.Name}}
	if err := l.CreateCaptures(l.Context(), l.begun[e.ID], captures); err != nil {
		l.Fatal(err)
	}
}

// next is the kind of the job that the worker goes on with that has read a file; "" for none.
func (l *nextLab) next(e store.Evidence, heavySlot bool) string {
	l.Helper()
	job, err := l.ClaimNext(l.Context(), l.begun[e.ID], heavySlot, time.Minute)
	if errors.Is(err, store.ErrNotFound) {
		return ""
	}
	if err != nil {
		l.Fatal(err)
	}
	if job.Attempt != 1 || job.State != "running" || job.RunID != e.RunID {
		l.Errorf("claimed %+v", job)
	}
	return job.Kind
}

func newNextLab(t *testing.T) *nextLab { return &nextLab{newLab(t), map[int64]store.Lease{}} }

// The worker that reads the last file of a run goes on, once.
func TestNextAfterTheLastRead(t *testing.T) {
	l := newNextLab(t)
	first, second := l.begin("r", "a.txt", 1), l.begin("r", "b.txt", 1)
	other := l.begin("other", "a.txt", 1)
	l.read(first)
	if next := l.next(first, false); next != "" {
		t.Errorf("while a file is being read: %s", next)
	}
	l.sql(`update jobs set state = 'queued' where evidence_id = $1`, second.ID)
	if next := l.next(first, false); next != "" {
		t.Errorf("while a file is to be read: %s", next)
	}
	l.read(second)
	l.read(other)
	if next := l.next(second, false); next != store.JobSymbolise {
		t.Errorf("after the last file: %q", next)
	}
	if next := l.next(first, false); next != "" {
		t.Errorf("once more: %s", next)
	}
}

// The lease of the next job is like any: its result ends it, and after its time the job goes back to the queue.
func TestLeaseOfTheNext(t *testing.T) {
	l := newNextLab(t)
	e := l.begin("r", "a.txt", 1)
	l.read(e)
	lost := must[store.Lease](t)(l.ClaimNext(t.Context(), l.begun[e.ID], false, -time.Second))
	if n := must[int](t)(l.ReapJobs(t.Context())); n != 1 {
		t.Fatalf("%d jobs are taken back", n)
	}
	second := must[store.Lease](t)(l.ClaimNext(t.Context(), l.begun[e.ID], false, time.Minute))
	if second.ID != lost.ID || second.Attempt != 2 {
		t.Errorf("after %+v: %+v", lost, second)
	}
	naming := must[store.SymbolSearch](t)(l.BeginSymbolSearch(t.Context(), e.RunID))
	if err := l.UpdateNames(t.Context(), second, naming, "names"); err != nil {
		t.Fatal(err)
	}
	if err := l.UpdateNames(t.Context(), lost, naming, "late"); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a second result: %v", err)
	}
	report := must[store.Lease](t)(l.ClaimNext(t.Context(), second, false, time.Minute))
	if report.Kind != store.JobAnalyse {
		t.Errorf("after the names: %+v", report)
	}
	if _, err := l.ClaimNext(t.Context(), report, false, time.Minute); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after the report: %v", err)
	}
}

// A job that waits for a second attempt is not taken before its time.
func TestNextWaitsForItsTime(t *testing.T) {
	l := newNextLab(t)
	e := l.begin("r", "a.txt", 1)
	l.read(e)
	l.sql(`update jobs set run_at = now() + interval '1 minute' where kind = 'symbolise'`)
	if next := l.next(e, false); next != "" {
		t.Errorf("before its time: %s", next)
	}
}

// A slot for light jobs is not kept busy by a heavy one, which has a slot of its own.
func TestNextOfAHeavyRun(t *testing.T) {
	l := newNextLab(t)
	large, small := l.begin("r", "large.txt", 256<<20), l.begin("r", "small.txt", 1)
	l.read(large)
	l.read(small)
	if next := l.next(small, false); next != "" {
		t.Errorf("a slot for light jobs goes on with %s of a heavy run", next)
	}
	if next := l.next(small, true); next != store.JobSymbolise {
		t.Errorf("a slot for heavy jobs: %q", next)
	}
	light := l.begin("light", "a.txt", 256<<20)
	l.read(light)
	if next := l.next(light, false); next != store.JobSymbolise {
		t.Errorf("a run of just the limit: %q", next)
	}
}

// A run is one turn from its first file to its report: it continues whatever else waits, and the turn counts for its
// project.
func TestNextContinuesWhateverWaits(t *testing.T) {
	for what, change := range map[string]string{
		"nothing":                        `delete from jobs where run_id = $1`,
		"another run":                    `select $1::bigint`,
		"a person at a browser":          `update evidence set urgent = true where run_id = $1`,
		"a person, for something large":  `update evidence set urgent = true, bytes = 1 << 30 where run_id = $1`,
		"a run without a report":         `update runs set report_key = 'x' where id <> $1`,
		"another run that has a report":  `update runs set report_key = 'x' where id = $1`,
		"a run that has waited for days": `update jobs set run_at = now() - interval '9 days' where run_id = $1`,
	} {
		t.Run(what, func(t *testing.T) {
			l := newNextLab(t)
			e := l.begin("r", "a.txt", 1)
			waits := must[store.Evidence](t)(l.CreateEvidence(t.Context(),
				leaks.UploadTarget{Project: "other", Build: "1", Scenario: "s", Run: "waits"},
				store.Evidence{Name: "a.txt", SHA256: "waits", Bytes: 1, Kind: "umdh"}))
			l.read(e)
			l.sql(change, waits.RunID)
			if next := l.next(e, false); next != store.JobSymbolise {
				t.Errorf("goes on with %q", next)
			}
			var turns int
			if err := l.conn.QueryRow(t.Context(), `
				select count(*) from queue_turns t join builds b using (project_id) join runs r on r.build_id = b.id
				where r.id = $1 and t.sent_at > now() - interval '1 minute'`, e.RunID).Scan(&turns); err != nil || turns != 1 {
				t.Errorf("%d turns of the project are kept: %v", turns, err)
			}
		})
	}
}

// A program goes on with no job as soon as the database is newer than it knows.
func TestNextOfANewerSchema(t *testing.T) {
	l := newNextLab(t)
	e := l.begin("r", "a.txt", 1)
	l.read(e)
	l.sql(`insert into goose_db_version (version_id, is_applied) values ($1, true)`, store.KnownSchema()+1)
	if next := l.next(e, false); next != "" {
		t.Errorf("on a newer schema: %s", next)
	}
}

// A run that was deleted or cancelled meanwhile ends the worker's way.
func TestNextOfAnEndedRun(t *testing.T) {
	l := newNextLab(t)
	deleted, cancelled := l.begin("deleted", "a.txt", 1), l.begin("cancelled", "a.txt", 1)
	l.read(deleted)
	l.read(cancelled)
	if err := l.DeleteRun(t.Context(), deleted.RunID, "somebody"); err != nil {
		t.Fatal(err)
	}
	must[int](t)(l.CancelRun(t.Context(), cancelled.RunID, "somebody"))
	for _, e := range []store.Evidence{deleted, cancelled} {
		if next := l.next(e, false); next != "" {
			t.Errorf("run %d goes on with %s", e.RunID, next)
		}
	}
}
