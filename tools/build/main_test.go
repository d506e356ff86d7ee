package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"heapdrift/internal/build"
	"heapdrift/internal/downloads"
)

// program is a small program with the names of ours, because the test is about how it is built.
var program = map[string]string{
	"go.mod":                 "module heapdrift\n\ngo 1.26.0\n",
	".gitignore":             "/dist/\n",
	"internal/build/info.go": "package build\n\nvar version, commit, date, modified string\n\nfunc All() string { return version + \"|\" + commit + \"|\" + date + \"|\" + modified }\n",
	"cmd/heapdrift/main.go":  "package main\n\nimport \"heapdrift/internal/build\"\n\nfunc main() { println(build.All()) }\n",
}

// clone makes a repository of the program with one commit, the same each time.
func clone(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range program {
		write(t, filepath.Join(root, name), text)
	}
	git(t, root, "init", "-q")
	git(t, root, "add", "-A")
	commit(t, root, "first")
	return root
}

func commit(t *testing.T, root, subject string) {
	t.Helper()
	git(t, root, "commit", "-q", "--allow-empty", "-m", subject)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, root string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=test",
		"GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test",
		"GIT_COMMITTER_EMAIL=test@example.com", "GIT_AUTHOR_DATE=2026-11-25T03:40:00+01:00",
		"GIT_COMMITTER_DATE=2026-11-25T03:40:00+01:00")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestDescribe(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	for _, tt := range []struct {
		name     string
		do       func(t *testing.T, root string)
		want     string // COMMIT stands for the first 12 digits of the commit
		modified bool
	}{
		{"no tag", func(*testing.T, string) {}, "0.1.0-dev+COMMIT", false},
		{"a tag", func(t *testing.T, root string) { git(t, root, "tag", "v0.1.0") }, "0.1.0", false},
		{"a tag with a message", func(t *testing.T, root string) { git(t, root, "tag", "-m", "release", "v0.1.0") },
			"0.1.0", false},
		{"behind a tag", func(t *testing.T, root string) { git(t, root, "tag", "v0.1.0"); commit(t, root, "second") },
			"0.1.1-dev+COMMIT", false},
		{"another tag", func(t *testing.T, root string) { git(t, root, "tag", "demo") }, "0.1.0-dev+COMMIT", false},
		{"a change", func(t *testing.T, root string) { write(t, filepath.Join(root, "go.mod"), "module heapdrift\n") },
			"0.1.0-dev+COMMIT.modified", true},
		{"a new file", func(t *testing.T, root string) { write(t, filepath.Join(root, "new.go"), "package x\n") },
			"0.1.0-dev+COMMIT.modified", true},
		{"an ignored file", func(t *testing.T, root string) { write(t, filepath.Join(root, "dist/old"), "") },
			"0.1.0-dev+COMMIT", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := clone(t)
			tt.do(t, root)
			got, err := describe(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			head := git(t, root, "rev-parse", "HEAD")
			want := build.Info{Version: strings.ReplaceAll(tt.want, "COMMIT", head[:12]), Commit: head, Modified: tt.modified,
				Date: "2026-11-25T02:40:00Z"}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	t.Run("no repository", func(t *testing.T) {
		if _, err := describe(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "git show") {
			t.Errorf("error %v", err)
		}
	})
}

// Two clones of a commit give the same bytes, whatever the environment of the machine; and the program says what it was
// built from.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	here := runtime.GOOS + "/" + runtime.GOARCH
	releaseOf := func(t *testing.T, root string) string {
		t.Helper()
		git(t, root, "tag", "v0.1.0")
		dist := filepath.Join(root, "dist")
		write(t, filepath.Join(dist, "heapdrift_0.0.9_linux_amd64"), "of the release before")
		var said bytes.Buffer
		if err := run(t.Context(), root, dist, []string{here, "windows/amd64"}, []string{here}, false, &said); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"heapdrift_0.1.0_" + strings.ReplaceAll(here, "/", "_"),
			"heapdrift_0.1.0_windows_amd64.exe"} {
			if !strings.Contains(said.String(), name) {
				t.Errorf("said %q, nothing of %s", &said, name)
			}
		}
		return dist
	}
	first := releaseOf(t, clone(t))
	t.Setenv("GOFLAGS", "-buildvcs=auto")
	t.Setenv("GOAMD64", "v2")
	t.Setenv("CGO_ENABLED", "1")
	second := releaseOf(t, clone(t))
	sums := read(t, filepath.Join(first, sumsName))
	if again := read(t, filepath.Join(second, sumsName)); again != sums {
		t.Errorf("sums differ:\n%s\n%s", sums, again)
	}
	check := exec.Command("sha256sum", "--check", "--strict", sumsName)
	check.Dir = first
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	files, err := os.ReadDir(first)
	if err != nil || len(files) != 4 {
		t.Errorf("%d files (%v), want two programs, the clients and the sums", len(files), err)
	}
	library := downloads.Library{Dir: filepath.Join(first, downloads.Folder), Version: "0.1.0"}
	if list, missing, err := library.List(t.Context()); err != nil || missing != "" || len(list) != 1 ||
		!strings.Contains(sums, list[0].SHA256) {
		t.Errorf("a server of the release gives away %+v: %s%v", list, missing, err)
	}
	out, err := exec.Command(filepath.Join(first, files[2].Name())).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	head := git(t, filepath.Dir(first), "rev-parse", "HEAD")
	if want := "0.1.0|" + head + "|2026-11-25T02:40:00Z|false\n"; string(out) != want {
		t.Errorf("the program says %q, want %q", out, want)
	}
}

func TestMistakes(t *testing.T) {
	root := clone(t)
	for platform, want := range map[string]string{"linux": "is no platform",
		"plan9000/amd64": "plan9000/amd64: exit status"} {
		if err := run(context.Background(), root, t.TempDir(), []string{platform}, nil, false, &bytes.Buffer{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", platform, err, want)
		}
	}
}

// The image is built without git, so its build names the flags itself: the flags are the same.
func TestDockerfile(t *testing.T) {
	start, end := "CGO_ENABLED=0 go build "+strings.Join(flags, " "), ` -ldflags="`+strip+` $STAMP" `
	text := strings.ReplaceAll(read(t, "../../Dockerfile"), "\\\n        ", "")
	for want, times := range map[string]int{start + end: 1, start + " -tags " + clientTags + end: 2} {
		if n := strings.Count(text, want); n != times {
			t.Errorf("Dockerfile builds %d times with %q, want %d", n, want, times)
		}
	}
	var stamp bytes.Buffer
	root := clone(t)
	git(t, root, "tag", "v0.1.0")
	if err := run(t.Context(), root, "", nil, nil, true, &stamp); err != nil ||
		!strings.HasPrefix(stamp.String(), "-X heapdrift/internal/build.version=0.1.0 -X ") {
		t.Errorf("stamp %q: %v", &stamp, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
