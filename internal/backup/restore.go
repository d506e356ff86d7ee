package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/backupstore"
)

// A Restored says what a restore has done.
type Restored struct {
	Manifest
	Copied      int        // blobs that the installation did not have
	Runs, Files int        // that had been deleted after the backup, and are deleted again
	Lost        []LostBlob // that are missing or damaged in the backup
}

// Restore replaces an installation by a backup: by the newest for an empty name. It returns an error that wraps
// backupstore.ErrNotEmpty, and changes nothing, where the installation has data and force is false; an error that wraps
// backupstore.ErrNewer where the backup is of a newer version. The tables are checked before anything is replaced. What
// was deleted after the backup is deleted again, as far as tombstones tell: those of the place, of the blobs and of the
// database that is replaced.
func Restore(ctx context.Context, from blob.Store, name string, to Installation, force bool) (r Restored, err error) {
	if r.Manifest, err = ReadManifest(ctx, from, name); err != nil {
		return r, err
	}
	err = backupstore.CheckTarget(ctx, to.Store, &r.Dump)
	if err != nil && (!force || !errors.Is(err, backupstore.ErrNotEmpty)) {
		return r, err
	}
	for _, t := range r.Tables {
		if err := checkTable(ctx, from, &r.Manifest, t.Name); err != nil {
			return r, err
		}
	}
	tombs, err := collectTombstones(ctx, from, to)
	if err != nil {
		return r, err
	}
	lastRun := int64(0)
	for _, t := range tombs {
		lastRun = max(lastRun, t.RunID)
	}
	if err := backupstore.LoadTables(ctx, to.Store, &r.Dump, lastRun, func(table string) (io.ReadCloser, error) {
		return openTable(ctx, from, r.Name, table)
	}); err != nil {
		return r, err
	}
	if r.Runs, r.Files, err = to.Store.DeleteRestored(ctx, tombs); err != nil {
		return r, err
	}
	uses, err := store.Read(ctx, to.Store, func(v store.View) ([]backupstore.BlobUse, error) {
		return backupstore.ListBlobUses(ctx, v)
	})
	if err != nil {
		return r, err
	}
	for _, use := range uses {
		copied, _, why, err := copyBlob(ctx, from, to.Blobs, use.Key, true)
		switch {
		case err != nil:
			return r, err
		case why != "":
			r.Lost = append(r.Lost, LostBlob{use.Key, use.Of, why})
		case copied:
			r.Copied++
		}
	}
	return r, nil
}

// checkTable checks the bytes of a table against the manifest.
func checkTable(ctx context.Context, from blob.Store, m *Manifest, table string) error {
	if err := checkFile(ctx, from, m.Name, table, m.Files[table]); err != nil {
		return fmt.Errorf("%w; restore another backup", err)
	}
	return nil
}

// checkFile checks the bytes of a file of a backup.
func checkFile(ctx context.Context, from blob.Store, backup, file string, want File) error {
	r, err := from.Open(ctx, tableKey(backup, file))
	if err != nil {
		return fmt.Errorf("backup: %s: file %s: %w", backup, fileName(file), err)
	}
	defer func() { _ = r.Close() }() // read only
	digest, err := digestOf(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return fmt.Errorf("backup: %s: file %s: %w", backup, fileName(file), err)
	}
	if digest.SHA256 != want.SHA256 {
		return fmt.Errorf("backup: %s: file %s is damaged: its bytes have another digest", backup, fileName(file))
	}
	return nil
}

func digestOf(r io.Reader) (blob.Digest, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	if err != nil {
		return blob.Digest{}, fmt.Errorf("backup: read: %w", err)
	}
	return blob.Digest{SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: n}, nil
}

// A tableReader reads the rows of a table.
type tableReader struct {
	*zstd.Decoder
	from io.Closer
}

// Close implements io.Closer.
func (t *tableReader) Close() error {
	t.Decoder.Close()
	return t.from.Close() //nolint:wrapcheck // read only
}

func openTable(ctx context.Context, from blob.Store, name, table string) (io.ReadCloser, error) {
	r, err := from.Open(ctx, tableKey(name, table))
	if err != nil {
		return nil, fmt.Errorf("backup: %s: table %s: %w", name, table, err)
	}
	zip, err := zstd.NewReader(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("backup: %s: table %s: %w", name, table, err), r.Close())
	}
	return &tableReader{zip, r}, nil
}
