package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/push"
	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/flags"
)

// serverTime is how long a server may take to answer before a recording begins.
const serverTime = 20 * time.Second

// machine is this machine, with the tools that the flags ask for.
func (f *recordFlags) machine() (record.Machine, error) {
	m := record.Machine{Processes: f.system(), Registry: flags.Windows{}, MakeFolder: flags.MakeFolder,
		Tools: collect.Tools{Run: collect.Run, Find: collect.FindTool,
			HeapReader: heapReader(f.pauseLimit, f.options.Labels, f.push.unit)}, Tell: tellRestored}
	var err error
	if m.UndoFolder, err = flags.Folder(); err != nil {
		return m, err
	}
	m.Program, err = os.Executable()
	return m, err
}

// recordEvidence records a program, and ends as analyze or push does.
func recordEvidence(ctx context.Context, args []string, s streams) (int, error) {
	if slices.Equal(args, []string{selfTestChild}) {
		return leakForSelfTest(ctx)
	}
	f := recordFlags{elevation: elevation{elevated: s.elevated}}
	if err := f.parse("record", args, s); err != nil {
		return exitUsage, err
	}
	m, err := f.machine()
	switch {
	case err != nil:
		return exitInput, err
	case f.elevate && (f.undo || f.selfTest) && !m.Processes.Elevated():
		return f.restart(ctx, s)
	case f.status:
		return printStatus(&m, s)
	case f.undo:
		code, err := undo(ctx, &m, f.force, s)
		if err != nil {
			return code, err
		}
		if err := f.reportUndo(ctx); err != nil {
			return exitInput, fmt.Errorf("the settings are restored, and the server was not told: %w", err)
		}
		return code, nil
	case f.selfTest:
		return selfTest(ctx, m, &f, s)
	}
	r := &record.Recorder{Machine: m, Options: f.options, Version: buildVersion(), Out: s.err}
	if f.options.PerWork {
		r.In = s.in
	}
	plan, code, err := f.prepare(ctx, r, s)
	if plan == nil || err != nil {
		return code, err
	}
	rec, err := r.Run(ctx, plan)
	if err != nil {
		return endOf(rec, err, s)
	}
	return f.conclude(ctx, rec, s)
}

// prepare plans, prints the plan and asks the server before an hour of recording. plan is nil where all is said.
func (f *recordFlags) prepare(ctx context.Context, r *record.Recorder, s streams) (*record.Plan, int, error) {
	plan, err := r.Plan()
	var settings *record.FlagsError
	if errors.As(err, &settings) {
		if settings.Elevate && f.elevate {
			code, err := f.restart(ctx, s)
			return nil, code, err
		}
		if plan != nil {
			plan.Print(s.err)
		}
		if settings.Elevate {
			for _, line := range elevatedLines() {
				fmt.Fprintf(s.err, "%-10s %s\n", "elevated", line)
			}
		}
		return nil, exitSettings, err
	}
	if err != nil {
		return nil, exitInput, err
	}
	if f.push.dryRun {
		plan.Print(s.out)
		return nil, exitOK, nil
	}
	plan.Print(s.err)
	if f.push.url == "" {
		return plan, exitOK, nil
	}
	client, err := push.NewClient(f.push.url, cmp.Or(f.push.token, os.Getenv("HEAPDRIFT_TOKEN")))
	if err != nil {
		return nil, exitUsage, &usageError{err.Error()}
	}
	asking, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	_, err = client.Build(asking, r.Options.Labels.Project, r.Options.Labels.Build)
	var own *push.Error
	useless := errors.As(err, &own) && (own.Code == push.CodeUnreachable || own.Code == push.CodeNotHeapdrift)
	if useless || asking.Err() != nil {
		return nil, exitInput, fmt.Errorf("record: nothing was recorded, as its evidence could not be pushed: %w", err)
	}
	return plan, exitOK, nil
}

// endOf says what is left of a recording that did not end well.
func endOf(rec *record.Recording, err error, s streams) (int, error) {
	if rec != nil && len(rec.Files) > 0 {
		fmt.Fprintf(s.err, "kept       %s; heapdrift analyze \"%s\" analyses them\n",
			quantity.Plural(len(rec.Files), "file"), filepath.Join(rec.Dir, "*"+filepath.Ext(rec.Files[0])))
	}
	var settings *record.FlagsError
	if errors.As(err, &settings) {
		return exitSettings, err
	}
	return exitInput, err
}

// conclude analyses or pushes what was recorded.
func (f *recordFlags) conclude(ctx context.Context, rec *record.Recording, s streams) (int, error) {
	if f.push.url != "" {
		p := f.push
		p.work = workOf(rec)
		if p.work == "" {
			p.unit = ""
		}
		p.sent = func(client *push.Client, run int64) {
			if f.pushed != nil {
				f.pushed[rec.Dir] = run
			}
			if err := f.tell(ctx, client, run, rec); err != nil {
				fmt.Fprintf(s.err, "note       %v\n", err)
			}
		}
		return p.push(ctx, rec.Files, s)
	}
	return analyze(ctx, f.analyzeArgs(rec), s)
}

// analyzeArgs are the arguments of the analysis of a recording.
func (f *recordFlags) analyzeArgs(rec *record.Recording) []string {
	args := slices.Clone(rec.Files)
	for _, pair := range [][2]string{
		{"--matters", f.push.matters}, {"--baseline", f.push.baseline}, {"--work", workOf(rec)},
	} {
		if pair[1] != "" {
			args = append(args, pair[0], pair[1])
		}
	}
	if workOf(rec) != "" && f.push.unit != "" {
		args = append(args, "--work-unit", f.push.unit)
	}
	for _, path := range f.push.symbols {
		args = append(args, "--symbols", path)
	}
	if rec.Evidence == collect.Trace {
		args = append(args, "--process", strconv.FormatUint(uint64(rec.Process.PID), 10))
	}
	return args
}

// workOf lists the work at each snapshot, as --work takes it; "" where nobody said.
func workOf(rec *record.Recording) string {
	var work []string
	for i := range rec.Snapshots {
		if w := rec.Snapshots[i].Work; w != nil {
			work = append(work, strconv.FormatFloat(*w, 'g', -1, 64))
		}
	}
	if len(work) < len(rec.Files) {
		return ""
	}
	return strings.Join(work, ",")
}

func printStatus(m *record.Machine, s streams) (int, error) {
	lines, err := m.Status()
	for _, line := range lines {
		fmt.Fprintln(s.out, line)
	}
	if len(lines) == 0 && err == nil {
		fmt.Fprintln(s.out, "No recording has settings changed on this machine.")
	}
	return exitOK, err
}

func undo(ctx context.Context, m *record.Machine, force bool, s streams) (int, error) {
	done, err := m.Undo(ctx, force)
	told, untold := m.TellServers(ctx) // also of what an earlier call has restored
	done = append(done, told...)
	for _, line := range done {
		fmt.Fprintln(s.out, line)
	}
	switch {
	case err != nil:
		return exitSettings, errors.Join(err, untold)
	case untold != nil:
		return exitInput, untold
	case len(done) == 0:
		fmt.Fprintln(s.out, "No recording has left settings behind.")
	}
	return exitOK, nil
}
