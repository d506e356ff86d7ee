package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lastRelease is the commit of the last release: the newest tag, else the one that tools/lastrelease names.
func lastRelease(ctx context.Context) (string, error) {
	if tag, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--abbrev=0", "HEAD").Output(); err == nil {
		return strings.TrimSpace(string(tag)), nil
	}
	text, err := os.ReadFile("tools/lastrelease")
	return strings.TrimSpace(string(text)), err
}

// buildRelease builds heapdrift as it was at a commit, into dir.
func buildRelease(ctx context.Context, commit, dir string) (binary string, err error) {
	archive, err := exec.CommandContext(ctx, "git", "archive", commit).Output()
	if err != nil {
		return "", fmt.Errorf("commit %s is not in this clone: %w", commit, err)
	}
	unpack := exec.CommandContext(ctx, "tar", "x", "-C", dir)
	unpack.Stdin = bytes.NewReader(archive)
	if out, err := unpack.CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w\n%s", commit, err, out)
	}
	binary = filepath.Join(dir, "heapdrift-last")
	// Without the paths of dir, which is another each time, what was compiled once is found in go's cache.
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-w", "-o", binary, "./cmd/heapdrift")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", commit, err, out)
	}
	return binary, nil
}
