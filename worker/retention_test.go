package worker_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
	"heapdrift/worker"
)

// sweptAll is what a keeper deletes now, also where it is just stored.
func sweptAll(t *testing.T, k *worker.Retention, do func(context.Context) (store.Removal, error)) store.Removal {
	t.Helper()
	freed, err := do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return freed
}

// Files beyond the limit are deleted, and what was read from them stays; a file that is uploaded again is kept again.
func TestKeeperDeletesOldEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	run := p.upload("1.txt", log(1, 50))
	before := p.report(p.settled(run))
	size := int64(len(log(1, 50)))
	key := blob.ContentKey(evidenceOf(p, run)[0].SHA256)
	keeper := &worker.Retention{Store: p.Store, Blobs: p.Blobs, Defaults: store.RetentionDefaults{EvidenceBytes: size}, Log: slog.New(slog.DiscardHandler)}
	if n := sweptAll(t, keeper, keeper.Expire); n.Files != 0 {
		t.Errorf("%d files within the limit were deleted", n.Files)
	}
	keeper.Defaults.EvidenceBytes--
	if n := sweptAll(t, keeper, keeper.Expire); n != (store.Removal{Files: 1, Bytes: size}) {
		t.Errorf("%+v was deleted", n)
	}
	if _, err := p.Blobs.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the file is there: %v", err)
	}
	if n := sweptAll(t, keeper, keeper.Expire); n.Files != 0 {
		t.Errorf("%d files were deleted twice", n.Files)
	}
	if after := p.report(p.settled(run)); after.Totals.Heap.Outstanding != before.Totals.Heap.Outstanding ||
		evidenceOf(p, run)[0].ExpiredAt == nil {
		t.Errorf("%+v", after.Totals)
	}
	p.upload("1.txt", log(1, 50))
	if _, err := p.Blobs.Stat(t.Context(), key); err != nil || evidenceOf(p, run)[0].ExpiredAt != nil {
		t.Errorf("uploaded again: %v", err)
	}
}

// Blobs that a newer report replaces are deleted, and no others: each blob that is left has a row.
func TestKeeperSweepsWhatIsReplaced(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	run := p.upload("1.txt", log(1, 50))
	p.settled(run)
	p.upload("2.txt", log(2, 60)) // a second report takes the place of the first
	p.settled(run)
	keeper := &worker.Retention{Store: p.Store, Blobs: p.Blobs, Log: slog.New(slog.DiscardHandler)}
	count := func() (n int) {
		for _, err := range p.Blobs.List(t.Context(), "sha256/") {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	before := count()
	freed, err := keeper.Sweep(t.Context())
	if err != nil || freed.Files == 0 || freed.Bytes == 0 || count() != before-int(freed.Files) {
		t.Errorf("%+v of %d blobs, %d are left, %v", freed, before, count(), err)
	}
	all := func(blob.Info) bool { return true }
	if orphans, err := keeper.SweepOrphans(t.Context(), 0, all); err != nil || orphans.Files != 0 {
		t.Errorf("%+v are left without a row, %v", orphans, err)
	}
	p.report(p.settled(run))
}

// Blobs that no row names are deleted once they are old enough; a dry run only shows them.
func TestKeeperSweepsOrphans(t *testing.T) {
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	digest, err := blob.PutContent(t.Context(), blobs, strings.NewReader("orphan"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blobs.Put(t.Context(), "uploads/x/1", strings.NewReader("part")); err != nil {
		t.Fatal(err)
	}
	e, err := (&intake.Intake{Store: s, Blobs: blobs}).Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: "1"}, "a.txt", strings.NewReader(log(1, 50)))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what string
		age  time.Duration
		show bool
		want store.Removal
		left bool
	}{
		{"a minute too young", worker.OrphanAge - time.Minute, true, store.Removal{}, true},
		{"a dry run", worker.OrphanAge, false, store.Removal{Files: 1, Bytes: 6}, true},
		{"old", worker.OrphanAge, true, store.Removal{Files: 1, Bytes: 6}, false},
		{"gone", worker.OrphanAge, true, store.Removal{}, false},
	} {
		keeper := &worker.Retention{Store: s, Blobs: agedStore{blobs, step.age}, Log: slog.New(slog.DiscardHandler)}
		got, err := keeper.SweepOrphans(t.Context(), worker.OrphanAge, func(i blob.Info) bool {
			if i.Key != blob.ContentKey(digest.SHA256) {
				t.Errorf("%s: %s is shown", step.what, i.Key)
			}
			return step.show
		})
		if _, gone := blobs.Stat(t.Context(), blob.ContentKey(digest.SHA256)); err != nil || got != step.want || (gone == nil) != step.left {
			t.Errorf("%s: %+v, %v, %v", step.what, got, err, gone)
		}
	}
	for _, key := range []string{blob.ContentKey(e.SHA256), "uploads/x/1"} {
		if _, err := blobs.Stat(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
}

// A blob that is stored anew between the list and its deletion stays.
func TestKeeperSparesWhatIsStoredAgain(t *testing.T) {
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	digest, err := blob.PutContent(t.Context(), blobs, strings.NewReader("orphan"))
	if err != nil {
		t.Fatal(err)
	}
	keeper := &worker.Retention{Store: s, Blobs: listedOld{blobs}, Log: slog.New(slog.DiscardHandler)}
	if err := keeper.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := keeper.SweepOrphans(t.Context(), worker.OrphanAge, func(blob.Info) bool { return true }); err != nil || got.Files != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := blobs.Stat(t.Context(), blob.ContentKey(digest.SHA256)); err != nil {
		t.Error(err)
	}
}

// listedOld lists blobs as older than they are.
type listedOld struct{ blob.Store }

func (o listedOld) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return aged(o.Store.List(ctx, prefix), worker.OrphanAge)
}

func aged(list iter.Seq2[blob.Info, error], by time.Duration) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		for info, err := range list {
			info.Modified = info.Modified.Add(-by)
			if !yield(info, err) {
				return
			}
		}
	}
}

// Content that only a deleted run referred to is deleted in the next round of a keeper.
func TestKeeperSweepsWhatIsDeleted(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	run := p.upload("1.txt", log(1, 50))
	p.settled(run)
	key := blob.ContentKey(evidenceOf(p, run)[0].SHA256)
	keeper := &worker.Retention{Store: p.Store, Blobs: p.Blobs, Log: slog.New(slog.DiscardHandler)}
	sweep := func(want bool) {
		t.Helper()
		_, err := keeper.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Blobs.Stat(t.Context(), key); (err == nil) != want {
			t.Errorf("the file is there: %t, want %t", err == nil, want)
		}
	}
	sweep(true)
	if err := p.Store.DeleteRun(t.Context(), run, "ada"); err != nil {
		t.Fatal(err)
	}
	unwanted := 0
	if _, err := p.Store.DeleteUnwantedBlobs(t.Context(), 100,
		func(string, bool) (bool, error) { unwanted++; return false, nil }); err != nil || unwanted != 4 {
		t.Errorf("%d blobs of a run are unwanted, want its file, capture, names and report; %v", unwanted, err)
	}
	sweep(false)
}

// agedStore is a blob store whose content seems older than it is by a given time.
type agedStore struct {
	blob.Store
	by time.Duration
}

func (o agedStore) Stat(ctx context.Context, key string) (blob.Info, error) {
	info, err := o.Store.Stat(ctx, key)
	info.Modified = info.Modified.Add(-o.by)
	return info, err
}

func (o agedStore) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return aged(o.Store.List(ctx, prefix), o.by)
}

// Content that a job at work may be about to refer to is kept for blob.KeptFor after it was put; where no job is at
// work, nothing is kept.
func TestKeeperWaitsForJobs(t *testing.T) {
	for _, test := range []struct {
		name    string
		working bool
		age     time.Duration
		kept    bool
	}{
		{"a job is at work", true, 0, true}, {"a minute before the end", true, blob.KeptFor - time.Minute, true},
		{"at the end", true, blob.KeptFor, false},
		{"none is at work", false, 0, false},
	} {
		s, err := store.Open(t.Context(), testdb.New(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		door := &intake.Intake{Store: s, Blobs: blobs}
		accept := func(build, content string) store.Evidence {
			e, err := door.Accept(t.Context(), leaks.UploadTarget{Project: "p", Build: build}, "a.txt", strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		deleted := accept("1", log(1, 50))
		if err := s.DeleteRun(t.Context(), deleted.RunID, "ada"); err != nil {
			t.Fatal(err)
		}
		accept("2", log(2, 60))
		if test.working {
			due, err := s.DispatchAllJobs(t.Context(), time.Hour)
			if err != nil || len(due) != 1 {
				t.Fatal(due, err)
			}
			if _, err := s.ClaimJob(t.Context(), due[0].ID, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := (&worker.Retention{Store: s, Blobs: agedStore{blobs, test.age},
			Log: slog.New(slog.DiscardHandler)}).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := blobs.Stat(t.Context(), blob.ContentKey(deleted.SHA256)); (err == nil) != test.kept {
			t.Errorf("%s: kept %t, want %t", test.name, err == nil, test.kept)
		}
	}
}

// A database that the blob store does not belong to deletes nothing of it: one that is new, and one that was restored.
func TestKeeperLeavesBlobsOfOthers(t *testing.T) {
	ctx := t.Context()
	blobs, err := blob.Open(ctx, "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	everything := func(blob.Info) bool { return true }
	keeperOf := func() (*worker.Retention, *store.Store) {
		s, conn := storetest.Open(t)
		if _, err := conn.Exec(ctx, `update installation set id = gen_random_uuid()::text`); err != nil { // tests copy one database
			t.Fatal(err)
		}
		return &worker.Retention{Store: s, Blobs: agedStore{blobs, 48 * time.Hour}, Log: slog.New(slog.DiscardHandler)}, s
	}
	sweep := func(k *worker.Retention) (store.Removal, error) {
		_, err := k.Sweep(ctx)
		freed, err2 := k.SweepOrphans(ctx, worker.OrphanAge, everything)
		return freed, errors.Join(err, err2)
	}
	first, s := keeperOf()
	if _, err := sweep(first); err != nil { // an empty store belongs to whoever comes first
		t.Fatal(err)
	}
	e, err := (&intake.Intake{Store: s, Blobs: blobs}).Accept(ctx, leaks.UploadTarget{Project: "p", Build: "1"}, "a.txt", strings.NewReader(log(1, 50)))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := keeperOf()
	for range 2 {
		if freed, err := sweep(other); !errors.Is(err, worker.ErrForeignBlobs) || freed != (store.Removal{}) {
			t.Errorf("another database: %+v, %v", freed, err)
		}
	}
	if err := blobs.Delete(ctx, "installation"); err != nil { // as a version of before left it
		t.Fatal(err)
	}
	if _, err := sweep(other); !errors.Is(err, worker.ErrForeignBlobs) {
		t.Errorf("a new database on a store without an ID: %v", err)
	}
	if _, err := sweep(first); err != nil {
		t.Errorf("the database whose rows name content of a store without an ID: %v", err)
	}
	if _, err := sweep(other); !errors.Is(err, worker.ErrForeignBlobs) {
		t.Errorf("then the other: %v", err)
	}
	if _, err := blobs.Stat(ctx, blob.ContentKey(e.SHA256)); err != nil {
		t.Error(err)
	}
	if err := other.Claim(ctx); err != nil {
		t.Fatal(err)
	}
	if freed, err := sweep(other); err != nil || freed.Files != 1 {
		t.Errorf("after the claim: %+v, %v", freed, err)
	}
	if _, err := sweep(first); !errors.Is(err, worker.ErrForeignBlobs) {
		t.Errorf("the former one after the claim: %v", err)
	}
}

// stubbornStore cannot delete one blob.
type stubbornStore struct {
	blob.Store
	key string
}

func (s stubbornStore) Delete(ctx context.Context, key string) error {
	if key == s.key {
		return errors.New("the object is locked")
	}
	return s.Store.Delete(ctx, key)
}

// A blob that cannot be deleted, and one that somebody needs, keep no other blob.
func TestKeeperPassesOverBlobsThatStay(t *testing.T) {
	ctx := t.Context()
	s, conn := storetest.Open(t)
	files, err := blob.Open(ctx, "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&intake.Intake{Store: s, Blobs: files}).Accept(ctx, leaks.UploadTarget{Project: "p", Build: "1"}, "a.txt", strings.NewReader(log(1, 50))); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := range 120 {
		digest, err := blob.PutContent(ctx, files, strings.NewReader(fmt.Sprint("content ", i)))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, blob.ContentKey(digest.SHA256))
	}
	fill := func() {
		t.Helper()
		for _, statement := range []string{`delete from unwanted_blobs`,
			`insert into unwanted_blobs (key, at) select 'sha256/' || left(sha256, 2) || '/' || sha256, now() - interval '3 hours' from evidence`} {
			if _, err := conn.Exec(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := conn.Exec(ctx, `insert into unwanted_blobs (key, at) select k, now() - interval '1 hour' from unnest($1::text[]) k`, keys[1:]); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, `insert into unwanted_blobs (key, at) values ($1, now() - interval '2 hours')`, keys[0]); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	k := &worker.Retention{Store: s, Blobs: stubbornStore{agedStore{files, 48 * time.Hour}, keys[0]}, Log: slog.New(slog.DiscardHandler)}
	var freed store.Removal
	for range 4 { // a round ends where a blob cannot be deleted
		n, err := k.Sweep(ctx)
		if freed.Files += n.Files; err == nil {
			t.Error("nobody hears of the blob that stays")
		}
	}
	if freed.Files != 119 {
		t.Errorf("%d of 119 blobs were deleted", freed.Files)
	}
	if _, err := files.Stat(ctx, keys[0]); err != nil {
		t.Error(err)
	}
	for i := range keys {
		digest, err := blob.PutContent(ctx, files, strings.NewReader(fmt.Sprint("again ", i)))
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = blob.ContentKey(digest.SHA256)
	}
	fill()
	k.Blobs = agedStore{files, 48 * time.Hour}
	if n, err := k.Sweep(ctx); err != nil || n.Files != 120 {
		t.Errorf("%+v of 120 blobs behind one that is needed: %v", n, err)
	}
	freed, err = k.SweepOrphans(ctx, worker.OrphanAge, func(blob.Info) bool { return true })
	if err != nil || freed.Files != 1 { // the one that could not be deleted
		t.Errorf("orphans: %+v, %v", freed, err)
	}
}
