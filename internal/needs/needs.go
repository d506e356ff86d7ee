// Package needs says what a test needs beside Go and cannot find, and how to get it. The words stand here alone, and so
// does the list of programs, which tools/setup/setup.sh installs.
package needs

import (
	_ "embed"
	"os/exec"
	"strings"
	"testing"
)

//go:embed programs.txt
var programs string

// Program returns the path of a program of the list, and skips the test where it is not installed.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		SkipWithout(t, name)
	}
	return path
}

// SkipWithout skips a test that cannot find a program of the list.
func SkipWithout(t testing.TB, name string) {
	t.Helper()
	packages := packagesOf(name)
	if packages == "" {
		t.Fatalf("%s is not in internal/needs/programs.txt: add it with the packages that bring it", name)
	}
	t.Skipf("%s is not installed: run make setup, or apt-get install %s", name, packages)
}

// SkipWithoutCorpus skips a test of real evidence, which the repository does not have.
func SkipWithoutCorpus(t testing.TB, err error) {
	t.Helper()
	t.Skipf("no corpus (%v): set HEAPDRIFT_CORPUS to its folder if you have one; CONTRIBUTING.md says what it is", err)
}

// packagesOf are the packages that bring a program; "" for one that is not in the list.
func packagesOf(name string) string {
	for line := range strings.Lines(programs) {
		if program, packages, ok := strings.Cut(line, " "); ok && program == name {
			return strings.TrimSpace(packages)
		}
	}
	return ""
}
