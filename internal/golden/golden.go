// Package golden compares what a test made with a golden file that is kept beside the test. In come a file name and the
// text; a difference fails the test. With the flag -update, the text replaces the file. Samples hands out what comments
// show, so that a test can read it.
package golden

import (
	"flag"
	"iter"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files with what the tests make")

// Check fails the test when got differs from the file; with -update it rewrites the file instead.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// Inputs yields the files that match the pattern, by name; none is a failure.
func Inputs(t testing.TB, pattern string) iter.Seq2[string, []byte] {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no inputs match %s: %v", pattern, err)
	}
	return func(yield func(string, []byte) bool) {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(file, content) {
				return
			}
		}
	}
}
