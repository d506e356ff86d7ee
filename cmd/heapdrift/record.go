package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
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
	"heapdrift/internal/record/target"
)

// The defaults of recordings.
const (
	defaultSnapshots = 12
	defaultEvery     = 5 * time.Minute
	defaultDatabase  = 256            // MB of call stacks
	defaultUndo      = 24 * time.Hour // at least; a longer recording has the longer time
)

// serverTime is how long a server may take to answer before a recording begins.
const serverTime = 20 * time.Second

// heapReader is the program's own reader of heaps; nil until it has one.
var heapReader collect.TakeSnapshot

// recordFlags are the flags of record and of watch. Those of push are among them.
type recordFlags struct {
	push                                   pushFlags
	options                                record.Options
	pid, database                          uint
	pauseLimit                             time.Duration
	undo, status, selfTest, force, endless bool
	report                                 string
}

// withoutPush are the flags of push that record sets itself.
var withoutPush = []string{"url", "work", "run", "again"}

func (f *recordFlags) set(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	o := &f.options
	set.UintVar(&f.pid, "pid", 0, "record the process with this `PID`, as it runs")
	set.StringVar(&o.Target.Image, "image", "", "record a process of this `program`, such as app.exe, or wait for its start")
	set.StringVar(&o.Target.Service, "service", "", "restart and record a `service`")
	set.StringVar(&o.Target.Pool, "iis-pool", "", "recycle and record an application `pool` of IIS")
	set.StringVar(&o.Evidence, "evidence", collect.Auto, "`kind`: auto, heap, umdh, trace or dump")
	set.DurationVar(&o.Every, "every", defaultEvery, "`time` between two snapshots; a trace lasts all of them")
	set.BoolVar(&o.PerWork, "per-work", false, "take a snapshot at each Enter or heapdrift mark, after the same work each time")
	set.StringVar(&o.Counter, "counter", "",
		"`file or URL` whose first number is the work done; lines:FILE counts the lines of a log. Needs --step")
	set.Float64Var(&o.Step, "step", 0, "`work` between two snapshots of --counter")
	set.StringVar(&o.Dir, "o", "", "`folder` for the evidence (default: a new one, heapdrift-PROGRAM-TIME)")
	set.BoolVar(&o.NoFlags, "no-flags", false, "change no settings of Windows: blocks may have no call stacks")
	set.UintVar(&f.database, "trace-db", defaultDatabase, "`MB` for call stacks in the process")
	set.DurationVar(&o.UndoAfter, "undo-after", 0,
		"`time` after which a scheduled task restores the settings if this program was killed (default: the recording and 24h)")
	set.StringVar(&f.push.url, "push", "", "push the evidence to this `server`, with the flags of heapdrift push")
	f.push.set().VisitAll(func(own *flag.Flag) {
		if !slices.Contains(withoutPush, own.Name) {
			set.Var(own.Value, own.Name, own.Usage)
		}
	})
	if name == "watch" {
		f.endless, o.Watch = true, true
		return set
	}
	set.IntVar(&o.Snapshots, "snapshots", defaultSnapshots, "`number` of snapshots; 0 records until the program ends or Ctrl C")
	set.BoolVar(&o.Keep, "keep", false, "leave the program running that record has started")
	set.BoolVar(&f.undo, "undo", false, "restore the settings that recordings have left behind")
	set.BoolVar(&f.force, "force", false, "with --undo: also those of recordings that still run")
	set.BoolVar(&f.status, "status", false, "list the settings that recordings have changed")
	set.BoolVar(&f.selfTest, "self-test", false, "record a leak of this program's own, and say what was found")
	set.StringVar(&f.report, "report", "", "`file` for the result of --self-test, without contents of memory")
	return set
}

// machine is this machine.
func machine() (record.Machine, error) {
	m := record.Machine{Processes: target.Windows{}, Registry: flags.Windows{}, MakeFolder: flags.MakeFolder,
		Tools: collect.Tools{Run: collect.Run, Find: collect.FindTool, HeapReader: heapReader}}
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
	var f recordFlags
	if err := f.parse("record", args, s); err != nil {
		return exitUsage, err
	}
	m, err := machine()
	switch {
	case err != nil:
		return exitInput, err
	case f.status:
		return printStatus(&m, s)
	case f.undo:
		return undo(ctx, &m, f.force, s)
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

// parse reads the command line. What is behind -- is the program with its arguments.
func (f *recordFlags) parse(name string, args []string, s streams) error {
	if i := slices.Index(args, "--"); i >= 0 {
		args, f.options.Target.Command = args[:i], args[i+1:]
	}
	rest, err := parse(f.set(name), args, s)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &usageError{fmt.Sprintf("unexpected %q: write -- before the program", rest[0])}
	}
	if f.undo || f.status || f.selfTest {
		return nil
	}
	return f.complete()
}

// complete fills in what the flags do not say.
func (f *recordFlags) complete() error {
	o := &f.options
	o.Target.PID, o.DatabaseMB, o.Unit = uint32(f.pid), uint32(f.database), f.push.unit
	if f.push.unit != "" && !o.PerWork && o.Counter == "" {
		return &usageError{"--work-unit needs --per-work or --counter"}
	}
	if err := o.Check(); err != nil {
		return &usageError{err.Error()}
	}
	job := newJob(os.Getenv)
	e := &job.environment
	o.Labels = record.Labels{Project: cmp.Or(f.push.project, os.Getenv("HEAPDRIFT_PROJECT"), e.Project), Build: cmp.Or(f.push.build, e.Build),
		Commit: cmp.Or(f.push.commit, e.Commit), Branch: cmp.Or(f.push.branch, e.Branch), Scenario: f.push.scenario}
	o.UndoAfter = cmp.Or(o.UndoAfter, defaultUndo+time.Duration(o.Snapshots)*o.Every)
	if o.Dir == "" {
		o.Dir = fmt.Sprintf("heapdrift-%s-%s", f.targetName(), time.Now().Format("20060102-150405"))
	}
	if f.push.url == "" {
		for name, path := range f.push.outputs {
			if *path != "" {
				return &usageError{"--" + name + " needs --push"}
			}
		}
		return nil
	}
	check := f.push // completing changes it
	if err := check.complete(job); err != nil {
		return err
	}
	return nil
}

// targetName is the name of what is recorded, for that of the folder.
func (f *recordFlags) targetName() string {
	t := &f.options.Target
	name := cmp.Or(t.Image, t.Service, t.Pool)
	switch {
	case len(t.Command) > 0:
		name = flags.ImageName(t.Command[0])
	case name == "":
		name = strconv.FormatUint(uint64(t.PID), 10)
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// prepare plans, prints the plan and asks the server before an hour of recording. plan is nil where all is said.
func (f *recordFlags) prepare(ctx context.Context, r *record.Recorder, s streams) (*record.Plan, int, error) {
	plan, err := r.Plan()
	var settings *record.FlagsError
	if errors.As(err, &settings) {
		if plan != nil {
			plan.Print(s.err)
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
	if asking.Err() != nil || errors.As(err, &own) && (own.Code == push.CodeUnreachable || own.Code == push.CodeNotHeapdrift) {
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
		return p.push(ctx, rec.Files, s)
	}
	return analyze(ctx, f.analyzeArgs(rec), s)
}

// analyzeArgs are the arguments of the analysis of a recording.
func (f *recordFlags) analyzeArgs(rec *record.Recording) []string {
	args := slices.Clone(rec.Files)
	for _, pair := range [][2]string{{"--matters", f.push.matters}, {"--baseline", f.push.baseline}, {"--work", workOf(rec)}} {
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
	for _, line := range done {
		fmt.Fprintln(s.out, line)
	}
	if err != nil {
		return exitSettings, err
	}
	if len(done) == 0 {
		fmt.Fprintln(s.out, "No recording has left settings behind.")
	}
	return exitOK, nil
}
