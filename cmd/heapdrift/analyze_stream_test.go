//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A stream is read like a file.
func TestAnalyzeStreams(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := writeSample(t, "one.txt", 16)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, _, wantCode := cli(t, "analyze", "--format", "csv", path)
	var out, errOut bytes.Buffer
	code := run(t.Context(), []string{"analyze", "--format", "csv", "-"},
		streams{in: bytes.NewReader(content), out: &out, err: &errOut})
	if code != wantCode || out.String() != want || want == "" {
		t.Errorf("standard input: %d, want %d: %s%s", code, wantCode, out.String(), errOut.String())
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(pipe, content, 0o600) }()
	if got, stderr, code := cli(t, "analyze", "--format", "csv", pipe); code != wantCode || got != want {
		t.Errorf("pipe: %d, want %d: %s%s", code, wantCode, got, stderr)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A stream that never comes ends with the command.
func TestAnalyzeStreamsThatNeverCome(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	silent, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	for _, arg := range []string{pipe, "-"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if code := run(ctx, []string{"analyze", arg},
			streams{in: silent, out: io.Discard, err: io.Discard}); code != exitInput {
			t.Errorf("%s: %d", arg, code)
		}
	}
	if f, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // releases a waiting reader
		_ = f.Close()
	}
}

func TestAnalyzeWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, code := cli(t, "analyze", dir); code != exitInput || !strings.Contains(stderr, "this is a folder") ||
		!strings.Contains(stderr, dir+"/*") {
		t.Errorf("folder: %d %s", code, stderr)
	}
	if _, stderr, code := cli(t, "analyze", "-", "-"); code != exitUsage || !strings.Contains(stderr, "twice") {
		t.Errorf("twice: %d %s", code, stderr)
	}
	if _, stderr, code := cli(t, "analyze", "-"); code != exitInput || !strings.Contains(stderr, "empty") {
		t.Errorf("nothing: %d %s", code, stderr)
	}
	broken := fmt.Errorf("the pipe broke")
	if code := run(t.Context(), []string{"analyze", "-"},
		streams{in: io.MultiReader(strings.NewReader("x"), failingWriter{broken}), out: io.Discard,
			err: io.Discard}); code != exitInput {
		t.Errorf("a stream that breaks: %d", code)
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Read([]byte) (int, error) { return 0, f.err }
