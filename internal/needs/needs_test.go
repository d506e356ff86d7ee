package needs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/internal/needs"
)

// A recorder keeps how a test ends.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Skipf(format string, args ...any) {
	r.said = "skipped: " + fmt.Sprintf(format, args...)
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.said = "failed: " + fmt.Sprintf(format, args...)
}

// What is missing is named with the way to get it.
func TestWords(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := &recorder{TB: t}
	needs.Program(r, "lld-link")
	if want := "skipped: lld-link is not installed: run make setup, or apt-get install lld"; r.said != want {
		t.Errorf("%q, want %q", r.said, want)
	}
	needs.SkipWithoutCorpus(r, errors.New("no such folder"))
	if !strings.Contains(r.said, "no such folder") || !strings.Contains(r.said, "HEAPDRIFT_CORPUS") {
		t.Error(r.said)
	}
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "curl")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := needs.Program(t, "curl"); got != path {
		t.Errorf("%q, want %q", got, path)
	}
}

// No test skips for a missing program in words of its own, and each program that one asks for is in the list.
func TestNobodyElseSaysIt(t *testing.T) {
	own := regexp.MustCompile(`Skipf?\(.*(not installed|not here)`)
	asked := regexp.MustCompile(`needs\.(?:Program|SkipWithout)\(\w+, "([^"]+)"`)
	found := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(path, "internal/needs/") ||
			strings.Contains(path, "tools/testsummary/") { // prints what tests say, and has no part in this module
			return err
		}
		text, err := os.ReadFile(path)
		if m := own.Find(text); m != nil {
			t.Errorf("%s says %s: that is what package needs says", path, m)
		}
		for _, m := range asked.FindAllSubmatch(text, -1) {
			found++
			r := &recorder{TB: t}
			if needs.SkipWithout(r, string(m[1])); !strings.HasPrefix(r.said, "skipped") {
				t.Errorf("%s: %s", path, r.said)
			}
		}
		return err
	})
	if err != nil || found < 5 {
		t.Errorf("%v; %d questions for programs found", err, found)
	}
}

// setup.sh and this package read one list: what the script would install is what the words name.
func TestSetup(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the script needs bash")
	}
	script, err := filepath.Abs("../../tools/setup/setup.sh")
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	for _, name := range []string{"dirname", "sort"} { // all that the script uses, and none of the list
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip("the script needs " + name)
		}
		if err := os.Symlink(path, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), bash, script, "--list")
	cmd.Env = []string{"PATH=" + tools, "SETUP_POSTGRES=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	want := "bsdutils chromium-headless-shell clang curl fonts-liberation gcc-mingw-w64-x86-64 lld postgresql redis-server wine " +
		"wine64 xz-utils\n"
	if err != nil || string(out) != want {
		t.Errorf("%v, %q; want %q", err, out, want)
	}
	// A program that is there is not installed again.
	if err := os.WriteFile(filepath.Join(tools, "clang"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd = exec.CommandContext(t.Context(), bash, script, "--list")
	cmd.Env = []string{"PATH=" + tools, "SETUP_POSTGRES=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != strings.Replace(want, " clang", "", 1) {
		t.Errorf("with clang: %v, %q", err, out)
	}
}
