package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/memory"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/symbols"
	"heapdrift/worker/task"
	"heapdrift/worker/workertest"
)

// The names of files whose analysis does not end by itself.
const (
	panics = "panics.txt"
	waits  = "waits.txt"
	eats   = "eats.txt"
)

// breakReports lets the child process that makes a report panic, stand still or take memory for files of those names.
func breakReports(tasks map[string]sandbox.Task) {
	whole := tasks["report"]
	tasks["report"] = func(ctx context.Context, parent *sandbox.Parent, input json.RawMessage) (any, error) {
		switch {
		case bytes.Contains(input, []byte(panics)):
			parent.Progress(60, "analysing")
			var none *analysis.Report
			go none.SetStackKeys()
			select {}
		case bytes.Contains(input, []byte(waits)):
			parent.Progress(60, "analysing")
			select {}
		case bytes.Contains(input, []byte(eats)):
			var kept [][]byte
			for ctx.Err() == nil {
				kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
			}
			return len(kept), context.Cause(ctx)
		}
		return whole(ctx, parent, input)
	}
}

// startApart is a pipeline whose tasks run in child processes.
func startApart(t *testing.T) *pipeline {
	t.Helper()
	if !sandbox.Supported {
		t.Skip("this system has no child processes for tasks")
	}
	return &pipeline{t, workertest.StartInChildProcess(t, &sandbox.Runner{})}
}

// uploadTo uploads a log to a build of its own.
func (p *pipeline) uploadTo(build, name string) int64 {
	p.Helper()
	e, err := p.Intake.Accept(p.Context(), leaks.UploadTarget{Project: "p", Build: build}, name, strings.NewReader(log(1, 90)))
	if err != nil {
		p.Fatal(err)
	}
	return e.RunID
}

// analysis is the job that makes the report of a run, once it is there.
func (p *pipeline) analysis(run int64) (store.Job, bool) {
	p.Helper()
	jobs, err := storetest.Now(p.T, p.Store).ListJobs(p.Context(), run)
	if err != nil {
		p.Fatal(err)
	}
	at := slices.IndexFunc(jobs, func(j store.Job) bool { return j.Kind == store.JobAnalyse })
	if at < 0 {
		return store.Job{}, false
	}
	return jobs[at], true
}

// failed waits for the first attempt to make a report to fail, and says why it did.
func (p *pipeline) failed(run int64) (job store.Job) {
	p.Helper()
	await.Until(p.T, "the analysis to fail", func() bool {
		var ok bool
		job, ok = p.analysis(run)
		return ok && job.ErrorCode != ""
	})
	return job
}

// reporters are the child processes of this one that make a report.
func reporters(t *testing.T) (pids []int) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children") // of the thread that started them
	if err != nil {
		t.Error(err)
	}
	for _, file := range threads {
		list, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(list)) {
			line, err := os.ReadFile("/proc/" + child + "/cmdline")
			if words := strings.Split(string(line), "\x00"); err != nil || len(words) < 2 || words[1] != "report" {
				continue
			}
			if pid, err := strconv.Atoi(child); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// A panic or a kill in an analysis costs one attempt of one job, which says what it was. The worker and the jobs of
// other runs go on.
func TestAnalysisThatIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := startApart(t)
	crashed := p.failed(p.uploadTo("panics", panics))
	if crashed.ErrorCode != sandbox.CodeCrashed ||
		!strings.HasPrefix(crashed.Error, "the process that made the report panicked: runtime error: invalid memory address or nil pointer") ||
		!strings.HasSuffix(crashed.Error, "in internal/analysis.(*Report).SetStackKeys (report.go:"+lineOf(t, "if r.lazy == nil {")+")") {
		t.Errorf("after a panic: %+v", crashed)
	}
	killed := p.uploadTo("waits", waits)
	await.Until(t, "the child process", func() bool {
		for _, pid := range reporters(t) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Error(err)
			}
		}
		job, ok := p.analysis(killed)
		return ok && job.ErrorCode != ""
	})
	if job := p.failed(killed); job.ErrorCode != sandbox.CodeCrashed ||
		job.Error != "the process that made the report was ended by signal 9 (killed)" {
		t.Errorf("after a kill: %+v", job)
	}
	if run := p.settled(p.uploadTo("whole", "whole.txt")); run.ReportKey == "" || run.Error != "" {
		t.Errorf("another run: %+v", run)
	}
}

// lineOf is the number of the line of report.go that holds a text.
func lineOf(t *testing.T, text string) string {
	t.Helper()
	source, err := os.ReadFile("../internal/analysis/report.go")
	before, _, found := strings.Cut(string(source), text)
	if err != nil || !found {
		t.Fatal(err, found)
	}
	return strconv.Itoa(strings.Count(before, "\n") + 1)
}

// Whoever cancels an analysis, or takes its lease, ends its child process. Its progress was shown until then.
func TestAnalysisThatIsCancelled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	p := startApart(t)
	run := p.uploadTo("waits", waits)
	await.Until(t, "progress of the child process", func() bool {
		job, _ := p.analysis(run)
		return job.Percent == 60 && job.Stage == "analysing" && len(reporters(t)) == 1
	})
	if n, err := p.Store.CancelRun(t.Context(), run, "ann"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	await.Until(t, "the child process to end", func() bool { return len(reporters(t)) == 0 })
	if job, _ := p.analysis(run); job.State != "failed" || job.ErrorCode != "cancelled" {
		t.Errorf("%+v", job)
	}
}

// A smallHost has one capture.
type smallHost struct {
	task.Host
	content symbols.Content
}

func (h smallHost) Open(context.Context, int) (symbols.Content, error) { return h.content, nil }

func (h smallHost) Progress(int, string) {}

// An analysis that needs more memory than its part of the budget ends with the limit as its cause. One whose captures do
// not give a report ends with the reason, as in this process.
func TestErrorsOfAnAnalysis(t *testing.T) {
	if testing.Short() || !sandbox.Supported {
		t.Skip("it takes seconds, and needs child processes")
	}
	file := func(name string) task.Report {
		return task.Report{Captures: []task.CaptureFile{{Files: []task.EvidenceFile{{File: task.File{Name: name}}}}}}
	}
	var exceeded *memory.LimitError
	_, err := task.RunReport(t.Context(), &sandbox.Runner{ChildMemory: 64 << 20}, file(eats), smallHost{})
	if !errors.As(err, &exceeded) || exceeded.Limit != 64<<20 {
		t.Errorf("%v", err)
	}
	c := capture.Capture{Process: capture.Process{Name: "app.exe"}, Snapshots: make([]capture.Snapshot, 1)}
	wrong := file("a.txt")
	wrong.Settings.Rules, wrong.Settings.RulesVersion = "no rules", 7
	var here *analysis.Error
	for _, runner := range []*sandbox.Runner{nil, {}} {
		_, err := task.RunReport(t.Context(), runner, wrong, smallHost{content: artifactOf(t, &c)})
		var refused *analysis.Error
		if !errors.As(err, &refused) || refused.Code != "bad-rules" || !strings.HasPrefix(refused.Message, "version 7 of ") ||
			here != nil && *here != *refused {
			t.Errorf("%v, in this process %v", err, here)
		}
		here = refused
	}
}

// artifactOf is the open artifact of a capture.
func artifactOf(t *testing.T, c *capture.Capture) symbols.Content {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(f); err != nil {
		t.Fatal(err)
	}
	content, err := sandbox.Opened(f)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
