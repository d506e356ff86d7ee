package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
	"heapdrift/worker"
)

// Old files are deleted, and what was read from them stays; a file that is uploaded again is kept again.
func TestKeeperDeletesOldEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	p := start(t)
	run := p.upload("1.txt", log(1, 50))
	before := p.report(p.settled(run))
	key := blob.ContentKey(evidenceOf(p, run)[0].SHA256)
	keeper := &worker.Retention{Store: p.Store, Blobs: p.Blobs, Keep: time.Nanosecond, Log: slog.New(slog.DiscardHandler)}
	if n, err := keeper.Expire(t.Context()); err != nil || n != 0 {
		t.Errorf("%d files of a run that is not complete were deleted, %v", n, err)
	}
	if err := p.Store.CompleteRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	young := *keeper
	young.Keep = time.Hour
	if n, err := young.Expire(t.Context()); err != nil || n != 0 {
		t.Errorf("%d young files were deleted, %v", n, err)
	}
	if n, err := keeper.Expire(t.Context()); err != nil || n != 1 {
		t.Errorf("%d files were deleted, %v", n, err)
	}
	if _, err := p.Blobs.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the file is there: %v", err)
	}
	if n, err := keeper.Expire(t.Context()); err != nil || n != 0 {
		t.Errorf("%d files were deleted twice, %v", n, err)
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
