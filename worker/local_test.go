package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
)

// stored is a blob in memory.
type stored struct {
	*bytes.Reader
	closed bool
}

func (s *stored) Size() int64  { return s.Reader.Size() }
func (s *stored) Close() error { s.closed = true; return nil }

func TestLocalCopies(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	content := bytes.Repeat([]byte("0123456789"), 2_000_000)
	for _, size := range []int{0, 1, len(content)} {
		blob := &stored{Reader: bytes.NewReader(content[:size])}
		r, err := local(t.Context(), blob, true)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
		if err != nil || !bytes.Equal(text, content[:size]) || !blob.closed {
			t.Errorf("%d bytes of %d, closed %v, %v", len(text), size, blob.closed, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	blob := &stored{Reader: bytes.NewReader(content)}
	if _, err := local(ctx, blob, true); !errors.Is(err, context.Canceled) || !blob.closed {
		t.Errorf("%v, closed %v", err, blob.closed)
	}
	if here := (&stored{Reader: bytes.NewReader(content)}); here.closed {
		t.Error("closed")
	} else if r, err := local(ctx, here, false); err != nil || r != here {
		t.Error(r, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}
