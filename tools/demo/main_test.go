package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The program carries what the generator writes, and an archive with other content is written anew.
func TestFresh(t *testing.T) {
	carried, err := os.ReadFile(filepath.Join("../..", archive))
	if err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string][]byte{"the archive": carried, "a cut one": carried[:1000], "none": nil} {
		path := filepath.Join(t.TempDir(), "archive")
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if stays := bytes.Equal(before, after); stays != (name == "the archive") {
			t.Errorf("%s stays as it is: %t; run make generate", name, stays)
		}
	}
}
