package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
)

// A Keeper deletes uploaded files that are old. What was read of them, reports and findings stay.
type Keeper struct {
	Store *store.Store
	Blobs blob.Store
	Keep  time.Duration // how long files are kept after their upload; 0 for ever
	Log   *slog.Logger
}

const (
	// keeperRound is how often a Keeper looks.
	keeperRound = time.Hour
	// keeperBatch is how many files it expires in one transaction.
	keeperBatch = 500
)

// Run works until ctx is done. Several keepers do no harm to each other.
func (k *Keeper) Run(ctx context.Context) error {
	if k.Keep <= 0 {
		return nil
	}
	for {
		files, err := k.Expire(ctx)
		if files > 0 {
			k.Log.Info("retention: old evidence deleted", "files", files)
		}
		if err != nil && ctx.Err() == nil {
			k.Log.Error("retention: old evidence was not deleted; the next round tries again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(keeperRound):
		}
	}
}

// Expire deletes every file that is old enough and says how many.
func (k *Keeper) Expire(ctx context.Context) (files int, err error) {
	for {
		digests, expired, err := k.Store.ExpireEvidence(ctx, k.Keep, keeperBatch)
		if err != nil {
			return files, err
		}
		files += expired
		for _, digest := range digests {
			_, err := k.Store.DropExpired(ctx, digest, func() error { return k.Blobs.Delete(ctx, blob.ContentKey(digest)) })
			if err != nil {
				return files, fmt.Errorf("worker: delete expired evidence: %w", err)
			}
		}
		if expired < keeperBatch {
			return files, nil
		}
	}
}
