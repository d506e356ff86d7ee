package deploycheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// Every file that the binary is built from reaches the builder, and nothing bulky or private does.
func TestDockerignore(t *testing.T) {
	patterns, err := ignorefile.ReadAll(strings.NewReader(read(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	ignored := func(name string) bool {
		t.Helper()
		ignored, err := matcher.MatchesOrParentMatches(name)
		if err != nil {
			t.Fatal(err)
		}
		return ignored
	}
	needed := append(sources(t), "go.mod", "go.sum", "LICENSE")
	for _, name := range needed {
		if ignored(name) {
			t.Errorf("%s is needed in the image and ignored", name)
		}
	}
	for _, name := range []string{
		".git/HEAD", ".env", "bin/heapdrift", "artifacts/run.png", "tools/lint/go.mod", "docs/adr/0001-record-decisions.md",
		"docker-compose.yml", "web/testdata/axe.min.js", "ingest/umdh/testdata/raw.txt", "ingest/umdh/reader_test.go",
	} {
		if !ignored(name) {
			t.Errorf("%s is sent to the builder", name)
		}
	}
}

// sources lists the files of ours that go into the binary in an image, relative to the repository.
func sources(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=Dir,Standard,GoFiles,EmbedFiles,Module",
		"./cmd/heapdrift")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &stderr
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var files []string
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir                 string
			Standard            bool
			GoFiles, EmbedFiles []string
			Module              *struct{ Main bool }
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			files = append(files, relative(t, filepath.Join(p.Dir, file)))
		}
	}
	if !slices.Contains(files, "cmd/heapdrift/main.go") {
		t.Fatalf("cmd/heapdrift/main.go is not among the %d files that go list knows", len(files))
	}
	return files
}

func relative(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(abs, name)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}
