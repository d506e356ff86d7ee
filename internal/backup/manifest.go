// Package backup copies an installation to a store of blobs, and back. In come a database, its blobs, and a folder or
// bucket; out come a manifest, the tables of one snapshot, and the blobs that its rows name, each once for all backups
// in that place. A restore into an empty installation gives the same pages and answers.
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/store/backupstore"
)

// format is the version of the layout of a backup.
const format = 1

// A Manifest says what a backup holds. It is written last: a backup without one is not complete.
type Manifest struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"` // the time of the backup, UTC: 20261128T153000.000Z
	Version string    `json:"version"`
	MadeAt  time.Time `json:"made_at"`
	// Installation is the ID of the installation that was copied.
	Installation string `json:"installation"`
	backupstore.Dump
	Files map[string]File `json:"files"` // by table
	Blobs BlobCount       `json:"blobs"`
	Keys  File            `json:"blob_keys"` // the list of the blobs
	Lost  []LostBlob      `json:"lost"`      // blobs that the installation itself had lost
}

// A File is a file of a backup, as it is stored.
type File struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// BlobCount counts the blobs of a backup.
type BlobCount struct {
	Count  int   `json:"count"`
	Copied int   `json:"copied"` // by this backup; the others were there
	Bytes  int64 `json:"bytes"`  // of those copied
}

// A LostBlob is a blob that rows name and that is missing or damaged.
type LostBlob struct {
	Key string `json:"key"`
	Of  string `json:"of"` // for people: the file or the run that it belongs to
	Why string `json:"why"`
}

// String says it to people.
func (l LostBlob) String() string { return fmt.Sprintf("%s: %s (blob %s)", l.Of, l.Why, l.Key) }

// ErrNoBackup says that a place holds no complete backup of the name.
var ErrNoBackup = errors.New("backup: no complete backup is there")

const (
	// folder begins the keys of backups.
	folder = "backups/"
	// manifestName is the name of a manifest below the folder of its backup.
	manifestName = "manifest.json"
	// maxManifest bounds the size of a manifest that is read, in bytes.
	maxManifest = 64 << 20
	nameLayout  = "20060102T150405.000Z"
)

func manifestKey(name string) string     { return folder + name + "/" + manifestName }
func tableKey(name, table string) string { return folder + name + "/" + fileName(table) }

// fileName is the name of the file with the rows of a table.
func fileName(table string) string { return table + ".copy.zst" }

// List lists the names of the complete backups in a place, the oldest first.
func List(ctx context.Context, from blob.Store) ([]string, error) {
	complete, _, err := list(ctx, from)
	return complete, err
}

// list lists the names of the backups in a place, the oldest first: of those with a manifest, and of those without one,
// which are being made or were interrupted.
func list(ctx context.Context, from blob.Store) (complete, others []string, err error) {
	var names []string
	isComplete := map[string]bool{}
	for info, err := range from.List(ctx, folder) { // in the order of the keys
		if err != nil {
			return nil, nil, fmt.Errorf("backup: list: %w", err)
		}
		name, file, ok := strings.Cut(strings.TrimPrefix(info.Key, folder), "/")
		if !ok {
			continue
		}
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
		if file == manifestName {
			isComplete[name] = true
		}
	}
	for _, name := range names {
		if isComplete[name] {
			complete = append(complete, name)
		} else {
			others = append(others, name)
		}
	}
	return complete, others, nil
}

// ReadManifest reads the manifest of a backup: of the newest for an empty name. It returns ErrNoBackup where there is
// none.
func ReadManifest(ctx context.Context, from blob.Store, name string) (m Manifest, err error) {
	if name == "" {
		names, err := List(ctx, from)
		if err != nil {
			return m, err
		}
		if len(names) == 0 {
			return m, ErrNoBackup
		}
		name = names[len(names)-1]
	}
	text, err := readAll(ctx, from, manifestKey(name))
	if errors.Is(err, blob.ErrNotFound) {
		return m, fmt.Errorf("%w: %s", ErrNoBackup, name)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("backup: manifest of %s: %w", name, err)
	}
	if m.Format != format {
		return m, fmt.Errorf("backup: %s has format %d, and this heapdrift reads %d", name, m.Format, format)
	}
	return m, nil
}

func readAll(ctx context.Context, from blob.Store, key string) ([]byte, error) {
	r, err := from.Open(ctx, key)
	if err != nil {
		return nil, err //nolint:wrapcheck // says all
	}
	defer func() { _ = r.Close() }() // read only
	if r.Size() > maxManifest {
		return nil, fmt.Errorf("backup: %s has %d bytes, and %d are read at most", key, r.Size(), maxManifest)
	}
	text, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return nil, fmt.Errorf("backup: read %s: %w", key, err)
	}
	return text, nil
}
