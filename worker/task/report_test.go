package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/symbols"
)

// A captureHost has captures, and notes what it is told.
type captureHost struct {
	Host
	captures []*capture.Capture
	told     []string
	open     int
}

func (h *captureHost) Open(_ context.Context, file int) (symbols.Content, error) {
	var b bytes.Buffer
	if err := h.captures[file].Write(&b); err != nil {
		return nil, err
	}
	h.open++
	return &storedFile{bytes.NewReader(b.Bytes()), &h.open}, nil
}

func (h *captureHost) Progress(percent int, stage string) {
	h.told = append(h.told, fmt.Sprint(percent, " ", stage))
}

// Files are in the order of their clock where all have one, else of the numbers in their names. What has no clock and
// no sites comes last, and decides nothing.
func TestOrderOfEvidence(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	type file struct {
		name   string
		minute int // −1 for no clock
		shape  capture.Shape
	}
	for _, test := range []struct {
		files []file
		want  string
	}{
		{[]file{{"b", 1, 0}, {"a", 2, 0}}, "b a"},
		{[]file{{"b", 2, 0}, {"a", 1, 0}}, "a b"},
		{[]file{{"10", 1, 0}, {"9", 1, 0}}, "9 10"},
		{[]file{{"b", 1, 0}, {"a", -1, 0}}, "a b"},
		{[]file{{"b", 1, 0}, {"c", 0, 0}, {"a", -1, 0}}, "a b c"},
		{[]file{{"a", -1, capture.ShapeFacts}, {"c", 1, 0}, {"b", 2, 0}}, "c b a"},
		{[]file{{"a", -1, capture.ShapeFacts}, {"d", 0, 0}, {"c", -1, 0}, {"b", -1, capture.ShapeFacts}}, "c d a b"},
		{[]file{{"a", 5, capture.ShapeFacts}, {"c", 1, 0}}, "c a"},
	} {
		h, captures := &captureHost{}, []CaptureFile(nil)
		for i, f := range test.files {
			of := CaptureFile{Evidence: int64(i), Files: []EvidenceFile{{File: File{Name: f.name}}}}
			if f.minute >= 0 {
				at := noon.Add(time.Duration(f.minute) * time.Minute)
				of.TakenAt = &at
			}
			h.captures, captures = append(h.captures, &capture.Capture{Shape: f.shape, Memory: &capture.Memory{}, Snapshots: make([]capture.Snapshot, 1)}), append(captures, of)
		}
		list, err := load(t.Context(), h, captures)
		if err != nil || len(h.told) != len(captures) || h.told[0] != "0 loading captures" || h.open != 0 {
			t.Errorf("%v, told %q, %d are open", err, h.told, h.open)
		}
		var names []string
		for _, e := range list {
			names = append(names, e.Files[0].Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%+v: %s, want %s", test.files, got, test.want)
		}
	}
}

// The captures of one file are one piece of evidence, which began when its trace did. Files of one trace are named in
// order, with the work that any of them declares.
func TestCapturesOfAFile(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	work := 7.0
	trace := &capture.Capture{Shape: capture.ShapeTrace, Trace: &capture.Trace{Start: noon}, Snapshots: make([]capture.Snapshot, 1)}
	snapshot := &capture.Capture{Snapshots: make([]capture.Snapshot, 1)}
	list, err := load(t.Context(), &captureHost{captures: []*capture.Capture{trace, snapshot, snapshot}}, []CaptureFile{
		{Evidence: 5, Table: "table", Files: []EvidenceFile{{File: File{Name: "kernel.etl", SHA256: "k"}, Bytes: 2},
			{File: File{Name: "heap.etl", SHA256: "h"}, Bytes: 1, Work: &work}}},
		{Evidence: 5}, {Evidence: 6, Files: []EvidenceFile{{File: File{Name: "x", SHA256: "x"}}}},
	})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	e := list[0]
	if len(e.Files) != 2 {
		e = list[1]
	}
	if len(e.Captures) != 2 || e.Captures[0].Trace == nil || e.first != 0 || e.taken == nil || !e.taken.Equal(noon) || e.table != "table" ||
		e.Work == nil || *e.Work != 7 || e.Files[0] != (analysis.File{Name: "heap.etl", SHA256: "h", Bytes: 1}) || e.Files[1].Name != "kernel.etl" {
		t.Errorf("%+v", e)
	}
}

// A report's table is that of the trace that it used.
func TestTableOfAReport(t *testing.T) {
	list := []evidenceCaptures{{}, {table: "t"}}
	list[0].Files, list[1].Files = []analysis.File{{SHA256: "a"}}, []analysis.File{{SHA256: "b"}}
	for _, test := range []struct {
		name     string
		trace    bool
		evidence string // digest
		used     bool
		want     string
	}{
		{"used", true, "b", true, "t"}, {"not used", true, "b", false, ""}, {"without a table", true, "a", true, ""},
		{"of snapshots", false, "b", true, ""}, {"of other evidence", true, "c", true, ""},
	} {
		r := &analysis.Report{Evidence: make([]analysis.Evidence, 1)}
		r.Evidence[0].SHA256, r.Evidence[0].Used = test.evidence, test.used
		if test.trace {
			r.Trace = &analysis.Trace{}
		}
		got := ""
		if used := tableOf(r, list); used != nil {
			got = used.table
		}
		if got != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

// A report is about the process of a capture where name, number and beginning agree.
func TestProcessOfAReport(t *testing.T) {
	began := int64(7)
	for _, test := range []struct {
		name    string
		report  *int64
		capture capture.Capture
		want    bool
	}{
		{"the same", &began, capture.Capture{Process: capture.Process{PID: 4, Name: "a.exe"}, Trace: &capture.Trace{Began: 7}}, true},
		{"another number", &began, capture.Capture{Process: capture.Process{PID: 5, Name: "a.exe"}, Trace: &capture.Trace{Began: 7}}, false},
		{"another name", &began, capture.Capture{Process: capture.Process{PID: 4, Name: "b.exe"}, Trace: &capture.Trace{Began: 7}}, false},
		{"another time", &began, capture.Capture{Process: capture.Process{PID: 4, Name: "a.exe"}, Trace: &capture.Trace{Began: 8}}, false},
		{"no trace", &began, capture.Capture{Process: capture.Process{PID: 4, Name: "a.exe"}}, false},
		{"before the trace", nil, capture.Capture{Process: capture.Process{PID: 4, Name: "a.exe"}, Trace: &capture.Trace{Began: allocations.BeforeTrace}}, true},
		{"in the trace", nil, capture.Capture{Process: capture.Process{PID: 4, Name: "a.exe"}, Trace: &capture.Trace{Began: 7}}, false},
	} {
		r := &analysis.Report{Trace: &analysis.Trace{BeganNS: test.report}}
		r.Process.PID, r.Process.Name = 4, "a.exe"
		if got := isAbout(r, &test.capture); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	list := choices([]analysis.Warning{{Code: capture.NoSymbols}, {Code: capture.SeveralProcesses}, {Code: capture.ProcessGone}})
	if len(list) != 2 || list[0].Code != capture.SeveralProcesses || list[1].Code != capture.ProcessGone {
		t.Errorf("%+v", list)
	}
}

// A failed search for symbols is a warning of the report, with its reason.
func TestWarningOfNames(t *testing.T) {
	r := &analysis.Report{}
	if (&Settings{}).warn(r); len(r.Warnings) != 0 {
		t.Errorf("%+v", r.Warnings)
	}
	if (&Settings{NamesError: "no disk"}).warn(r); len(r.Warnings) != 1 || r.Warnings[0].Code != capture.NoSymbols ||
		r.Warnings[0].Count != 1 || !strings.HasSuffix(r.Warnings[0].Message, "no disk") {
		t.Errorf("%+v", r.Warnings)
	}
	opt, err := (&Settings{OwnModules: []string{"a.exe"}}).options(nil)
	if err != nil || !opt.OwnModules["a.exe"] || len(opt.OwnModules) != 1 {
		t.Errorf("%+v, %v", opt, err)
	}
}

// Evidence that no longer shows the chosen process still gives a report, which says so.
func TestChosenProcessIsGone(t *testing.T) {
	c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "app.exe", PID: 7},
		Snapshots: make([]capture.Snapshot, 1)}
	in := []analysis.Input{{Files: []analysis.File{{Name: "a.txt"}}, Captures: []*capture.Capture{c}}}
	for process, gone := range map[string]bool{"": false, "app": false, "7": false, "8": true, "old.exe": true} {
		r, err := analyzeChosen(t.Context(), in, analysis.Options{Process: process})
		if err != nil || r.Process.Name != "app.exe" {
			t.Fatalf("%q: %v", process, err)
		}
		var warned bool
		for _, w := range r.Warnings {
			warned = warned || w.Code == capture.ProcessGone && strings.Contains(w.Message, process)
		}
		if warned != gone || len(choices(r.Warnings)) != 0 != gone { // a window's report says so too
			t.Errorf("%q: %+v", process, r.Warnings)
		}
	}
	var refused *analysis.Error
	if _, err := analyzeChosen(t.Context(), nil, analysis.Options{Process: "app.exe"}); !errors.As(err, &refused) ||
		refused.Code != "no-captures" {
		t.Error(err)
	}
}
