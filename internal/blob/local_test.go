package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
)

// memoryBlob is a blob in memory.
type memoryBlob struct {
	*bytes.Reader
	closed bool
}

func (s *memoryBlob) Size() int64  { return s.Reader.Size() }
func (s *memoryBlob) Close() error { s.closed = true; return nil }

func TestLocalCopies(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	content := bytes.Repeat([]byte("0123456789"), 2_000_000)
	for _, size := range []int{0, 1, len(content)} {
		blob := &memoryBlob{Reader: bytes.NewReader(content[:size])}
		r, err := Local(t.Context(), blob)
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
	blob := &memoryBlob{Reader: bytes.NewReader(content)}
	if _, err := Local(ctx, blob); !errors.Is(err, context.Canceled) || !blob.closed {
		t.Errorf("%v, closed %v", err, blob.closed)
	}
	on, err := Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := on.Put(t.Context(), "a", bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	here, err := on.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = here.Close() }()
	if r, err := Local(t.Context(), here); err != nil || r != here || r.Descriptor() == nil {
		t.Error(r, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}
