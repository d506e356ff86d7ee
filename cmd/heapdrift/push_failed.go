package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
)

// The codes of a push without a verdict, beside those of package push and of the server's problems.
const (
	codeInterrupted = "interrupted"
	codeUnread      = "unread-evidence"   // of a file that the server has and could not read
	codeProcessing  = "processing-failed" // the server could not analyse the run
	codeFailed      = "push-failed"       // for another reason
)

// failed writes the output files of a push that has no verdict, so that none of them looks like a pass, and tells the
// CI system. It returns why the push failed.
func (f *pushFlags) failed(out io.Writer, job *ciJob, client *push.Client, d *delivery, why error) error {
	o := &outcome.Outcome{
		Version: buildVersion(), Project: f.project, Build: f.build, Scenario: cmp.Or(f.scenario, "default"),
		Commit: f.commit, JobURL: job.environment.Link, Gate: outcome.GateError, Code: codeOf(why),
		Sentence: "No verdict: " +
			strings.ReplaceAll(strings.TrimPrefix(why.Error(), "push: "), "\n", "; ") + ".",
		Began: job.began, Took: time.Since(job.began),
	}
	run, v := int64(0), d.verdict
	if d.run != nil {
		run = d.run.ID
		o.URL = client.Page(d.run.PagePath())
		if v == nil {
			v = &push.RunVerdict{RunID: run, Text: fmt.Appendf(nil, `{"run":%d}`, run)}
		}
	}
	err := fmt.Errorf("push: %w; no verdict", why)
	if errors.Is(why, errInterrupted) {
		err = why
	}
	return errors.Join(err, f.writeOutputs(o, v), job.failed(out, o, run, err))
}

// codeOf is the code of an error: the client's, or the one that the server gave.
func codeOf(err error) string {
	var own *push.Error
	var refused *push.Refusal
	switch {
	case errors.Is(err, errInterrupted):
		return codeInterrupted
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &refused) && refused.Code != "":
		return refused.Code
	case errors.As(err, &refused):
		return fmt.Sprintf("http-%d", refused.Status)
	}
	return codeFailed
}
