package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"heapdrift/ingest"
	"heapdrift/internal/analysis"
)

// evidenceFile is a file given, with the digest of its content. Reading the file in order computes the digest on the
// way; from the first byte that a reader skips on, the digest is computed separately, at the same time.
type evidenceFile struct {
	analysis.File
	ctx     context.Context //nolint:containedctx // lives as long as one command
	content *os.File

	mu     sync.Mutex
	digest hash.Hash
	at     int64         // so much of the file is in the digest, while it is not computed beside the reading
	beside chan struct{} // closed when what is computed beside has ended; nil where nothing is
	failed error         // of that
}

func newEvidenceFile(ctx context.Context, of analysis.File, content *os.File) *evidenceFile {
	return &evidenceFile{File: of, ctx: ctx, content: content, digest: sha256.New()}
}

func (f *evidenceFile) source() ingest.Source {
	return ingest.Source{Name: f.Name, ReaderAt: f, Size: f.Bytes}
}

// ReadAt implements io.ReaderAt.
func (f *evidenceFile) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.content.ReadAt(b, off)
	f.follow(b[:n], off)
	return n, err
}

// follow takes what was read at a place into the digest.
func (f *evidenceFile) follow(b []byte, off int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := off + int64(len(b))
	switch {
	case f.beside != nil || end <= f.at:
	case off > f.at:
		f.beside = make(chan struct{})
		go func() {
			defer close(f.beside)
			f.failed = f.sumRest()
		}()
	default:
		_, _ = f.digest.Write(b[f.at-off:]) // a hash has no errors
		f.at = end
	}
}

// digestBytes is how much of a file is read for its digest at once.
const digestBytes = 1 << 20

// sumRest takes what is not yet in the digest from the file.
func (f *evidenceFile) sumRest() error {
	b := make([]byte, min(digestBytes, f.Bytes-f.at))
	for at := f.at; at < f.Bytes; {
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		n, err := f.content.ReadAt(b[:min(int64(len(b)), f.Bytes-at)], at)
		if _, _ = f.digest.Write(b[:n]); err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
		at += int64(n)
	}
	return nil
}

// wait waits for what is computed beside the reading.
func (f *evidenceFile) wait() {
	f.mu.Lock()
	beside := f.beside
	f.mu.Unlock()
	if beside != nil {
		<-beside
	}
}

// finish gives the file its digest once it is read.
func (f *evidenceFile) finish() error {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.beside == nil {
		f.failed = f.sumRest()
		f.at = f.Bytes
	}
	if f.failed == nil {
		f.SHA256 = hex.EncodeToString(f.digest.Sum(nil))
	}
	return f.failed
}
