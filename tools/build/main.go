// Command build writes heapdrift for every platform of a release: the full program, and the client in the folder that a
// server gives away (package downloads), and the sums of the files. "make build" runs it at the root of the repository:
//
//	go run ./tools/build [-o dist] [-platforms linux/amd64,windows/amd64] [-clients windows/amd64,windows/386]
//	go run ./tools/build -stamp        prints the flags of the linker that name the commit, for builds without git
//
// The same commit and the same Go give the same bytes, wherever and whenever they are built.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heapdrift/internal/build"
	"heapdrift/internal/downloads"
)

// sumsName is the file of the sums, in the format of sha256sum.
const sumsName = "SHA256SUMS"

func main() {
	out := flag.String("o", "dist", "the folder to write to; what an earlier build left there goes")
	platforms := flag.String("platforms", strings.Join(build.Platforms, ","),
		"what to build for, as GOOS/GOARCH with commas between")
	clients := flag.String("clients", strings.Join(build.Clients, ","), "what to build the client for; empty for nothing")
	stamp := flag.Bool("stamp", false, "print the flags of the linker that name this commit, and build nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, ".", *out, split(*platforms), split(*clients), *stamp, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// split cuts a list of platforms; "" has none.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func run(ctx context.Context, root, out string, platforms, clients []string, stampOnly bool, w io.Writer) error {
	info, err := describe(ctx, root)
	if err != nil {
		return err
	}
	if stampOnly {
		fmt.Fprintln(w, info.Stamp())
		return nil
	}
	return release(ctx, root, out, &info, platforms, clients, w)
}

// describe asks git what is checked out at root.
func describe(ctx context.Context, root string) (build.Info, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		var stderr strings.Builder
		cmd.Dir, cmd.Stderr = root, &stderr
		answer, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
		}
		return strings.TrimSpace(string(answer)), nil
	}
	var i build.Info
	head, err := git("show", "--no-patch", "--format=%H %ct", "HEAD")
	if err != nil {
		return i, err
	}
	var seconds int64
	if _, err := fmt.Sscanf(head, "%s %d", &i.Commit, &seconds); err != nil {
		return i, fmt.Errorf("git show says %q: %w", head, err)
	}
	i.Date = time.Unix(seconds, 0).UTC().Format(time.RFC3339)
	// As the toolchain does it: a file that git does not know may be part of the build too.
	changes, err := git("status", "--porcelain")
	if err != nil {
		return i, err
	}
	i.Modified = changes != ""
	// It fails where no tag comes before the commit, which is no mistake.
	tag, _ := git("describe", "--tags", "--long", "--match", "v[0-9]*")
	i.Version = build.Version(tag, i.Commit, i.Modified)
	return i, nil
}

// Flags of every build, of that in the Dockerfile too. The toolchain's own record of the commit stays out: whether it
// is made depends on settings of the machine, and bytes must not.
var flags = []string{"-trimpath", "-buildvcs=false"}

// clientTags make the client, which talks HTTP/1.1 to its server: HTTP/2 would be 0.4 MB of it.
const clientTags = "client,nethttpomithttp2"

// strip are the linker's flags beside the stamp: without symbols and DWARF, of which stack traces need neither.
const strip = "-s -w"

// settings take the place of what the machine may have set otherwise, in the environment or by "go env -w".
var settings = []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0",
	"GOEXPERIMENT=", "GOFIPS140=off"}

// release builds for all platforms and writes the sums.
func release(ctx context.Context, root, out string, info *build.Info, platforms, clients []string, w io.Writer) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := tidy(out); err != nil {
		return err
	}
	var targets []target
	for _, p := range platforms {
		targets = append(targets, target{platform: p, name: fileName})
	}
	for _, p := range clients {
		targets = append(targets, target{platform: p, name: clientName, tags: []string{"-tags", clientTags}})
	}
	var sums []string
	for _, t := range targets {
		sum, err := t.build(ctx, root, out, info, w)
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	if len(clients) > 0 {
		path := filepath.Join(out, downloads.Folder, downloads.VersionFile)
		if err := os.WriteFile(path, []byte(info.Version+"\n"), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, sumsName), []byte(strings.Join(sums, "")), 0o644)
}

// A target is a program to build. Its name is a path with slashes below the folder of the release.
type target struct {
	platform string
	name     func(version, system, architecture string) string
	tags     []string
}

// build builds a program and returns its line of the sums.
func (t *target) build(ctx context.Context, root, out string, info *build.Info, w io.Writer) (string, error) {
	system, architecture, ok := strings.Cut(t.platform, "/")
	if !ok {
		return "", fmt.Errorf("%q is no platform; want one such as linux/amd64", t.platform)
	}
	name := t.name(info.Version, system, architecture)
	path := filepath.Join(out, filepath.FromSlash(name))
	args := slices.Concat([]string{"build"}, flags, t.tags,
		[]string{"-ldflags", strip + " " + info.Stamp(), "-o", path, "./cmd/heapdrift"})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = slices.Concat(os.Environ(), settings, []string{"GOOS=" + system, "GOARCH=" + architecture})
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", t.platform, err, said)
	}
	sum, size, err := sumOf(path)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(w, "%s  %.1f MB\n", name, float64(size)/(1<<20))
	return sum + "  " + name + "\n", nil
}

// clientName is the client of a platform where a server looks for it.
func clientName(_, system, architecture string) string {
	p := downloads.Platform{System: system, Architecture: architecture}
	return downloads.Folder + "/" + p.String() + "/" + p.Program()
}

// fileName is that of the program of a platform.
func fileName(version, system, architecture string) string {
	name := strings.Join([]string{"heapdrift", version, system, architecture}, "_")
	if system == "windows" {
		name += ".exe"
	}
	return name
}

// tidy makes the folder, and deletes what an earlier build wrote: the sums are those of all files there.
func tidy(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(out, "heapdrift_*"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(out, downloads.Folder)); err != nil {
		return err
	}
	for _, path := range append(old, filepath.Join(out, sumsName)) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func sumOf(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), size, err
}
