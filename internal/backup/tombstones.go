package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/backupstore"
)

// tombFolder begins the keys of tombstones, in a place of backups and beside the blobs.
const tombFolder = "tombstones/"

// tombstonesPerFile bounds the tombstones of a file, so that no file grows with the age of an installation.
const tombstonesPerFile = 10_000

// PutTombstones stores tombstones in a place, so that they outlive the database.
func PutTombstones(ctx context.Context, to blob.Store, list []store.Tombstone) error {
	return putTombstones(ctx, to, list, tombstonesPerFile)
}

func putTombstones(ctx context.Context, to blob.Store, list []store.Tombstone, perFile int) error {
	for chunk := range slices.Chunk(list, perFile) {
		text, err := json.Marshal(chunk)
		if err != nil {
			return fmt.Errorf("backup: tombstones: %w", err)
		}
		key := tombFolder + time.Now().UTC().Format(nameLayout) + "-" + strings.ToLower(rand.Text()) + ".json"
		if _, err := to.Put(ctx, key, bytes.NewReader(text)); err != nil {
			return err //nolint:wrapcheck // says all
		}
	}
	return nil
}

// readTombstones reads a file of tombstones, one after the other: of any size.
func readTombstones(ctx context.Context, from blob.Store, key string) (list []store.Tombstone, err error) {
	r, err := from.Open(ctx, key)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	defer func() { _ = r.Close() }() // read only
	d := json.NewDecoder(io.NewSectionReader(r, 0, r.Size()))
	start, err := d.Token()
	if err == nil && start != json.Delim('[') {
		err = fmt.Errorf("it begins with %v", start)
	}
	for err == nil && d.More() {
		var t store.Tombstone
		if err = d.Decode(&t); err == nil {
			list = append(list, t)
		}
	}
	if err == nil {
		_, err = d.Token() // the end, which a file that is cut off lacks
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %s: %w", key, err)
	}
	return list, nil
}

// collectTombstones reads all tombstones that tell of an installation: those of the place, of the blobs, and of the
// database that is to be replaced. The latter it also stores beside the blobs: where the rows of the backup cannot be
// loaded, that database is gone, and the next restore needs them.
func collectTombstones(ctx context.Context, from blob.Store, to Installation) ([]store.Tombstone, error) {
	all, err := backupstore.ListTombstonesBefore(ctx, to.Store)
	if err != nil {
		return nil, err
	}
	if err := PutTombstones(ctx, to.Blobs, all); err != nil {
		return nil, err
	}
	for _, in := range []blob.Store{from, to.Blobs} {
		for info, err := range in.List(ctx, tombFolder) {
			if err != nil {
				return nil, fmt.Errorf("backup: list tombstones: %w", err)
			}
			list, err := readTombstones(ctx, in, info.Key)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b store.Tombstone) int { return a.DeletedAt.Compare(b.DeletedAt) })
	return all, nil
}
