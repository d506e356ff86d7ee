package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/internal/store/backupstore"
)

// An Installation is what is copied out of, or into.
type Installation struct {
	Store *store.Store
	Blobs blob.Store
}

// WriteOptions are how a backup is written.
type WriteOptions struct {
	Version string // of this program
	Verify  bool   // read the blobs that the place has already, and copy those anew that are damaged
	// Snapshot is called when the rows are copied and the blobs are not; nil for nobody.
	Snapshot func()
}

// ErrBusy says that another backup of the installation is under way.
var ErrBusy = errors.New("backup: another backup of this installation is under way")

// Write copies an installation, which may go on working, to a place. No row of the backup names a blob that it lacks:
// deletions of blobs wait from before the snapshot until the last blob is copied, and a row is only ever stored while
// its blob is there. No other backup of the installation is made or pruned until the manifest is stored, which has what
// the installation itself has lost.
func Write(ctx context.Context, from Installation, to blob.Store, opt WriteOptions) (m Manifest, err error) {
	release, err := from.Store.LockBlobs(ctx)
	if errors.Is(err, store.ErrConflict) {
		return m, ErrBusy
	}
	if err != nil {
		return m, err
	}
	release = sync.OnceValue(release)
	defer func() { err = errors.Join(err, release()) }()
	own, err := from.Store.FindInstallation(ctx)
	if err != nil {
		return m, err
	}
	now := time.Now().UTC()
	m = Manifest{Format: format, Name: now.Format(nameLayout), Version: opt.Version, MadeAt: now, Installation: own.ID,
		Files: map[string]File{}, Lost: []LostBlob{}}
	m.Dump, err = backupstore.DumpTables(ctx, from.Store, func(table string) (io.WriteCloser, error) {
		return newTableWriter(ctx, to, tableKey(m.Name, table), func(f File) { m.Files[table] = f })
	})
	if err != nil {
		return m, err
	}
	if opt.Snapshot != nil {
		opt.Snapshot()
	}
	var keys []string
	for _, use := range m.Dump.Blobs {
		copied, size, why, err := copyBlob(ctx, from.Blobs, to, use.Key, opt.Verify)
		switch {
		case err != nil:
			return m, err
		case why != "":
			m.Lost = append(m.Lost, LostBlob{use.Key, use.Of, why})
			continue
		case copied:
			m.Blobs.Copied++
			m.Blobs.Bytes += size
		}
		m.Blobs.Count++
		keys = append(keys, use.Key)
	}
	var tombs []store.Tombstone
	if err := from.Store.View(ctx, func(v store.View) error {
		tombs, err = v.ListTombstones(ctx)
		return err
	}); err != nil {
		return m, err
	}
	if err := PutTombstones(ctx, to, tombs); err != nil {
		return m, err
	}
	if err := writeKeys(ctx, to, &m, keys); err != nil {
		return m, err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, fmt.Errorf("backup: manifest: %w", err)
	}
	_, err = to.Put(ctx, manifestKey(m.Name), bytes.NewReader(text))
	return m, err //nolint:wrapcheck // says all
}

// copyBlob copies a blob unless it is there, and checks its bytes by its digest. why says what is wrong with the
// original.
func copyBlob(ctx context.Context, from, to blob.Store, key string, verify bool) (copied bool, size int64, why string,
	err error) {
	there, err := hasBlob(ctx, to, key, verify)
	if err != nil || there {
		return false, 0, "", err
	}
	r, err := from.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, 0, "is missing", nil
	}
	if err != nil {
		return false, 0, "", err //nolint:wrapcheck // says all
	}
	defer func() { _ = r.Close() }() // read only
	incoming := blob.IncomingKey()
	digest, err := blob.PutDigest(ctx, to, incoming, io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return false, 0, "", err //nolint:wrapcheck // says all
	}
	if blob.ContentKey(digest.SHA256) != key {
		return false, 0, fmt.Sprintf("is damaged: its %d bytes have another digest", digest.Bytes),
			to.Delete(ctx, incoming)
	}
	return true, digest.Bytes, "", to.Rename(ctx, incoming, key)
}

// hasBlob reports whether a place has a blob; with verify, whether its bytes are those of its digest.
func hasBlob(ctx context.Context, in blob.Store, key string, verify bool) (bool, error) {
	if !verify {
		_, err := in.Stat(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			return false, nil
		}
		return err == nil, err //nolint:wrapcheck // says all
	}
	r, err := in.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err //nolint:wrapcheck // says all
	}
	defer func() { _ = r.Close() }() // read only
	digest, err := digestOf(io.NewSectionReader(r, 0, r.Size()))
	return err == nil && blob.ContentKey(digest.SHA256) == key, err
}

// A tableWriter stores what is written to it, compressed, under a key.
type tableWriter struct {
	zip  *zstd.Encoder
	pipe *io.PipeWriter
	done chan error
}

func newTableWriter(ctx context.Context, to blob.Store, key string, stored func(File)) (*tableWriter, error) {
	r, w := io.Pipe()
	zip, err := zstd.NewWriter(w)
	if err != nil {
		return nil, fmt.Errorf("backup: compress: %w", err)
	}
	t := &tableWriter{zip, w, make(chan error, 1)}
	go func() {
		digest, err := blob.PutDigest(ctx, to, key, r)
		_ = r.CloseWithError(err) // ends the writer where the store gave up
		if err == nil {
			stored(File{digest.SHA256, digest.Bytes})
		}
		t.done <- err
	}()
	return t, nil
}

// Write implements io.Writer.
func (t *tableWriter) Write(p []byte) (int, error) { return t.zip.Write(p) } //nolint:wrapcheck // see Close

// Close stores the end, and says what went wrong.
func (t *tableWriter) Close() error {
	err := errors.Join(t.zip.Close())
	_ = t.pipe.CloseWithError(err)
	return errors.Join(<-t.done, err)
}
