package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPackagesOf(t *testing.T) {
	got := packagesOf([]string{
		"web/pages/run/run.go", "web/pages/run/run_templ.go", "web/pages/run/run.templ", "internal/leaks/gate.go",
		"internal/leaks/impact.go", "internal/store/gate_test.go", "docs/architecture.md",
		"ingest/etl/testdata/made.go", "worker/worker.go",
	})
	if want := []string{"internal/leaks", "web/pages/run", "worker"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where no code changed there is nothing to try; a commit that is not there is no change.
func TestDiffOfNothing(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if text, err := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	var out strings.Builder
	d := diff{dir: dir, base: "HEAD", only: regexp.MustCompile("")}
	if status, err := d.all(t.Context(), &out); status != 0 || err != nil ||
		!strings.Contains(out.String(), "no code changed since HEAD") {
		t.Errorf("%d, %v: %s", status, err, out.String())
	}
	d.base = "nothing"
	if status, err := d.all(t.Context(), &out); status != 2 || err == nil {
		t.Errorf("of a commit that is not there: %d, %v", status, err)
	}
}
