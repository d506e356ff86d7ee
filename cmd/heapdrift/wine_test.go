package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/downloads"
	"heapdrift/internal/testwine"
)

// maxClient is how large the client for Windows may be as a release builds it, in bytes.
const maxClient = 15_000_000

// releaseTags are those of tools/build.
const releaseTags = "client,nethttpomithttp2"

// A windowsClient is the client under Wine.
type windowsClient struct {
	*testing.T
	wine    *testwine.Wine
	program string
	dir     string
}

// run runs the client with the arguments that a shell of Windows passes on.
func (w *windowsClient) run(args ...string) (stdout, stderr string, code int) {
	w.Helper()
	return w.finish(w.wine.Command(w.Context(), w.dir, w.program, args...))
}

// cmd runs lines of a batch file. ERRORLEVEL is what the last of them leaves.
func (w *windowsClient) cmd(lines ...string) (stdout, stderr string, code int) {
	w.Helper()
	text := strings.Join(append([]string{"@echo off"}, lines...), "\r\n") + "\r\nexit %ERRORLEVEL%\r\n"
	if err := os.WriteFile(filepath.Join(w.dir, "job.cmd"), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return w.finish(w.wine.Command(w.Context(), w.dir, "cmd", "/c", "job.cmd"))
}

func (w *windowsClient) finish(cmd *exec.Cmd) (stdout, stderr string, code int) {
	w.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		w.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// write puts the n-th snapshot of a series into a file below the folder.
func (w *windowsClient) write(path string, n int) {
	w.Helper()
	text, err := os.ReadFile(writeSample(w.T, "sample.txt", n))
	if err != nil {
		w.Fatal(err)
	}
	path = filepath.Join(w.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		w.Fatal(err)
	}
}

// The client does on Windows what its commands promise, called as cmd.exe calls it.
func TestClientOnWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the client for Windows and sets Wine up")
	}
	wine := testwine.Start(t)
	program := testwine.Build(t, ".", "-tags", releaseTags, "-trimpath", "-ldflags=-s -w")
	if info, err := os.Stat(program); err != nil || info.Size() > maxClient {
		t.Errorf("the client has %d bytes, at most %d are allowed (%v)", info.Size(), maxClient, err)
	}
	w := &windowsClient{t, wine, program, t.TempDir()}
	copyProgram(t, program, filepath.Join(w.dir, "heapdrift.exe"))
	for i := 1; i <= 3; i++ {
		name := "snap" + string(rune('0'+i)) + ".txt"
		w.write("my logs/"+name, 16*i)
		w.write("Bücher 日本/"+name, 16*i)
		w.write(strings.Repeat(strings.Repeat("d", 60)+"/", 5)+name, 16*i)
	}
	for name, test := range map[string]struct {
		line string // of a batch file; "" where args are passed
		args []string
		code int
		says string
	}{
		"pattern":         {`heapdrift.exe analyze "my logs\snap*.txt"`, nil, exitOK, "over 3 snapshots"},
		"no match":        {`heapdrift.exe analyze "my logs\trace*.etl"`, nil, exitInput, `no file matches`},
		"folder":          {`heapdrift.exe analyze "my logs"`, nil, exitInput, `heapdrift analyze "my logs\*"`},
		"stdin":           {`type "my logs\snap1.txt" | heapdrift.exe analyze -`, nil, exitInconclusive, "in one snapshot"},
		"stdin redirect":  {`heapdrift.exe analyze - < "my logs\snap1.txt"`, nil, exitInconclusive, "in one snapshot"},
		"usage":           {`heapdrift.exe analyze --top x`, nil, exitUsage, "-top"},
		"help of a group": {`heapdrift.exe symbols --help`, nil, exitOK, "heapdrift symbols lookup"},
		"parquet":         {`heapdrift.exe analyze trace.etl --format parquet`, nil, exitUsage, "the client writes no Parquet"},
		"server command":  {`heapdrift.exe up`, nil, exitUsage, `the client has no command "up"`},
		"names":           {"", []string{"analyze", `Bücher 日本\snap?.txt`}, exitOK, "over 3 snapshots"},
		"long names": {"", []string{"analyze", strings.Repeat(strings.Repeat("d", 60)+`\`, 5) + "snap*.txt"},
			exitOK, "over 3 snapshots"},
		"version": {"", []string{"version"}, exitOK, "platform  windows/amd64"},
		"output": {`heapdrift.exe analyze "my logs\snap*.txt" -o "my logs\report.json" --format json`, nil,
			exitOK, ""},
		"baseline": {`heapdrift.exe analyze "my logs\snap3.txt" --baseline "my logs\snap1.txt"`, nil,
			exitInconclusive, "baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &windowsClient{t, wine, w.program, w.dir}
			var out, errs string
			var code int
			if test.line != "" {
				out, errs, code = w.cmd(test.line)
			} else {
				out, errs, code = w.run(test.args...)
			}
			if code != test.code || !strings.Contains(out+errs, test.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", code, test.code, test.says, out, errs)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(wine.Drive(), "users", "*", "Temp", "heapdrift-*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v, %v", left, err)
	}
	for name, test := range map[string]func(t *testing.T, w *windowsClient){
		"push": pushFromWindows, "commands": commandsOnWindows, "interrupt": interruptOnWindows,
		"update": updateOnWindows,
	} {
		t.Run(name, func(t *testing.T) { test(t, &windowsClient{t, wine, w.program, w.dir}) })
	}
}

// A push ends with the gate's exit code. A second push of the same files finds the two larger ones on the server.
func pushFromWindows(t *testing.T, w *windowsClient) {
	url := startServer(t)
	line := `heapdrift.exe push --url ` + url + ` --project shop --build 1 "my logs\snap*.txt"`
	for i, want := range []string{"sent", "known"} {
		out, errs, code := w.cmd(line)
		if code != exitInconclusive || !strings.Contains(out, url+"/runs/") ||
			strings.Count(errs, want+" ") < 2 {
			t.Errorf("push %d: exit code %d, want %d and two files %s:\n%s%s", i+1, code, exitInconclusive, want, out, errs)
		}
	}
	t.Run("symbols", func(t *testing.T) { symbolsFromWindows(t, &windowsClient{t, w.wine, w.program, w.dir}, url) })
	t.Run("resume", func(t *testing.T) { resumeFromWindows(t, &windowsClient{t, w.wine, w.program, w.dir}, url) })
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// updateOnWindows has the program replaced while it runs: Windows then renames it. The one in place runs afterwards.
func updateOnWindows(t *testing.T, w *windowsClient) {
	shelf := t.TempDir()
	folder := filepath.Join(shelf, "windows-amd64")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	version := []byte(buildVersion() + "\n")
	if err := os.WriteFile(filepath.Join(shelf, downloads.VersionFile), version, 0o600); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(w.dir, "heapdrift.exe")
	program, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	fresh := slices.Concat(program, []byte("more")) // a program may have bytes behind it: another digest, and it runs
	if err := os.WriteFile(filepath.Join(folder, "heapdrift.exe"), fresh, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEAPDRIFT_DOWNLOADS", shelf)
	url := startServer(t)
	for _, want := range []string{"is replaced by " + buildVersion(), "is the version of the server already"} {
		out, errs, code := w.cmd(`heapdrift.exe update --url ` + url)
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit code %d, want %q:\n%s%s", code, want, out, errs)
		}
	}
	if now, err := os.ReadFile(old); err != nil || len(now) != len(fresh) {
		t.Errorf("the program has %d bytes (%v), want %d", len(now), err, len(fresh))
	}
}
