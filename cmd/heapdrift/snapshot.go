package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/hdsnap"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/livesnapshot"
)

// snapshotFlags are the flags of snapshot.
type snapshotFlags struct {
	elevation
	pid    uint
	output string
	opt    livesnapshot.Options
	run    livesnapshot.Run
	work   int64
}

// takeSnapshot takes a snapshot of the heaps of a process on this machine, and writes it to a file.
func takeSnapshot(ctx context.Context, args []string, s streams) (int, error) {
	f := snapshotFlags{elevation: elevation{elevated: s.elevated, command: append([]string{"snapshot"}, args...)}}
	set := flag.NewFlagSet("snapshot", flag.ContinueOnError)
	set.UintVar(&f.pid, "pid", 0, "`number` of the process")
	set.StringVar(&f.output, "o", "", "output `file` (default NAME-PID-TIME.hdsnap)")
	set.DurationVar(&f.opt.PauseLimit, "pause-limit", livesnapshot.DefaultPauseLimit,
		"how long the process may be suspended; a warning names memory that was not read by then")
	set.StringVar(&f.run.Project, "project", "", "project, for the header of the file")
	set.StringVar(&f.run.Build, "build", "", "build under test, for the header of the file")
	set.StringVar(&f.run.Branch, "branch", "", "branch of the build, for the header of the file")
	set.StringVar(&f.run.Commit, "commit", "", "commit of the build, for the header of the file")
	set.StringVar(&f.run.Scenario, "scenario", "", "scenario, for the header of the file")
	set.Int64Var(&f.work, "work", -1, "work that the process has done so far, for the header of the file")
	set.StringVar(&f.run.WorkUnit, "work-unit", "", "unit of --work, for example document")
	set.BoolVar(&f.elevate, "elevate", false,
		"where only an administrator may read the process, ask Windows for it and continue in this console")
	rest, err := parse(set, args, s)
	if err != nil {
		return exitUsage, err
	}
	switch {
	case len(rest) > 0:
		return exitUsage, &usageError{fmt.Sprintf("unexpected argument %q", rest[0])}
	case f.pid == 0 || uint64(f.pid) > math.MaxUint32:
		return exitUsage, &usageError{"--pid: give the number of a process; tasklist lists them"}
	case f.opt.PauseLimit <= 0:
		return exitUsage, &usageError{"--pause-limit: must be more than 0, for example 2s"}
	}
	if f.work >= 0 {
		f.run.Work = &f.work
	}
	c, cost, err := livesnapshot.Take(ctx, uint32(f.pid), f.opt)
	if err != nil {
		return f.refused(ctx, err, s)
	}
	return f.finish(c, cost, s)
}

// refused answers that no snapshot was taken. A process that only an administrator may read is read by one with
// --elevate; without it the lines to run are printed.
func (f *snapshotFlags) refused(ctx context.Context, err error, s streams) (int, error) {
	var own *livesnapshot.Error
	if !errors.As(err, &own) || own.Code != livesnapshot.CodeAccess || f.system().Elevated() {
		return exitInput, err
	}
	if f.elevate {
		code, err := f.restart(ctx, s)
		if err != nil {
			return exitInput, err
		}
		return code, nil
	}
	for _, line := range elevatedLines() {
		fmt.Fprintf(s.err, "%-10s %s\n", "elevated", line)
	}
	return exitInput, fmt.Errorf("%w: add --elevate, or run this line in a console of an administrator", err)
}

// fileStem is the name of a program as the beginning of a file name. It comes from the process, which may call itself
// anything.
func fileStem(name string) string {
	stem := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+ ", r) {
			return r
		}
		return '_'
	}, strings.TrimSuffix(name, ".exe"))
	return cmp.Or(strings.Trim(stem, ".- "), "process")
}

// finish writes the file and says what it holds.
func (f *snapshotFlags) finish(c *capture.Capture, cost livesnapshot.Cost, s streams) (int, error) {
	h := cost.Header(&f.run)
	if f.output == "" {
		f.output = fmt.Sprintf("%s-%d-%s.hdsnap", fileStem(c.Process.Name), c.Process.PID,
			cost.TakenAt.Format("20060102-150405"))
	}
	if err := writeOutput(f.output, s.out, func(w io.Writer) error { return hdsnap.Write(w, h, c) }); err != nil {
		return exitInput, fmt.Errorf("write the snapshot: %w", err)
	}
	var blocks capture.Usage
	for i := range c.Sites {
		if c.Sites[i].Kind == capture.KindHeap {
			blocks = blocks.Add(c.Sites[i].Usage[0])
		}
	}
	fmt.Fprintf(s.out, "%s, PID %d: %s in %s of %s\n", c.Process.Name, c.Process.PID, quantity.Bytes(blocks.Bytes),
		quantity.Plural(blocks.Count, "block"), quantity.Plural(len(c.Heaps), "heap"))
	fmt.Fprintln(s.out, cost)
	if cost.Unguarded != nil {
		fmt.Fprintf(s.err, "note: %s\n", unguarded(cost.Unguarded))
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(s.err, "warning: %s\n", w.Message)
	}
	if info, err := os.Stat(f.output); err == nil {
		fmt.Fprintf(s.out, "wrote %s (%s)\n", f.output, quantity.Bytes(info.Size()))
	}
	if c.Shape == capture.ShapeFacts || c.Snapshots[0].LowerBound {
		return exitInconclusive, nil
	}
	return exitOK, nil
}
