package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Digest identifies content.
type Digest struct {
	SHA256 string // lower-case hex
	Bytes  int64  // length
}

// incoming is the prefix of keys for what is being stored and has no key of its own yet.
const incoming = "incoming/"

// cleanupTimeout bounds the deletion of what a failed Put leaves: it must work although the caller's time is over.
const cleanupTimeout = time.Minute

// IncomingKey returns a new key for content that gets its final one by Rename. What a crash leaves under such keys
// is deleted by SweepIncoming.
func IncomingKey() string { return incoming + strings.ToLower(rand.Text()) }

// ContentFolder begins the keys of content.
const ContentFolder = "sha256/"

// ContentKey returns the key of content by its digest: "sha256/ab/abcdef…".
func ContentKey(sha string) string { return ContentFolder + sha[:min(2, len(sha))] + "/" + sha }

// PutDigest is Put that returns the digest of what it stored.
func PutDigest(ctx context.Context, s Store, key string, r io.Reader) (Digest, error) {
	digest := sha256.New()
	n, err := s.Put(ctx, key, io.TeeReader(r, digest))
	if err != nil {
		return Digest{}, err //nolint:wrapcheck // says all
	}
	return Digest{SHA256: hex.EncodeToString(digest.Sum(nil)), Bytes: n}, nil
}

// PutContent stores all of r under its ContentKey. The same content is stored once, however often and by however many
// callers it is put.
func PutContent(ctx context.Context, s Store, r io.Reader) (Digest, error) {
	key := IncomingKey()
	digest, err := PutDigest(ctx, s, key, r)
	if err != nil {
		return Digest{}, err
	}
	if err := settle(ctx, s, key, digest); err != nil {
		return Digest{}, err
	}
	return digest, nil
}

// KeptFor is how long content must not be deleted after it was put: its caller may be about to store a row that refers
// to it.
const KeptFor = time.Hour

// settle moves a blob to the key that its digest gives it, or deletes it where that is there already, unless that was
// put so long ago that it might be deleted.
func settle(ctx context.Context, s Store, key string, digest Digest) error {
	there, err := s.Stat(ctx, ContentKey(digest.SHA256))
	known := err == nil && there.Size == digest.Bytes && time.Since(there.Modified) < KeptFor/2
	if err == nil && !known || errors.Is(err, ErrNotFound) {
		err = s.Rename(ctx, key, ContentKey(digest.SHA256))
	}
	if known || err != nil {
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		err = errors.Join(err, s.Delete(cleanup, key))
	}
	return err
}

// SweepIncoming deletes the blobs that are older than age under keys of IncomingKey, and returns how many. age should
// be longer than any upload takes. Several processes may sweep at once.
func SweepIncoming(ctx context.Context, s Store, age time.Duration) (int, error) {
	swept := 0
	for info, err := range s.List(ctx, incoming) {
		if err == nil && time.Since(info.Modified) < age {
			continue
		}
		if err == nil {
			err = s.Delete(ctx, info.Key)
		}
		if err != nil {
			return swept, fmt.Errorf("blob: sweep: %w", err)
		}
		swept++
	}
	return swept, nil
}
