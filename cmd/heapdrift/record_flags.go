package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/flags"
)

// The defaults of recordings.
const (
	defaultSnapshots = 12
	defaultEvery     = 5 * time.Minute
	defaultDatabase  = 256            // MB of call stacks
	defaultUndo      = 24 * time.Hour // at least; a longer recording has the longer time
)

// defaultPause is how long the own reader may pause a process.
const defaultPause = 2 * time.Second

// recordFlags are the flags of record and of watch. Those of push are among them.
type recordFlags struct {
	push                                   pushFlags
	options                                record.Options
	pid, database                          uint
	pauseLimit                             time.Duration
	undo, status, selfTest, force, endless bool
	report, at                             string
	elevation
	// pushed are the runs of a watch on the server, by folder; nil outside of one.
	pushed map[string]int64
}

// withoutPush are the flags of push that record sets itself. A watch names its runs, too.
var withoutPush = []string{"url", "work", "run"}

func (f *recordFlags) set(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	o := &f.options
	set.UintVar(&f.pid, "pid", 0, "record the process with this `PID`, as it runs")
	set.StringVar(&o.Target.Image, "image", "", "record a process of this `program`, such as app.exe, or wait for its start")
	set.StringVar(&o.Target.Service, "service", "", "restart and record a `service`")
	set.StringVar(&o.Target.Pool, "iis-pool", "", "recycle and record an application `pool` of IIS")
	set.StringVar(&o.Evidence, "evidence", collect.Auto, "`kind`: auto, heap, umdh, trace or dump")
	set.DurationVar(&o.Every, "every", defaultEvery, "`time` between two snapshots; a trace lasts all of them")
	set.StringVar(&f.at, "at", "", "`time` of the day, such as 00:00, at which a snapshot is taken instead of every --every")
	set.BoolVar(&o.PerWork, "per-work", false, "take a snapshot at each Enter or heapdrift mark, after the same work each time")
	set.StringVar(&o.Event, "mark-event", "",
		"take a snapshot whenever the `event` of Windows is set, such as Global\\app-done; implies --per-work")
	set.StringVar(&o.Counter, "counter", "",
		"`file or URL` whose first number is the work done; lines:FILE counts the lines of a log. Needs --step")
	set.Float64Var(&o.Step, "step", 0, "`work` between two snapshots of --counter")
	set.DurationVar(&f.pauseLimit, "pause-limit", defaultPause,
		"`time` for which a heap snapshot may pause the process; the report names memory that was not read by then")
	set.StringVar(&o.Dir, "o", "", "`folder` for the evidence (default: a new one, heapdrift-PROGRAM-TIME)")
	set.BoolVar(&o.NoFlags, "no-flags", false, "change no settings of Windows: blocks may have no call stacks")
	set.UintVar(&f.database, "trace-db", defaultDatabase, "`MB` for call stacks in the process")
	set.DurationVar(&o.UndoAfter, "undo-after", 0,
		"`time` after which a scheduled task restores the settings if this program was killed (default: the recording and 24h)")
	set.BoolVar(&f.elevate, "elevate", false,
		"where only an administrator may do this, ask Windows for it and continue in this console")
	set.StringVar(&f.push.url, "push", "", "push the evidence to this `server`, with the flags of heapdrift push")
	f.push.set().VisitAll(func(own *flag.Flag) {
		if !slices.Contains(withoutPush, own.Name) && (name != "watch" || own.Name != "again") {
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
	set.BoolVar(&f.force, "force", false, "with --undo: also the settings of recordings that still run")
	set.BoolVar(&f.status, "status", false, "list the settings that recordings have changed")
	set.BoolVar(&f.selfTest, "self-test", false, "record a leak of this program's own, and print the result")
	set.StringVar(&f.report, "report", "", "`file` for the result of --self-test, without contents of memory")
	return set
}

// parse reads the command line. What is behind -- is the program with its arguments.
func (f *recordFlags) parse(name string, args []string, s streams) error {
	f.command = append([]string{name}, args...)
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
	o.PerWork = o.PerWork || o.Event != ""
	if f.push.unit != "" && !o.PerWork && o.Counter == "" {
		return &usageError{"--work-unit needs --per-work or --counter"}
	}
	if f.pauseLimit <= 0 {
		return &usageError{"--pause-limit: must be more than 0"}
	}
	if f.at != "" {
		at, err := record.ParseDayTime(f.at)
		if err != nil {
			return &usageError{"--at: " + err.Error()}
		}
		if o.At = &at; o.Every == defaultEvery {
			o.Every = record.Day
		}
	}
	if err := o.Check(); err != nil {
		return &usageError{err.Error()}
	}
	job := newJob(os.Getenv)
	e := &job.environment
	o.Labels = record.Labels{
		Project: cmp.Or(f.push.project, os.Getenv("HEAPDRIFT_PROJECT"), e.Project), Build: cmp.Or(f.push.build, e.Build),
		Commit: cmp.Or(f.push.commit, e.Commit), Branch: cmp.Or(f.push.branch, e.Branch), Scenario: f.push.scenario,
	}
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
