package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"heapdrift/internal/backup"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
)

// A Retention deletes old files, runs and symbol files, and blobs that nothing refers to.
type Retention struct {
	Store    *store.Store
	Blobs    blob.Store
	Defaults store.RetentionDefaults
	Log      *slog.Logger
}

const (
	// keeperRound is how often Retention looks for what is old.
	keeperRound = time.Hour
	// sweepRound is how often it deletes blobs that rows referred to which are deleted, expired or replaced.
	sweepRound = time.Minute
	// orphanRound is how often one worker of all looks for blobs that no row ever referred to.
	orphanRound = 24 * time.Hour
	// OrphanAge is how old a blob must be before it counts as an orphan: whoever stored it is to refer to it first.
	OrphanAge = 24 * time.Hour
	// keeperBatch is how many files one transaction marks.
	keeperBatch = 500
	// sweepBatch is how many blobs one transaction deletes: uploads of the same content wait for it.
	sweepBatch = 50
)

// A keeperPart is a part of a round.
type keeperPart struct {
	what string // as the operators' page and the metric name it
	do   func(context.Context) (store.Removal, error)
}

// Run works until ctx is done. Several keepers do no harm to each other.
func (k *Retention) Run(ctx context.Context) error {
	var next time.Time
	for {
		var parts []keeperPart
		if time.Now().After(next) {
			parts = []keeperPart{{"evidence", k.Expire}, {"runs", k.DeleteOldRuns}, {"symbols", k.DeleteOldSymbols}}
			next = time.Now().Add(keeperRound)
		}
		parts = append(parts, keeperPart{"tombstones", k.exportTombstones}, keeperPart{"unwanted", k.Sweep}, keeperPart{"orphans", k.sweepDaily})
		for _, part := range parts {
			k.runPart(ctx, part)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(sweepRound):
		}
	}
}

// runPart does a part of a round, records and logs the result.
func (k *Retention) runPart(ctx context.Context, part keeperPart) {
	freed, err := part.do(ctx)
	if freed.Files > 0 {
		k.Log.Info("retention: deleted", "what", part.what, "files", freed.Files, "bytes", freed.Bytes)
		err = errors.Join(err, k.Store.CreateFreed(ctx, part.what, freed))
	}
	if err != nil && ctx.Err() == nil {
		k.Log.Error("retention: not everything was deleted; the next round tries again", "what", part.what, "error", err)
	}
}

// Expire marks files that are too old or too many as deleted; Sweep deletes their content.
func (k *Retention) Expire(ctx context.Context) (store.Removal, error) {
	return inBatches(func() (store.Removal, error) { return k.Store.ExpireEvidence(ctx, k.Defaults, keeperBatch) })
}

// DeleteOldSymbols deletes symbol files that are too old or too many.
func (k *Retention) DeleteOldSymbols(ctx context.Context) (store.Removal, error) {
	return inBatches(func() (store.Removal, error) { return k.Store.DeleteOldSymbolFiles(ctx, k.Defaults, keeperBatch) })
}

// inBatches repeats a step until it has less than a batch to do.
func inBatches(step func() (store.Removal, error)) (all store.Removal, err error) {
	for {
		n, err := step()
		all.Files += n.Files
		all.Bytes += n.Bytes
		if err != nil || n.Files < keeperBatch {
			return all, err
		}
	}
}

// DeleteOldRuns deletes runs that are too old or too many, with their reports.
func (k *Retention) DeleteOldRuns(ctx context.Context) (deleted store.Removal, err error) {
	for {
		old, err := store.Read(ctx, k.Store, func(v store.View) ([]int64, error) {
			return v.ListOldRuns(ctx, k.Defaults, keeperBatch)
		})
		if err != nil {
			return deleted, err
		}
		before := deleted.Files
		for _, run := range old {
			gone, err := k.Store.DeleteOldRun(ctx, run, k.Defaults)
			if err != nil {
				return deleted, fmt.Errorf("worker: delete run %d: %w", run, err)
			}
			if gone {
				deleted.Files++
			}
		}
		if len(old) < keeperBatch || deleted.Files == before { // what others changed meanwhile, the next round finds
			return deleted, nil
		}
	}
}

// Sweep deletes blobs that only rows referred to which are deleted, expired or replaced. A blob that a job may be about
// to refer to stays for another hour.
func (k *Retention) Sweep(ctx context.Context) (freed store.Removal, err error) {
	if err := k.checkInstallation(ctx); err != nil {
		return freed, err
	}
	for {
		done, err := k.Store.DeleteUnwantedBlobs(ctx, sweepBatch, func(key string, idle bool) (bool, error) {
			there, err := k.Blobs.Stat(ctx, key)
			switch {
			case errors.Is(err, blob.ErrNotFound):
				return true, nil
			case err != nil:
				return false, err
			case !idle && time.Since(there.Modified) < blob.KeptFor:
				return false, nil
			}
			if err := k.Blobs.Delete(ctx, key); err != nil {
				return false, err
			}
			freed.Files++
			freed.Bytes += there.Size
			return true, nil
		})
		if err != nil || done == 0 {
			return freed, err
		}
	}
}

// sweepDaily is SweepOrphans once a day, by one worker of all.
func (k *Retention) sweepDaily(ctx context.Context) (store.Removal, error) {
	mine, err := k.Store.ClaimRound(ctx, "orphans", orphanRound)
	if err != nil || !mine {
		return store.Removal{}, err
	}
	return k.SweepOrphans(ctx, OrphanAge, func(blob.Info) bool { return true })
}

// SweepOrphans deletes blobs that no row refers to and that are older than that. Each is shown first: a blob for which
// show reports false stays, and counts all the same.
func (k *Retention) SweepOrphans(ctx context.Context, age time.Duration,
	show func(blob.Info) bool) (freed store.Removal, err error) {
	if err := k.checkInstallation(ctx); err != nil {
		return freed, err
	}
	var keys []string
	var failed error
	flush := func() error {
		_, err := k.Store.DeleteOrphans(ctx, keys, func(key string, _ bool) (bool, error) {
			now, err := k.Blobs.Stat(ctx, key)
			switch {
			case errors.Is(err, blob.ErrNotFound):
				return false, nil // another sweep was faster
			case err != nil:
				return false, err
			case time.Since(now.Modified) < age: // stored again since it was listed
				return false, nil
			case show(now):
				if err := k.Blobs.Delete(ctx, key); err != nil {
					return false, err
				}
			}
			freed.Files++
			freed.Bytes += now.Size
			return true, nil
		})
		keys = keys[:0]
		return err
	}
	for info, err := range k.Blobs.List(ctx, contentPrefix) {
		if err != nil {
			return freed, fmt.Errorf("worker: list blobs: %w", err)
		}
		if strings.Count(info.Key, "/") != 2 || time.Since(info.Modified) < age {
			continue
		}
		keys = append(keys, info.Key)
		if len(keys) == sweepBatch {
			failed = errors.Join(failed, flush())
			if ctx.Err() != nil {
				return freed, failed
			}
		}
	}
	return freed, errors.Join(failed, flush())
}

// exportTombstones stores beside the blobs what was deleted, for a restore of an older backup. It frees nothing.
func (k *Retention) exportTombstones(ctx context.Context) (store.Removal, error) {
	for {
		n, err := k.Store.ExportTombstones(ctx, keeperBatch, func(list []store.Tombstone) error {
			return backup.PutTombstones(ctx, k.Blobs, list)
		})
		if err != nil || n < keeperBatch {
			return store.Removal{}, err
		}
	}
}

// contentPrefix begins the keys of content that rows refer to.
const contentPrefix = "sha256/"
