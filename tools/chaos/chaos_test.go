package main

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"heapdrift/internal/needs"
)

// storms skips the test where no storm is possible, and changes to the root of the repository.
func storms(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers, workers and what they need, and takes a minute")
	}
	if runtime.GOOS != "linux" {
		t.Skip("processes are frozen and killed as Linux does it")
	}
	needs.Program(t, "redis-server")
	t.Chdir("../..")
}

// These are short storms; make chaos runs longer ones, which are stricter about answers during outages.
func TestChaos(t *testing.T) {
	storms(t)
	c, err := newCalm(t.Context(), options{seed: 3, runs: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() { // logs say why
			_ = c.delete()
		}
	})
	t.Run("this version", func(t *testing.T) {
		if err := c.endure(t.Context(), options{storm: 15 * time.Second, seed: 3, runs: 8, lenient: true}); err != nil {
			t.Error(err)
		}
	})
	// The last release works beside this version on one database, which this version has migrated, until the release is
	// replaced.
	t.Run("beside the last release", func(t *testing.T) {
		commit, err := lastRelease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
			t.Skipf("the last release, %s, is not in this clone", commit)
		}
		old, err := buildRelease(t.Context(), commit, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.endure(t.Context(), options{storm: 10 * time.Second, seed: 4, runs: 8, old: old}); err != nil {
			t.Error(err)
		}
	})
}
