package task

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"heapdrift/ingest"
	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/jobs"
)

// A CaptureFile says which evidence a capture was read from.
type CaptureFile struct {
	Evidence int64          `json:"evidence"`           // its number
	Files    []EvidenceFile `json:"files"`              // all files that it was read from
	TakenAt  *time.Time     `json:"taken_at,omitempty"` // nil where the evidence does not say
	Table    string         `json:"table,omitempty"`    // of a trace: what names its allocation table; "" for none
}

// An EvidenceFile is a file that a capture was read from.
type EvidenceFile struct {
	File
	Bytes int64    `json:"bytes"`
	Work  *float64 `json:"work,omitempty"` // done when it was taken, in Settings.WorkUnit; nil where not declared
}

// evidenceCaptures groups the captures that were read from one uploaded file.
type evidenceCaptures struct {
	analysis.Input
	taken *time.Time // the first of them; nil where it has no clock
	table string     // CaptureFile.Table of the first
	first int        // index of the first capture
}

// isTimeless reports whether the evidence has no clock and nothing depends on its time.
func (in *evidenceCaptures) isTimeless() bool {
	return in.taken == nil &&
		!slices.ContainsFunc(in.Captures, func(c *capture.Capture) bool { return c.Shape != capture.ShapeFacts })
}

// load reads the captures and puts the evidence in the order of time.
func load(ctx context.Context, h Host, captures []CaptureFile) ([]evidenceCaptures, error) {
	var list []evidenceCaptures
	for i, of := range captures {
		h.Progress(jobs.ReportStages.At(jobs.LoadingCaptures, int64(i), int64(len(captures))))
		c, err := openCapture(ctx, h, i)
		if err != nil {
			return nil, err
		}
		if i == 0 || captures[i-1].Evidence != of.Evidence {
			list = append(list, evidenceOf(of, i, c))
		}
		last := &list[len(list)-1]
		last.Captures = append(last.Captures, c)
	}
	inTime(list)
	return list, nil
}

// evidenceOf is the evidence whose first capture is c.
func evidenceOf(of CaptureFile, first int, c *capture.Capture) evidenceCaptures {
	in := evidenceCaptures{taken: of.TakenAt, table: of.Table, first: first}
	if c.Trace != nil {
		in.taken = &c.Trace.Start
	}
	slices.SortStableFunc(of.Files, func(a, b EvidenceFile) int { return ingest.NaturalOrder(a.Name, b.Name) })
	for _, f := range of.Files {
		in.Files = append(in.Files, analysis.File{Name: f.Name, SHA256: f.SHA256, Bytes: f.Bytes})
		if f.Work != nil {
			in.Work = f.Work
		}
	}
	return in
}

// inTime puts evidence in order. Files arrive in any order. Their clock decides where all have one; it may be as coarse
// as a minute, so the number in the name decides the rest. Evidence without sites and without a clock comes last.
func inTime(list []evidenceCaptures) {
	clock := !slices.ContainsFunc(list, func(in evidenceCaptures) bool { return in.taken == nil && !in.isTimeless() })
	slices.SortStableFunc(list, func(a, b evidenceCaptures) int {
		if x, y := a.isTimeless(), b.isTimeless(); x != y {
			if x {
				return 1
			}
			return -1
		}
		if clock && a.taken != nil && b.taken != nil {
			if c := a.taken.Compare(*b.taken); c != 0 {
				return c
			}
		}
		return cmp.Or(ingest.NaturalOrder(a.Files[0].Name, b.Files[0].Name),
			cmp.Compare(a.Files[0].SHA256, b.Files[0].SHA256))
	})
}

func inputsOf(list []evidenceCaptures) []analysis.Input {
	inputs := make([]analysis.Input, len(list))
	for i := range list {
		inputs[i] = list[i].Input
	}
	return inputs
}

// tableOf is the evidence whose allocation table a report's sites have rows in; nil where the report is of snapshots.
func tableOf(r *analysis.Report, list []evidenceCaptures) *evidenceCaptures {
	if r.Trace == nil {
		return nil
	}
	for _, e := range r.Evidence {
		for i := range list {
			if e.Used && list[i].table != "" && list[i].Files[0].SHA256 == e.SHA256 {
				return &list[i]
			}
		}
	}
	return nil
}

// openNames reads the names that a search has found.
func openNames(ctx context.Context, h Host, file int) (*capture.Names, error) {
	content, err := h.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.Close() }() // read only
	names, err := capture.ReadNames(io.NewSectionReader(content, 0, content.Size()))
	if err != nil {
		return nil, fmt.Errorf("task: names: %w", err)
	}
	return names, nil
}
