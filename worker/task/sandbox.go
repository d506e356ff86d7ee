package task

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/jobs"
	"heapdrift/internal/sandbox"
)

// The names that child processes know the tasks by.
const (
	taskRead   = "read"
	taskName   = "name"
	taskReport = "report"
)

// Sandboxed returns the tasks that a child process can run, by name.
func Sandboxed() map[string]sandbox.Task {
	return map[string]sandbox.Task{
		taskRead: func(ctx context.Context, parent *sandbox.Parent, input json.RawMessage) (any, error) {
			var t Read
			if err := json.Unmarshal(input, &t); err != nil {
				return nil, err
			}
			return t.Do(ctx, &remote{parent: parent})
		},
		taskName: func(ctx context.Context, parent *sandbox.Parent, input json.RawMessage) (any, error) {
			var t Name
			if err := json.Unmarshal(input, &t); err != nil {
				return nil, err
			}
			return nil, t.Do(ctx, &remote{parent: parent})
		},
		taskReport: func(ctx context.Context, parent *sandbox.Parent, input json.RawMessage) (any, error) {
			var t Report
			if err := json.Unmarshal(input, &t); err != nil {
				return nil, err
			}
			made, err := t.Do(ctx, &remote{parent: parent})
			var out reported
			if errors.As(err, &out.Refused) {
				return out, nil
			}
			out.Made = made
			return out, err
		},
	}
}

// reported is the outcome of a Report: what was made, or why the captures give no report.
type reported struct {
	Made    Made            `json:"made"`
	Refused *analysis.Error `json:"refused,omitempty"`
}

// RunRead reads evidence in a child process, or in this one where runner is nil. covered are the results of Read.Do.
func RunRead(ctx context.Context, runner *sandbox.Runner, t Read, h Host) (covered []int, err error) {
	if runner == nil {
		return t.Do(ctx, decodingHost{h})
	}
	err = runner.Run(ctx, sandbox.Work{Task: taskRead, Does: "read the files", Input: t, Answers: answers(taskRead, h),
		Progress: progress(jobs.KindRead, h), Outcome: &covered})
	return covered, err
}

// RunReport makes a report in a child process, or in this one where runner is nil. Its error is an *analysis.Error
// where the captures do not give one.
func RunReport(ctx context.Context, runner *sandbox.Runner, t Report, h Host) (Made, error) {
	if runner == nil {
		return t.Do(ctx, decodingHost{h})
	}
	var out reported
	err := runner.Run(ctx, sandbox.Work{Task: taskReport, Does: "made the report", Input: t,
		Answers:  answers(taskReport, h),
		Progress: progress(jobs.KindAnalyse, h), Outcome: &out})
	if err == nil && out.Refused != nil {
		err = out.Refused
	}
	return out.Made, err
}

// A decodingHost gets captures and reports as a child process would hand them over: as what is stored decodes.
type decodingHost struct{ Host }

// StoreCapture implements Host.
func (h decodingHost) StoreCapture(ctx context.Context, _ *capture.Capture, write func(io.Writer) error) error {
	var encoded bytes.Buffer
	if err := write(&encoded); err != nil {
		return err
	}
	c, err := capture.Read(bytes.NewReader(encoded.Bytes()))
	if err != nil {
		return fmt.Errorf("task: capture: %w", err)
	}
	return h.Host.StoreCapture(ctx, c, func(w io.Writer) error {
		_, err := w.Write(encoded.Bytes())
		return err
	})
}

// Report implements Host.
func (h decodingHost) StoreReport(ctx context.Context, made *analysis.Report, write func(io.Writer) error) error {
	var encoded bytes.Buffer
	if err := write(&encoded); err != nil {
		return err
	}
	text, err := json.Marshal(made.Unwritten())
	if err != nil {
		return fmt.Errorf("task: report: %w", err)
	}
	var rest analysis.Unwritten
	if err := json.Unmarshal(text, &rest); err != nil {
		return fmt.Errorf("task: report: %w", err)
	}
	r, err := uncompress(ctx, bytes.NewReader(encoded.Bytes()), &rest)
	if err != nil {
		return err
	}
	return h.Host.StoreReport(ctx, r, func(w io.Writer) error {
		_, err := w.Write(encoded.Bytes())
		return err
	})
}

// RunName names frames in a child process, or in this one where runner is nil.
func RunName(ctx context.Context, runner *sandbox.Runner, t Name, h Host) error {
	if runner == nil {
		return t.Do(ctx, h)
	}
	return runner.Run(ctx, sandbox.Work{Task: taskName, Does: "named the frames", Input: t, Answers: answers(taskName, h),
		Progress: progress(jobs.KindSymbolise, h)})
}

// progress passes on what a child process says of its progress, as far as a job of this kind has such a stage: the text
// is shown to users.
func progress(kind string, h Host) func(percent int, stage string) {
	stages := jobs.KindOf(kind)
	return func(percent int, stage string) {
		if stages.Has(stage) {
			h.Progress(min(max(percent, 0), 100), stage)
		}
	}
}
