package blob_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"heapdrift/internal/blob"
)

// files lists everything below a folder, files with their mode.
func files(t *testing.T, dir string) []string {
	t.Helper()
	found := []string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, _ := filepath.Rel(dir, file)
		if info, err := d.Info(); err == nil && !d.IsDir() {
			name = fmt.Sprintf("%s %v", name, info.Mode())
		}
		found = append(found, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// Only the account can read the files. Directories are removed with their last blob, and temporary files with their
// Put.
func TestDiskLayout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "blobs")
	s := openDisk(t, dir)
	wantFiles(t, dir, ".incoming")
	put(t, s, "uploads/x/1", []byte("1"))
	put(t, s, "uploads/x/2", []byte("2"))
	if _, err := s.Put(t.Context(), "uploads/y/1", iotest.ErrReader(io.ErrUnexpectedEOF)); err == nil {
		t.Error("no error")
	}
	wantFiles(t, dir, ".incoming", "uploads", "uploads/x", "uploads/x/1 -rw-------", "uploads/x/2 -rw-------")
	for _, key := range []string{"uploads/x/1", "uploads/x/2"} {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	wantFiles(t, dir, ".incoming")
	put(t, s, "incoming/1", nil)
	if err := s.Rename(t.Context(), "incoming/1", "a/1"); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, ".incoming", "a", "a/1 -rw-------")
}

// Temporary files of a crash are deleted at the next start; a file that another process is writing is not.
func TestDiskSweepsTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	openDisk(t, dir)
	old, young := filepath.Join(dir, ".incoming", "old"), filepath.Join(dir, ".incoming", "young")
	for _, file := range []string{old, young} {
		if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, openDisk(t, dir), "")
	wantFiles(t, dir, ".incoming", ".incoming/young -rw-------")
}

// Foreign files in the folder are neither listed nor followed.
func TestDiskForeignFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	s := openDisk(t, dir)
	put(t, s, "mine", []byte("mine"))
	err := errors.Join(
		os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "link")),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "file-link")),
		os.Mkdir(filepath.Join(dir, "lost+found"), 0o700),
		os.WriteFile(filepath.Join(dir, "lost+found", "x"), nil, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	wantKeys(t, s, "", "mine")
	for _, key := range []string{"link/secret", "file-link"} {
		if _, err := s.Open(t.Context(), key); err == nil {
			t.Errorf("%s leads out of the folder", key)
		}
	}
	if _, err := s.Put(t.Context(), "link/new", strings.NewReader("x")); err == nil {
		t.Error("stored out of the folder")
	}
	wantFiles(t, outside, "secret -rw-------")
}

// Deleting the last blob removes its directory, perhaps just when another blob is put there.
func TestDiskPruneRace(t *testing.T) {
	s := openDisk(t, t.TempDir())
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			key := fmt.Sprintf("a/b/%d", i)
			for range 40 {
				if _, err := s.Put(t.Context(), key, strings.NewReader("x")); err != nil {
					t.Error(err)
				}
				if _, err := s.Stat(t.Context(), key); err != nil {
					t.Error(err)
				}
				if err := s.Delete(t.Context(), key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	wantKeys(t, s, "")
}

// A key cannot go on below a blob: there is a file in its way.
func TestDiskBlobInTheWay(t *testing.T) {
	s := openDisk(t, t.TempDir())
	put(t, s, "a", []byte("a"))
	put(t, s, "b/c", []byte("b"))
	for _, key := range []string{"a/b", "b"} {
		if _, err := s.Put(t.Context(), key, strings.NewReader("x")); err == nil ||
			!strings.Contains(err.Error(), "put "+key) {
			t.Errorf("Put %s: %v", key, err)
		}
		if err := s.Rename(t.Context(), "a", key); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Rename to %s: %v", key, err)
		}
	}
	wantKeys(t, s, "", "a", "b/c")
}
