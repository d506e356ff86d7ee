package main

import (
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// A short storm; make chaos has longer ones.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers, workers and what they need, and takes a minute")
	}
	if runtime.GOOS != "linux" {
		t.Skip("processes are frozen and killed as Linux does it")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	t.Chdir("../..")
	if err := chaos(t.Context(), options{storm: 15 * time.Second, seed: 3, runs: 8}); err != nil {
		t.Error(err)
	}
}
