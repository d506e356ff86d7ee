package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// pushFlags are the flags of the push command.
type pushFlags struct {
	url, token, project, build, scenario, run, branch, commit, sequence string
	fork, ancestors                                                     string
	again                                                               bool
	baseline, failOn, matters                                           string
	symbols, except                                                     list
	work, unit                                                          string
	wait                                                                time.Duration
	outputs                                                             map[string]*string // by format, the file
	acceptPresent, dryRun, quiet                                        bool
	// tries is how often a request is tried without progress; 0 for the default of CI jobs.
	tries int
	// sent is told of the run when the server has its evidence; nil for nobody.
	sent func(client *push.Client, run int64)
}

// verdictFormat is the JSON form of the verdict as the server gives it, with the known facts about its leaks.
const verdictFormat = "json"

func (f *pushFlags) set() *flag.FlagSet {
	set := flag.NewFlagSet("push", flag.ContinueOnError)
	set.StringVar(&f.url, "url", "", "address of the `server` (default $HEAPDRIFT_URL)")
	set.StringVar(&f.token, "token", "",
		"`token` of the project (default $HEAPDRIFT_TOKEN, which is safer: process lists do not show it)")
	set.StringVar(&f.project, "project", "", "`project` (default $HEAPDRIFT_PROJECT, else from the CI system)")
	set.StringVar(&f.build, "build", "", "`build` under test (default: from the CI system)")
	set.StringVar(&f.scenario, "scenario", "", "`workload` that the process ran (default \"default\")")
	set.StringVar(&f.run, "run", "",
		"`name` of the run, unique per build and scenario (default: the CI system's attempt, else 1)")
	set.StringVar(&f.branch, "branch", "", "`branch` of the build (default: from the CI system)")
	set.StringVar(&f.commit, "commit", "", "`commit` of the build (default: from the CI system)")
	set.StringVar(&f.sequence, "sequence", "",
		"position in the order of builds, a whole `number` (default: from the CI system)")
	set.StringVar(&f.fork, "fork", "", "`build` where this branch forked (default: found by the server)")
	set.StringVar(&f.ancestors, "ancestors", "",
		"`file` with the build's ancestor commits, newest first, one per line: the output of git rev-list --first-parent -200 HEAD")
	set.BoolVar(&f.again, "again", false,
		"add a run to the same build and scenario, with the next free number; its verdict is pooled with the earlier runs")
	set.StringVar(&f.baseline, "baseline", "", "`build` to compare with (default: chosen by the server)")
	set.StringVar(&f.failOn, "fail-on", "", "conditions that fail the gate: `new,grown,leak` (default: the project's policy)")
	set.StringVar(&f.matters, "matters", "",
		"smallest `growth` that counts as a leak: 1MB/day, 500KB/hour, 64KB/run, 200B/document, 5%/day or 2GB in 30 days; at most the policy's (default: the policy's)")
	set.DurationVar(&f.wait, "wait", 5*time.Minute, "how long to wait for the verdict")
	set.Var(&f.symbols, "symbols", "`PATTERN`, file or folder of PDBs and images; repeatable")
	set.StringVar(&f.work, "work", "",
		"work done by the process at each file of evidence: `N,N,…` in the order of the files")
	set.StringVar(&f.unit, "work-unit", "", "unit of --work, for example document")
	f.outputs = map[string]*string{verdictFormat: set.String(verdictFormat, "", "`file` for the verdict as JSON")}
	for _, o := range outcome.Formats {
		f.outputs[o.Name] = set.String(o.Name, "", "`file` for the result as "+o.Name)
	}
	set.BoolVar(&f.acceptPresent, "accept-present", false,
		"mark this run's leaks as known, and count them by file and test; needs a token with the scope admin")
	set.Var(&f.except, "except",
		"do not accept leaks of this module, file, test or signature; * is any text; repeatable; with --accept-present")
	set.BoolVar(&f.dryRun, "dry-run", false, "print the files without sending them")
	set.BoolVar(&f.quiet, "quiet", false, "print no progress and only the verdict's last two lines")
	return set
}

// errInterrupted ends a push that the user or the CI system has stopped.
var errInterrupted = errors.New("push: interrupted; the run is incomplete")

// pushEvidence sends evidence and symbols to a server and waits for the verdict; its exit code is the gate.
func pushEvidence(ctx context.Context, args []string, s streams) (int, error) {
	var f pushFlags
	patterns, err := parse(f.set(), args, s)
	if err != nil {
		return exitUsage, err
	}
	return f.push(ctx, patterns, s)
}

// push sends the files of patterns, and waits for the verdict.
func (f *pushFlags) push(ctx context.Context, patterns []string, s streams) (int, error) {
	job := newJob(os.Getenv)
	if err := f.complete(job); err != nil {
		return exitUsage, err
	}
	client, err := push.NewClient(f.url, f.token)
	if err != nil {
		return exitUsage, &usageError{err.Error()}
	}
	client.Tries = f.tries
	plan, err := f.plan(ctx, patterns)
	if err == nil && f.again {
		client.Note = func(text string) { fmt.Fprintln(s.err, text) }
		err = f.nameAgain(ctx, client, plan)
	}
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage, err
	case f.dryRun && err != nil:
		return exitInput, err
	case f.dryRun:
		return exitOK, f.describe(s.out, plan, job, foretell(ctx, client, plan))
	}
	// Output files of an earlier job must not be taken for the outcome of this one.
	if err := f.removeOutputs(); err != nil {
		return exitInput, err
	}
	d := delivery{}
	if err == nil {
		err = f.deliver(ctx, client, plan, job, s, &d)
	}
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return exitInput, f.failed(s.out, job, client, &d, err)
	}
	if err := f.writeOutputs(d.outcome, d.verdict); err != nil {
		return exitInput, err
	}
	if err := job.report(s.out, d.outcome, d.verdict, f.quiet); err != nil {
		return exitInput, err
	}
	return exitOfOutcome(d.outcome), nil
}

// A delivery is how far a push has come.
type delivery struct {
	run     *push.Run        // nil before all files were sent
	verdict *push.RunVerdict // nil before the server gave one
	outcome *outcome.Outcome // nil before all is known
}

// deliver sends the files of a plan and waits for the verdict.
func (f *pushFlags) deliver(ctx context.Context, client *push.Client, plan *push.Plan, job *ciJob, s streams,
	d *delivery) (err error) {
	progress := newPushProgress(s.err, plan.Bytes(), f.quiet)
	client.Note = progress.note
	d.run, err = client.Send(ctx, plan, progress)
	progress.end()
	if err != nil {
		return err
	}
	if f.sent != nil {
		f.sent(client, d.run.ID)
	}
	for _, text := range warningsOf(d.run) {
		progress.note("warning  " + text)
	}
	d.verdict, err = client.AwaitVerdict(ctx, d.run.ID, f.question(), f.wait, progress.waiting)
	progress.end()
	if err != nil {
		return err
	}
	if f.matters != "" && !d.verdict.HasField("matters") {
		progress.note("warning  the server does not support --matters: it uses its own limit")
	}
	if d.outcome, err = f.judge(ctx, client, d.run.ID, d.verdict, job); err != nil || !f.acceptPresent {
		return err
	}
	if err := acceptPresent(ctx, client, d.run.ID, f.except, progress.note); err != nil {
		return err
	}
	if d.verdict, err = client.AwaitVerdict(ctx, d.run.ID, f.question(), f.wait, progress.waiting); err != nil {
		return err
	}
	d.outcome, err = f.judge(ctx, client, d.run.ID, d.verdict, job)
	return err
}

// question is what the flags ask of the gate.
func (f *pushFlags) question() push.Question {
	return push.Question{Baseline: f.baseline, FailOn: f.failOn, Matters: f.matters}
}

// judge asks what the verdict's leaks are. The run is asked for again: only now is known which of its files could not
// be read.
func (f *pushFlags) judge(ctx context.Context, client *push.Client, id int64, v *push.RunVerdict,
	job *ciJob) (*outcome.Outcome, error) {
	run, err := client.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	o, err := client.Outcome(ctx, run, v, job.root())
	if err != nil {
		return nil, err
	}
	o.Version, o.Commit, o.JobURL = buildVersion(), f.commit, job.environment.Link
	o.Began, o.Took = job.began, time.Since(job.began)
	if o.Gate == outcome.GatePending {
		o.Sentence = fmt.Sprintf("No verdict after %v: %d jobs are queued or running.", f.wait, v.Pending)
		o.Why = "the time limit of --wait was reached"
	}
	if o.Sentence == "" {
		o.Sentence = "The server gives no reason for the gate " + o.Gate + "."
	}
	markUnread(o)
	return o, nil
}

// markUnread makes an error of a gate that did not fail where evidence could not be read: such a file may hold a leak.
func markUnread(o *outcome.Outcome) {
	if n := len(o.Problems); n > 0 && o.Gate != outcome.GateFailed {
		o.Gate, o.Code, o.Why = outcome.GateError, codeUnread, quantity.Plural(n, "file")+" of evidence could not be read"
		o.Sentence = o.Why + ". " + o.Sentence
	}
	if o.Gate == outcome.GateError && o.Code == "" {
		o.Code = codeProcessing
	}
}

// exitOfOutcome is the exit code of a gate. A leak fails whatever else went wrong. Without a leak, an unreadable file
// counts, because it may hold one. A verdict that is not there yet decides nothing.
func exitOfOutcome(o *outcome.Outcome) int {
	switch {
	case o.Gate == outcome.GateFailed:
		return exitLeak
	case len(o.Problems) > 0:
		return exitInput
	case o.Gate == outcome.GatePassed:
		return exitOK
	case o.Gate == outcome.GateInconclusive, o.Gate == outcome.GatePending:
		return exitInconclusive
	}
	return exitInput
}

// countOf counts commits; "" for none.
func countOf(commits []string) string {
	if len(commits) == 0 {
		return ""
	}
	return quantity.Plural(len(commits), "commit")
}

// describe prints the files that would be sent, their target, and notes.
func (f *pushFlags) describe(out io.Writer, p *push.Plan, job *ciJob, notes []string) error {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "%-10s %s\n", name, ci.Plain(value))
		}
	}
	line("server", f.url)
	line("system", job.name())
	for _, field := range [][2]string{
		{"project", p.Target.Project}, {"build", p.Target.Build}, {"sequence", f.sequence}, {"branch", p.Target.Branch},
		{"fork", p.Target.Fork}, {"ancestors", countOf(p.Target.Ancestors)},
		{"scenario", p.Target.Scenario},
		{"run", p.Target.Run}, {"baseline", f.baseline}, {"fail on", f.failOn}, {"matters", f.matters},
		{"commit", p.Target.Commit}, {"job", job.environment.Link},
	} {
		line(field[0], field[1])
	}
	for _, list := range []struct {
		name  string
		files []push.File
	}{{"symbols", p.Symbols}, {"evidence", p.Evidence}} {
		for i := range list.files {
			work := ""
			if w := list.files[i].Work; w != nil {
				work = fmt.Sprintf(", work %g", *w)
			}
			line(list.name, fmt.Sprintf("%s, %s%s", list.files[i].Path, quantity.Bytes(list.files[i].Bytes), work))
		}
	}
	for _, note := range notes {
		line("note", note)
	}
	_, err := fmt.Fprintf(out, "--dry-run: not sent, %s in total\n", quantity.Bytes(p.Bytes()))
	return err
}
