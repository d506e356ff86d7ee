package main

import (
	"context"
	"errors"
	"fmt"

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
	var server *watchPush
	if f.push.url != "" {
		server = f.newWatchPush(s)
		defer server.close()
		r.Taken = server.taken
		go server.retry(ctx)
	}
	err = r.Watch(ctx, plan, func(ctx context.Context, rec *record.Recording, failed error) {
		if rec == nil || len(rec.Files) == 0 {
			return
		}
		if server != nil {
			server.end(ctx, rec)
			return
		}
		if errors.Is(failed, record.ErrInterrupted) {
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
