package testdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/testdb"
)

// The directory of a killed process is deleted by the next process; that of a running process is not.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	conn := connect(t, testdb.New(t))
	mine := filepath.Dir(query[string](t, conn, `show data_directory`))
	output, left, err := child(t, "is killed")
	if err == nil || left == "" {
		t.Fatalf("%v:\n%s", err, output)
	}
	if _, err := os.Stat(left); err != nil {
		t.Fatalf("nothing to sweep: %v", err)
	}
	await.Until(t, "the end of the killed process's server", func() bool {
		_, err := os.Stat(filepath.Join(left, "postgres", "data", "postmaster.pid"))
		return err != nil
	})
	// A directory whose process seems to be gone, but which is locked: it is this process's own under another name.
	locked := filepath.Join(filepath.Dir(left), strings.Replace(filepath.Base(left), "testdb-", "testdb-9", 1))
	if err := errors.Join(os.Mkdir(locked, 0o755), os.Symlink(mine, filepath.Join(locked, "postgres"))); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(locked) }()

	if output, _, err := child(t, "passes"); err != nil {
		t.Fatalf("%v:\n%s", err, output)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s stays: %v", left, err)
	}
	for _, dir := range []string{mine, locked} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("what is in use is gone: %v", err)
		}
	}
}
