package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func (l *lab) expire(age time.Duration) (digests string, expired int) {
	l.Helper()
	list, expired, err := l.ExpireEvidence(l.Context(), age, 100)
	if err != nil {
		l.Fatal(err)
	}
	return strings.Join(list, " "), expired
}

func TestExpireEvidence(t *testing.T) {
	l := newLab(t)
	one, two := l.run("1", leaksReport(finding{signature: "A", class: leak})), l.run("2", leaksReport(finding{signature: "A", class: leak})) // of the same file
	if digests, n := l.expire(0); n != 0 || digests != "" {
		t.Errorf("runs that are open lost %d files: %q", n, digests)
	}
	complete := func(run int64) {
		t.Helper()
		if err := l.CompleteRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	complete(one)
	if _, n := l.expire(time.Hour); n != 0 {
		t.Errorf("%d files that are not old expired", n)
	}
	if digests, n := l.expire(0); n != 1 || digests != "" { // run 2 refers to it
		t.Errorf("%d, %q", n, digests)
	}
	complete(two)
	l.again("2")
	if _, n := l.expire(0); n != 0 {
		t.Errorf("%d files of a run with work to do expired", n)
	}
	l.save(two, leaksReport(finding{signature: "A", class: leak}))
	if digests, n := l.expire(0); n != 1 || digests != "a.txt-sha" {
		t.Errorf("%d, %q", n, digests)
	}
	if digests, n := l.expire(0); n != 0 || digests != "a.txt-sha" { // nobody has dropped it: who was told may have crashed
		t.Errorf("a second time: %d, %q", n, digests)
	}
	list := must[[]store.Evidence](t)(l.now().ListEvidence(t.Context(), two))
	if len(list) != 1 || list[0].ExpiredAt == nil || list[0].State != "read" || len(input(t, l.Store, two).Captures) != 1 {
		t.Errorf("%+v", list)
	}
	// The file is uploaded again before it was deleted.
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "2"}, "a.txt")
	drop := func() error { t.Error("deleted what is wanted"); return nil }
	if dropped, err := l.DeleteExpiredContent(t.Context(), "a.txt-sha", drop); dropped || err != nil {
		t.Errorf("%v %v", dropped, err)
	}
	if digests, n := l.expire(0); n != 1 || digests != "a.txt-sha" {
		t.Errorf("%d, %q", n, digests)
	}
	failed := errors.New("the disk is gone")
	if dropped, err := l.DeleteExpiredContent(t.Context(), "a.txt-sha", func() error { return failed }); dropped ||
		!errors.Is(err, failed) {
		t.Errorf("%v %v", dropped, err)
	}
	if dropped, err := l.DeleteExpiredContent(t.Context(), "a.txt-sha", func() error { return nil }); !dropped || err != nil {
		t.Errorf("%v %v", dropped, err)
	}
	if digests, n := l.expire(0); n != 0 || digests != "" {
		t.Errorf("after the deletion: %d, %q", n, digests)
	}
}

// An upload of the same bytes waits for a deletion and is recorded after it: the caller sees that the content is gone.
func TestUploadWaitsForDeletion(t *testing.T) {
	l := newLab(t)
	if err := l.CompleteRun(t.Context(), l.run("1", leaksReport())); err != nil {
		t.Fatal(err)
	}
	l.expire(0)
	var wait sync.WaitGroup
	deleted := false
	_, err := l.DeleteExpiredContent(t.Context(), "a.txt-sha", func() error {
		wait.Go(func() {
			addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "9"}, "a.txt")
			if !deleted {
				t.Error("the upload did not wait")
			}
		})
		await.Until(t, "the upload to wait for a lock", func() bool {
			var n int
			err := l.conn.QueryRow(t.Context(), `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).Scan(&n)
			return err == nil && n > 0
		})
		deleted = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wait.Wait()
}

// oldest stores a run for each name, with a file of that name, and completes it; the files are a day apart and the
// first is the youngest.
func (l *lab) oldest(names ...string) {
	l.Helper()
	for i, name := range names {
		e := addEvidence(l, l.Store, leaks.UploadTarget{Project: "demo", Build: name}, name)
		l.sql(`delete from jobs where run_id = $1`, e.RunID)
		l.sql(`update runs set completed_at = now(), analysed_at = now() where id = $1`, e.RunID)
		l.sql(`update evidence set state = 'read', uploaded_at = now() - $2::int * interval '1 day' where id = $1`, e.ID, i+1)
	}
}

// Each condition by which evidence expires, alone.
func TestWhatExpires(t *testing.T) {
	l := newLab(t)
	for what, test := range map[string]struct {
		change  string
		expired int
	}{
		"as it is":              {``, 1},
		"its reading failed":    {`update evidence set state = 'failed'`, 1},
		"it is not read yet":    {`update evidence set state = 'stored'`, 0},
		"young":                 {`update evidence set uploaded_at = now() - interval '59 minutes'`, 0},
		"more is to come":       {`update runs set completed_at = null`, 0},
		"it is not analysed":    {`update runs set analysed_at = null`, 0},
		"a job waits":           {`insert into jobs (kind, run_id) select 'analyse', id from runs`, 0},
		"a job runs":            {`insert into jobs (kind, run_id, state) select 'analyse', id, 'running' from runs`, 0},
		"a job has ended":       {`insert into jobs (kind, run_id, state) select 'analyse', id, 'done' from runs`, 1},
		"a job has failed":      {`insert into jobs (kind, run_id, state) select 'analyse', id, 'failed' from runs`, 1},
		"it has expired before": {`update evidence set expired_at = now() - interval '1 day'`, 0},
	} {
		l := l.emptied(t)
		l.oldest("a")
		if test.change != "" {
			l.sql(test.change)
		}
		if _, n := l.expire(time.Hour); n != test.expired {
			t.Errorf("%s: %d files expired, want %d", what, n, test.expired)
		}
	}
}

// The oldest uploads go first, in whichever order they were recorded, and no more than asked for.
func TestOldestExpiresFirst(t *testing.T) {
	l := newLab(t)
	l.oldest("young", "middle", "old")
	for _, want := range []string{"old", "middle old", "middle old young", "middle old young"} {
		if _, _, err := l.ExpireEvidence(t.Context(), time.Hour, 1); err != nil {
			t.Fatal(err)
		}
		if got := l.text(`select string_agg(name, ' ' order by name) from evidence where expired_at is not null`); got != want {
			t.Errorf("expired are %s, want %s", got, want)
		}
	}
}

// Content stays while anything refers to it: evidence that has not expired, or a symbol file with the same bytes.
func TestExpiredContentIsReferredTo(t *testing.T) {
	l := newLab(t)
	l.oldest("app.pdb")
	must[store.CreatedSymbolFile](t)(l.CreateSymbolFile(t.Context(), store.SymbolFile{Kind: "pdb", Name: "app.pdb",
		Key:    "K1",
		SHA256: "app.pdb-sha", Bytes: 9, Origin: store.OriginUpload}))
	if digests, n := l.expire(time.Hour); n != 1 || digests != "" {
		t.Errorf("%d expired, to be dropped are %q", n, digests)
	}
	drop := func() error { t.Error("the content of a symbol file is deleted"); return nil }
	if dropped, err := l.DeleteExpiredContent(t.Context(), "app.pdb-sha", drop); dropped || err != nil {
		t.Errorf("%v, %v", dropped, err)
	}
	l.sql(`delete from symbol_files`)
	if digests, _ := l.expire(time.Hour); digests != "app.pdb-sha" {
		t.Errorf("to be dropped are %q", digests)
	}
}
