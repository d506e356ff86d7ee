package blob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/blob"
)

// A folder that is renamed, replaced or moved back under the store is noticed; the store itself goes on.
func TestFolderMoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	s := must[blob.Store](t)(blob.Open(t.Context(), "file://"+dir))
	step := func(what string, moved bool, do ...error) {
		t.Helper()
		for _, err := range do {
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := blob.CheckFolder(s); (err != nil) != moved || moved && !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", what, err)
		}
	}
	step("as it was opened", false)
	put(t, s, "a/1", []byte("1"))
	step("renamed", true, os.Rename(dir, dir+"-old"))
	put(t, s, "a/2", []byte("2"))
	step("replaced", true, os.Mkdir(dir, 0o700))
	step("moved back", false, os.Remove(dir), os.Rename(dir+"-old", dir))
	for _, key := range []string{"a/1", "a/2"} {
		if _, err := s.Stat(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
}
