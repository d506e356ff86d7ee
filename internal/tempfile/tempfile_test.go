package tempfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/tempfile"
)

// A file can be written and read while it is open, and no folder has it once it is closed.
func TestNew(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	f, err := tempfile.New("heapdrift-test-")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("held"), 3); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, 3); err != nil || string(b) != "held" {
		t.Fatalf("read %q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The error names the folder: somebody has to make room there or set another.
func TestNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	_, err := tempfile.New("heapdrift-test-")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want that %s does not exist", err, dir)
	}
}
