package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/backupstore"
)

// tombFolder begins the keys of tombstones, in a place of backups and beside the blobs.
const tombFolder = "tombstones/"

// PutTombstones stores tombstones in a place, so that they outlive the database.
func PutTombstones(ctx context.Context, to blob.Store, list []store.Tombstone) error {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("backup: tombstones: %w", err)
	}
	key := tombFolder + time.Now().UTC().Format(nameLayout) + "-" + strings.ToLower(rand.Text()) + ".json"
	_, err = to.Put(ctx, key, bytes.NewReader(text))
	return err //nolint:wrapcheck // says all
}

// collectTombstones reads all tombstones that tell of an installation: those of the place, of the blobs, and of the
// database that is to be replaced.
func collectTombstones(ctx context.Context, from blob.Store, to Installation) ([]store.Tombstone, error) {
	all, err := backupstore.ListTombstonesBefore(ctx, to.Store)
	if err != nil {
		return nil, err
	}
	for _, in := range []blob.Store{from, to.Blobs} {
		for info, err := range in.List(ctx, tombFolder) {
			if err != nil {
				return nil, fmt.Errorf("backup: list tombstones: %w", err)
			}
			text, err := readAll(ctx, in, info.Key)
			if err != nil {
				return nil, err
			}
			var list []store.Tombstone
			if err := json.Unmarshal(text, &list); err != nil {
				return nil, fmt.Errorf("backup: %s: %w", info.Key, err)
			}
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b store.Tombstone) int { return a.DeletedAt.Compare(b.DeletedAt) })
	return all, nil
}
