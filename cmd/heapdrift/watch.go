package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"heapdrift/internal/push"
	"heapdrift/internal/record"
	"heapdrift/internal/record/flags"
)

// watch records every run of a program until it is stopped. Each run of the program is a run of the project; its
// snapshots are pushed as they come.
func watch(ctx context.Context, args []string, s streams) (int, error) {
	f := recordFlags{elevation: elevation{elevated: s.elevated}}
	if err := f.parse("watch", args, s); err != nil {
		return exitUsage, err
	}
	if f.options.Target.PID != 0 {
		return exitUsage, &usageError{"a process runs once: name its program by --image"}
	}
	m, err := f.machine()
	if err != nil {
		return exitInput, err
	}
	f.pushed = map[string]int64{}
	if f.push.url != "" {
		f.options.Server = &flags.Server{URL: f.push.url, Project: f.options.Labels.Project, Key: flags.NewKey()}
	}
	r := &record.Recorder{Machine: m, Options: f.options, Version: buildVersion(), Out: s.err}
	if f.options.PerWork {
		r.In = s.in
	}
	plan, code, err := f.prepare(ctx, r, s)
	if plan == nil || err != nil {
		return code, err
	}
	if f.push.url != "" {
		r.Taken = func(ctx context.Context, rec *record.Recording) { f.pushWatched(ctx, rec, s) }
	}
	err = r.Watch(ctx, plan, func(ctx context.Context, rec *record.Recording, failed error) {
		if rec != nil && len(rec.Files) > 0 && f.push.url != "" {
			f.reportEnd(ctx, rec, s)
		}
		if rec == nil || len(rec.Files) == 0 || f.push.url != "" || errors.Is(failed, record.ErrInterrupted) {
			return
		}
		if _, err := f.conclude(ctx, rec, s); err != nil {
			fmt.Fprintf(s.err, "watch: %v\n", err)
		}
	})
	if _, untold := m.TellServers(ctx); untold != nil {
		fmt.Fprintf(s.err, "note       %v\n", untold)
	}
	var settings *record.FlagsError
	if errors.As(err, &settings) {
		return exitSettings, err
	}
	return exitOK, err
}

// pushWatched pushes all that a run has so far. What the server has is not sent again, so that a lost connection costs
// nothing but time.
func (f *recordFlags) pushWatched(ctx context.Context, rec *record.Recording, s streams) {
	p := *f
	p.push.run = fmt.Sprintf("%s %s PID %d", rec.Host, rec.Process.Started.UTC().Format(time.DateTime), rec.Process.PID)
	if _, err := p.conclude(ctx, rec, s); err != nil {
		fmt.Fprintf(s.err, "watch: %v; the next snapshot tries again\n", err)
	}
}

// reportEnd tells the server that a recording of a watch has ended, and which settings are changed still.
func (f *recordFlags) reportEnd(ctx context.Context, rec *record.Recording, s streams) {
	run, known := f.pushed[rec.Dir]
	if !known {
		return // no push came through
	}
	client, err := push.NewClient(f.push.url, cmp.Or(f.push.token, os.Getenv("HEAPDRIFT_TOKEN")))
	if err != nil {
		fmt.Fprintf(s.err, "watch: %v\n", err)
		return
	}
	f.tell(ctx, client, run, rec, s)
}
