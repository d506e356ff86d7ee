// Package blob stores evidence and artifacts. In come a key and bytes, which are written in one go; out come Readers,
// which read at any offset, or ErrNotFound. A folder and an S3 bucket implement the same interface and pass the same
// tests.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"time"
)

// ErrNotFound says that no blob has this key.
var ErrNotFound = errors.New("no such blob")

// A Store keeps blobs under keys like "sha256/ab/abcdef": elements of letters, digits, ".", "_" and "-", none of
// which starts with ".". It is safe for concurrent use, also by several processes.
type Store interface {
	// Put stores all of r under the key and returns its bytes. A blob that has the key already is replaced. Nobody
	// ever sees half a blob: when Put fails, or ctx ends, what was there before is still there. A Read of r that
	// hangs is not interrupted; ctx is looked at before each.
	Put(ctx context.Context, key string, r io.Reader) (int64, error)
	// Open opens a blob for reading until ctx ends or the Reader is closed, or says ErrNotFound. The Reader shows
	// one version of the blob: where that is replaced or deleted meanwhile, it goes on reading it or fails.
	Open(ctx context.Context, key string) (Reader, error)
	// Stat describes a blob, or says ErrNotFound.
	Stat(ctx context.Context, key string) (Info, error)
	// Rename gives a blob another key, or says ErrNotFound. A blob that has that key already is replaced. An error
	// can leave the blob under both keys, never under none.
	Rename(ctx context.Context, from, to string) error
	// Delete deletes a blob. It returns nil where the blob does not exist.
	Delete(ctx context.Context, key string) error
	// List yields the blobs whose keys start with the prefix, in the order of their keys; the first error ends it.
	// The blobs yielded may be deleted meanwhile.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
}

// A Reader reads a blob at any offset, from several goroutines if need be.
type Reader interface {
	io.ReaderAt
	io.Closer
	// Size is the blob's size in bytes.
	Size() int64
}

// Info describes a blob.
type Info struct {
	Key      string
	Size     int64 // bytes
	Modified time.Time
}

// Open returns the store that a URL names, and makes its folder or bucket where there is none:
//
//	file:///var/lib/heapdrift/blobs
//	s3://bucket/prefix?endpoint=host:port&insecure=1&region=eu-central-1
//
// Without an endpoint the bucket is Amazon's; insecure=1 speaks plain HTTP. The keys to a bucket come from
// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
func Open(ctx context.Context, rawURL string) (Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // without the URL, which may hold a password
		}
		return nil, fmt.Errorf("blob: URL of the store: %w; write file:///path or s3://bucket/prefix", err)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
			return nil, fmt.Errorf("blob: %s: the path is not absolute; write file:///path", u.Redacted())
		}
		if u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("blob: %s: the path ends at \"?\" or \"#\"; write %%3F or %%23 where it holds them",
				u.Redacted())
		}
		return openDisk(filepath.FromSlash(u.Path))
	case "s3":
		return openS3(ctx, u)
	}
	return nil, fmt.Errorf("blob: URL of the store has the scheme %q; write file:///path or s3://bucket/prefix", u.Scheme)
}
