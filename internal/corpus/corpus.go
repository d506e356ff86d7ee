// Package corpus finds the real evidence that tests read. In comes the path of a sample, out goes its place on this
// machine. The corpus lies outside the repository, because its samples have owners and licences of their own; a test
// that needs an absent sample is skipped.
package corpus

import (
	"os"
	"path/filepath"
	"testing"

	"heapdrift/internal/needs"
)

// Path returns the path of a file or folder of the corpus, or skips the test where it is absent. The corpus is at
// HEAPDRIFT_CORPUS, by default shared/corpus beside the repository.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	root := os.Getenv("HEAPDRIFT_CORPUS")
	if root == "" {
		root = filepath.Join(repository(t), "..", "shared", "corpus")
	}
	path := filepath.Join(append([]string{root}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		needs.SkipWithoutCorpus(t, err)
	}
	return path
}

// repository is the folder that holds go.mod.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}
