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
