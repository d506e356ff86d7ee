package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// efficacy is how many of a hundred mutations of changed lines the tests must find: some change nothing that could be
// seen.
const efficacy = 75

// A diff mutates the lines that changed since a commit with gremlins, which makes mutations of its own.
type diff struct {
	dir  string // of the module
	base string // the commit
	only *regexp.Regexp
}

// all tries every package that changed, and returns the exit status.
func (d *diff) all(ctx context.Context, out io.Writer) (status int, err error) {
	root, err := filepath.Abs(d.dir)
	if err != nil {
		return 2, err
	}
	changed, err := exec.CommandContext(ctx, "git", "-C", root, "diff", "--name-only", "--diff-filter=d",
		"--relative", d.base).Output()
	if err != nil {
		return 2, fmt.Errorf("git diff %s: %w", d.base, err)
	}
	packages := slices.DeleteFunc(packagesOf(strings.Fields(string(changed))),
		func(dir string) bool { return !d.only.MatchString(dir) })
	if len(packages) == 0 {
		fmt.Fprintf(out, "no code changed since %s\n", d.base)
		return 0, nil
	}
	for _, dir := range packages {
		fmt.Fprintf(out, "== %s\n", dir)
		if !d.in(ctx, root, dir, out) {
			status = 1
		}
		if ctx.Err() != nil {
			return 2, context.Cause(ctx)
		}
	}
	return status, nil
}

// in tries one package and reports whether its tests find enough.
func (d *diff) in(ctx context.Context, root, dir string, out io.Writer) bool {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+filepath.Join(root, "tools", "gremlins", "go.mod"),
		"gremlins", "unleash",
		"--diff", d.base, "--workers", "1", "--timeout-coefficient", "10", "--threshold-efficacy", fmt.Sprint(efficacy),
		filepath.Join(root, dir))
	cmd.Dir = filepath.Join(root, dir)
	// Names in its diff have to be as it has those of the files: from the package on.
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.relative", "GIT_CONFIG_VALUE_0=true")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	for lines := bufio.NewScanner(&said); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(strings.TrimSpace(line), "SKIPPED") &&
			!strings.HasPrefix(strings.TrimSpace(line), "KILLED") {
			fmt.Fprintln(out, line)
		}
	}
	if err != nil {
		fmt.Fprintf(out, "%s: %v\n", dir, err)
	}
	return err == nil
}

// packagesOf are the folders of files that can be mutated: Go that somebody wrote, and no tests.
func packagesOf(files []string) []string {
	var list []string
	for _, file := range files {
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "_templ.go") &&
			!strings.Contains("/"+file, "/testdata/") {
			list = append(list, path.Dir(file))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
