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
	list := must[[]store.Evidence](t)(l.now().EvidenceOfRun(t.Context(), two))
	if len(list) != 1 || list[0].ExpiredAt == nil || list[0].State != "read" || len(input(t, l.Store, two).Captures) != 1 {
		t.Errorf("%+v", list)
	}
	// The file is uploaded again before it was deleted.
	addEvidence(t, l.Store, leaks.Target{Project: "demo", Build: "2"}, "a.txt")
	drop := func() error { t.Error("deleted what is wanted"); return nil }
	if dropped, err := l.DropExpired(t.Context(), "a.txt-sha", drop); dropped || err != nil {
		t.Errorf("%v %v", dropped, err)
	}
	if digests, n := l.expire(0); n != 1 || digests != "a.txt-sha" {
		t.Errorf("%d, %q", n, digests)
	}
	failed := errors.New("the disk is gone")
	if dropped, err := l.DropExpired(t.Context(), "a.txt-sha", func() error { return failed }); dropped ||
		!errors.Is(err, failed) {
		t.Errorf("%v %v", dropped, err)
	}
	if dropped, err := l.DropExpired(t.Context(), "a.txt-sha", func() error { return nil }); !dropped || err != nil {
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
	_, err := l.DropExpired(t.Context(), "a.txt-sha", func() error {
		wait.Go(func() {
			addEvidence(t, l.Store, leaks.Target{Project: "demo", Build: "9"}, "a.txt")
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
