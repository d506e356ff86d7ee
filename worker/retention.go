package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
)

// A Retention deletes old uploaded files, whose captures, reports and findings stay, and blobs that only deleted runs
// and files referred to.
type Retention struct {
	Store *store.Store
	Blobs blob.Store
	Keep  time.Duration // how long files are kept after their upload; 0 for ever
	Log   *slog.Logger
}

const (
	// keeperRound is how often Retention looks.
	keeperRound = time.Hour
	// sweepRound is how often it looks for what was deleted by hand.
	sweepRound = time.Minute
	// keeperBatch is how many files it expires in one transaction.
	keeperBatch = 500
)

// Run works until ctx is done. Several nodes may run it at once.
func (k *Retention) Run(ctx context.Context) error {
	var expire time.Time
	for {
		if k.Keep > 0 && time.Now().After(expire) {
			k.runPart(ctx, "old evidence", k.Expire)
			expire = time.Now().Add(keeperRound)
		}
		k.runPart(ctx, "what deleted runs referred to", k.Sweep)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepRound):
		}
	}
}

// runPart does a part of a round and logs the result.
func (k *Retention) runPart(ctx context.Context, what string, part func(context.Context) (int, error)) {
	files, err := part(ctx)
	if files > 0 {
		k.Log.Info("retention: files are deleted", "files", files, "what", what)
	}
	if err != nil && ctx.Err() == nil {
		k.Log.Error("retention: files were not deleted; the next round tries again", "what", what, "error", err)
	}
}

// Sweep deletes blobs that nothing refers to any more, and returns how many. A blob that a job may be about to refer to
// stays for another hour.
func (k *Retention) Sweep(ctx context.Context) (files int, err error) {
	for {
		n, err := k.Store.DeleteUnwantedBlobs(ctx, keeperBatch, func(key string, idle bool) (bool, error) {
			there, err := k.Blobs.Stat(ctx, key)
			switch {
			case errors.Is(err, blob.ErrNotFound):
				return true, nil
			case err != nil:
				return false, err
			case !idle && time.Since(there.Modified) < blob.KeptFor:
				return false, nil
			}
			return true, k.Blobs.Delete(ctx, key)
		})
		if files += n; err != nil || n < keeperBatch {
			return files, err
		}
	}
}

// Expire deletes every uploaded file that is older than Keep, and returns how many.
func (k *Retention) Expire(ctx context.Context) (files int, err error) {
	for {
		digests, expired, err := k.Store.ExpireEvidence(ctx, k.Keep, keeperBatch)
		if err != nil {
			return files, err
		}
		files += expired
		for _, digest := range digests {
			_, err := k.Store.DeleteExpiredContent(ctx, digest, func() error {
				return k.Blobs.Delete(ctx, blob.ContentKey(digest))
			})
			if err != nil {
				return files, fmt.Errorf("worker: delete expired evidence: %w", err)
			}
		}
		if expired < keeperBatch {
			return files, nil
		}
	}
}
