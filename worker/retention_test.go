package worker_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/worker"
)

// Files that are old go, and what was read of them stays; a file that is uploaded again is there again.
func TestKeeperDeletesOldEvidence(t *testing.T) {
	p := start(t)
	run := p.upload("1.txt", log(1, 50))
	before := p.report(p.settled(run))
	key := blob.ContentKey(evidenceOf(p, run)[0].SHA256)
	keeper := &worker.Keeper{Store: p.Store, Blobs: p.Blobs, Keep: time.Nanosecond, Log: slog.New(slog.DiscardHandler)}
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
	if after := p.report(p.settled(run)); after.Totals.Heap.Outstanding != before.Totals.Heap.Outstanding || evidenceOf(p, run)[0].ExpiredAt == nil {
		t.Errorf("%+v", after.Totals)
	}
	p.upload("1.txt", log(1, 50))
	if _, err := p.Blobs.Stat(t.Context(), key); err != nil || evidenceOf(p, run)[0].ExpiredAt != nil {
		t.Errorf("uploaded again: %v", err)
	}
}

// What only a deleted run referred to goes with the next round of a keeper.
func TestKeeperSweepsWhatIsDeleted(t *testing.T) {
	p := start(t)
	run := p.upload("1.txt", log(1, 50))
	p.settled(run)
	key := blob.ContentKey(evidenceOf(p, run)[0].SHA256)
	keeper := &worker.Keeper{Store: p.Store, Blobs: p.Blobs, Log: slog.New(slog.DiscardHandler)}
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
	if _, err := p.Store.DropUnwanted(t.Context(), 100, func(string, bool) (bool, error) { unwanted++; return false, nil }); err != nil || unwanted != 4 {
		t.Errorf("%d blobs of a run are unwanted, want its file, capture, names and report; %v", unwanted, err)
	}
	sweep(false)
}
