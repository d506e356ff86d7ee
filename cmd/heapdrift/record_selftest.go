package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/record"
	"heapdrift/internal/record/flags"
)

// selfTestChild is the argument by which the self-test starts this program as its target.
const selfTestChild = "--self-test-leak"

// The self-test leaks so many blocks of so many bytes before each of its snapshots.
const selfTestRounds, selfTestBlocks, selfTestBytes = 12, 1000, 120

// selfTestPatience is how long the leaking program waits for a snapshot.
const selfTestPatience = 10 * time.Minute

// selfTest records a leak of this program's own, and says what was found: the first run on a machine proves the way, or
// reports where it breaks.
func selfTest(ctx context.Context, m record.Machine, f *recordFlags, s streams) (int, error) {
	dir, err := os.MkdirTemp("", "heapdrift-self-test-")
	if err != nil {
		return exitInput, fmt.Errorf("self-test: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // dumps are large
	o := &f.options
	o.Target = record.Target{Command: []string{m.Program, "record", selfTestChild}}
	o.Snapshots, o.PerWork, o.Unit, o.Dir = selfTestRounds, true, "round", filepath.Join(dir, "recording")
	o.DatabaseMB, o.UndoAfter = uint32(f.database), time.Hour
	var report bytes.Buffer
	out := io.MultiWriter(s.out, &report)
	fmt.Fprintf(out, "heapdrift  %s\nsystem     %s\n", buildVersion(), m.Processes.Describe())
	if !m.Processes.Elevated() && !o.NoFlags {
		o.NoFlags = true
		fmt.Fprintln(out, "settings   not changed: not an administrator. Blocks have no call stacks")
	}
	code, err := runSelfTest(ctx, m, f, out, s)
	if err != nil {
		fmt.Fprintf(&report, "error      %v\n", err)
	}
	if f.report != "" {
		write := func(w io.Writer) error { _, err := w.Write(report.Bytes()); return err }
		if err := writeOutput(f.report, nil, write); err != nil {
			return exitInput, err
		}
	}
	return code, err
}

func runSelfTest(ctx context.Context, m record.Machine, f *recordFlags, out io.Writer, s streams) (int, error) {
	r := &record.Recorder{Machine: m, Options: f.options, Version: buildVersion(), Out: s.err}
	plan, code, err := f.prepare(ctx, r, s)
	if plan == nil || err != nil {
		return code, err
	}
	rec, err := r.Run(ctx, plan)
	if err != nil {
		return endOf(nil, err, s)
	}
	var bytesTaken int64
	var longest float64
	for i := range rec.Snapshots {
		bytesTaken += rec.Snapshots[i].Bytes
		longest = max(longest, rec.Snapshots[i].PauseMS)
	}
	fmt.Fprintf(out, "evidence   %s, %d snapshots, %d bytes, longest pause %.0f ms\n", rec.Evidence, len(rec.Files),
		bytesTaken, longest)
	for i := range rec.Settings.Changed {
		c := &rec.Settings.Changed[i]
		fmt.Fprintf(out, "setting    %s %s\n", c.Name, restoredText(m.Registry, rec.Process.Image, c))
	}
	report, err := selfTestReport(ctx, f, rec, s)
	if err != nil {
		return exitInput, err
	}
	warnings := map[string]int{}
	for i := range report.Warnings {
		warnings[string(report.Warnings[i].Code)]++
	}
	for _, code := range slices.Sorted(maps.Keys(warnings)) {
		fmt.Fprintf(out, "warning    %s, %d\n", code, warnings[code])
	}
	return judgeSelfTest(report, out), nil
}

// restoredText says whether a setting is what it was before.
func restoredText(r flags.Registry, image string, c *flags.Change) string {
	now, err := r.Get(image, c.Name)
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	if now.String() != c.Before.String() {
		return fmt.Sprintf("is %s, before it was %s", now, c.Before)
	}
	return fmt.Sprintf("was %s, is %s again", c.After, now)
}

func selfTestReport(ctx context.Context, f *recordFlags, rec *record.Recording, s streams) (*analysis.Report, error) {
	path := filepath.Join(rec.Dir, "report.json")
	if _, err := analyze(ctx, append(f.analyzeArgs(rec), "--format", "json", "-o", path), s); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	report := new(analysis.Report)
	return report, json.Unmarshal(text, report)
}

// judgeSelfTest says whether the leak was found: all of its blocks, and as a leak.
func judgeSelfTest(report *analysis.Report, out io.Writer) int {
	const leaked = (selfTestRounds - 1) * selfTestBlocks // after the first snapshot
	found := int64(0)
	for i := range report.Sites {
		found = max(found, report.Sites[i].Growth.Count)
	}
	fmt.Fprintf(out, "leaked     %d blocks of %d bytes between the first snapshot and the last\n", leaked, selfTestBytes)
	fmt.Fprintf(out, "found      %d blocks at the site that grew most; verdict %s\n", found, report.Verdict.Status)
	if found < leaked || report.Verdict.Status != analysis.StatusLeak {
		fmt.Fprintln(out, "NOT PROVED: this machine's recordings do not show the leak. Add --report FILE, and send the file")
		return exitInconclusive
	}
	fmt.Fprintln(out, "PROVED: a recording on this machine finds the leak")
	return exitOK
}

// leakForSelfTest is the program that the self-test records: it leaks, and marks each round.
func leakForSelfTest(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, selfTestPatience)
	defer cancel()
	dir, err := record.FindRecording()
	for round := 0; err == nil && round < selfTestRounds; round++ {
		if err = leakBlocks(selfTestBlocks, selfTestBytes); err == nil {
			_, err = record.Mark(ctx, dir, nil)
		}
	}
	return exitOK, err
}
