package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/livesnapshot"
)

// Mistakes in the command line, and systems that are not Windows, are refused with what to do.
func TestSnapshotRefusals(t *testing.T) {
	for line, test := range map[string]struct {
		code int
		says string
	}{
		"":                              {exitUsage, "--pid: give the number of a process"},
		"--pid 0":                       {exitUsage, "--pid: give the number of a process"},
		"--pid 4294967296":              {exitUsage, "--pid: give the number of a process"},
		"--pid x":                       {exitUsage, "invalid value"},
		"--pid 4 app.exe":               {exitUsage, `unexpected argument "app.exe"`},
		"--pid 4 --pause-limit 0s":      {exitUsage, "--pause-limit: must be more than 0"},
		"--pid 4 --pause-limit -1s":     {exitUsage, "--pause-limit: must be more than 0"},
		"--pid 4 --pause-limit forever": {exitUsage, "invalid value"},
		"--pid 4":                       {exitInput, "run heapdrift.exe on the machine of the process"},
	} {
		if runtime.GOOS == "windows" && test.code == exitInput {
			continue
		}
		var out, errs strings.Builder
		code := run(t.Context(), append([]string{"snapshot"}, strings.Fields(line)...), streams{out: &out, err: &errs})
		if code != test.code || !strings.Contains(errs.String(), test.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", line, code, test.code, test.says, out.String(), errs.String())
		}
	}
}

// What was taken is written and printed. A snapshot without heaps, or of a part of them, is inconclusive.
func TestSnapshotOutput(t *testing.T) {
	whole := func() *capture.Capture {
		c := &capture.Capture{Process: capture.Process{Name: "app.exe", PID: 42, Bits: 64}, Snapshots: make([]capture.Snapshot, 1),
			Heaps: []capture.Heap{{Handle: 0x1000}}}
		c.Sites = []capture.Site{{Usage: []capture.Usage{{Count: 3, Bytes: 300}}},
			{Heap: capture.NoHeap, Kind: capture.KindVirtual, Usage: []capture.Usage{{Count: 1, Bytes: 4096}}}}
		return c
	}
	part, none := whole(), whole()
	part.Snapshots[0].LowerBound = true
	part.Warnings = []capture.Warning{{Code: capture.Truncated, Message: "Raise --pause-limit: the process went on."}}
	none.Shape, none.Heaps, none.Sites, none.Memory = capture.ShapeFacts, nil, nil, &capture.Memory{Source: "snapshot"}
	cost := livesnapshot.Cost{Pause: 12 * time.Millisecond, Total: time.Second, BytesRead: 5 << 20, Cloned: true,
		TakenAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	t.Chdir(t.TempDir())
	for name, test := range map[string]struct {
		c      *capture.Capture
		code   int
		output string // "" for the default
		says   []string
	}{
		"whole": {whole(), exitOK, "", []string{"app.exe, PID 42: 300 B in 3 blocks of 1 heap\n",
			"The process was suspended for 0.012 s. 5.00 MB were read from a clone, in 1 s.\n", "wrote app-42-20260102-030405.hdsnap ("}},
		"part": {part, exitInconclusive, "part.hdsnap", []string{"warning: Raise --pause-limit", "wrote part.hdsnap ("}},
		"none": {none, exitInconclusive, "none.hdsnap", []string{"0 B in 0 blocks of 0 heaps", "wrote none.hdsnap ("}},
	} {
		f := snapshotFlags{output: test.output}
		var out strings.Builder
		code, err := f.finish(test.c, cost, streams{out: &out, err: &out})
		if err != nil || code != test.code {
			t.Errorf("%s: exit code %d, want %d, %v", name, code, test.code, err)
		}
		for _, want := range test.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, out.String())
			}
		}
		if info, err := os.Stat(f.output); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"app.exe": "app", "größe 2.exe": "größe 2", `a:b*c?\x1b`: "a_b_c__x1b", "": "process",
		"-o.exe": "o", "..": "process"} {
		if got := fileStem(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
	f := snapshotFlags{output: filepath.Join("no", "folder", "a.hdsnap")}
	if code, err := f.finish(whole(), cost, streams{out: os.Stdout, err: os.Stderr}); code != exitInput || err == nil {
		t.Errorf("no folder: exit code %d, %v", code, err)
	}
}
