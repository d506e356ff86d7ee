package outage

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/blob"
	"heapdrift/internal/tempfile"
)

// MinFree is how many bytes of TMPDIR, and of the disk of the blobs, a worker needs to take a job: what a log and its
// results take. Uploads leave more than that free.
const MinFree = 64 << 20

// A Probe finds out whether a part is in order. Its functions return an *Outage, or nil.
type Probe struct {
	// Look costs next to nothing: it is made all the time. It may be nil.
	Look func(ctx context.Context) *Outage
	// Try uses the part as jobs do. It is made behind a failure, and until it succeeds.
	Try func(ctx context.Context) *Outage
}

// tryBytes is how much a trial writes: enough to meet a quota, or a disk that takes metadata only.
const tryBytes = 4 << 20

// tryTime is how long a trial may take.
const tryTime = 10 * time.Second

// OfTempDir probes TMPDIR, where files are unpacked and results are collected.
func OfTempDir(worker string) Probe {
	look := func(context.Context) *Outage {
		return lowOn(TempDir, "TMPDIR of worker "+worker, func() (int64, int64, bool) { return tempfile.Space(os.TempDir()) })
	}
	return Probe{look, func(ctx context.Context) *Outage {
		if low := look(ctx); low != nil {
			return low
		}
		return met(TempDir, worker, writeTemp())
	}}
}

func writeTemp() (err error) {
	f, err := tempfile.New("heapdrift-probe-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(make([]byte, tryBytes)); err != nil {
		return err
	}
	return f.Sync()
}

// OfBlobs probes the blob store.
func OfBlobs(worker string, blobs blob.Store) Probe {
	look := func(context.Context) *Outage {
		return lowOn(Blobs, "The disk of the blobs at worker "+worker, func() (int64, int64, bool) { return blob.Space(blobs) })
	}
	return Probe{look, func(ctx context.Context) *Outage {
		if low := look(ctx); low != nil {
			return low
		}
		return met(Blobs, worker, writeBlob(ctx, blobs))
	}}
}

// writeBlob writes a blob, reads it and deletes it. What a crash leaves is swept like an upload that was broken off.
func writeBlob(ctx context.Context, blobs blob.Store) (err error) {
	content := make([]byte, tryBytes)
	_, _ = rand.Read(content) // never fails
	key := blob.IncomingKey()
	if _, err := blobs.Put(ctx, key, bytes.NewReader(content)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Delete(ctx, key)) }()
	r, err := blobs.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only
	back, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err == nil && !bytes.Equal(back, content) {
		err = errors.New("a file reads differently from what was written")
	}
	return err
}

// OfDatabase probes PostgreSQL.
func OfDatabase(worker string, ping func(context.Context) error) Probe {
	return Probe{Try: func(ctx context.Context) *Outage { return met(Database, worker, ping(ctx)) }}
}

// lowOn is an outage where less than MinFree is free.
func lowOn(part Part, what string, space func() (free, size int64, known bool)) *Outage {
	free, size, known := space()
	if !known || free >= MinFree {
		return nil
	}
	return &Outage{Part: part, Sentence: fmt.Sprintf("%s is full: %s of %s free (%s needed)", what, quantity.Bytes(free),
		quantity.Bytes(size), quantity.Bytes(MinFree))}
}

// met is the outage that an error of a part shows.
func met(part Part, worker string, err error) *Outage {
	if err == nil {
		return nil
	}
	return &Outage{Part: part, Sentence: fmt.Sprintf(sentences[part], worker), Err: err}
}
