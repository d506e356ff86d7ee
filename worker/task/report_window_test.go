package task

import (
	"bytes"
	"context"
	"errors"
	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"slices"
	"testing"
)

type emptyTable struct{}

func (emptyTable) Len() int64                                                    { return 0 }
func (emptyTable) Scan(context.Context, int64, int64, ...allocations.Sink) error { return nil }

// After another file of a trace was read, and before the report on it is made, the captures may be of other files, or
// of a process that the report knows by another name. The answer is then neither a failure of the server nor that the
// run has no trace.
func TestWindowOfATraceThatWasReadAgain(t *testing.T) {
	var content bytes.Buffer
	if err := allocations.Write(t.Context(), &content, emptyTable{}, nil); err != nil {
		t.Fatal(err)
	}
	h := &storedHost{names: []string{"capture", "names", "table"}, files: map[string][]byte{"table": content.Bytes()}}
	task := Report{Captures: make([]CaptureFile, 1), Window: &TraceWindow{Window: capture.Window{To: 9}}}
	head := &analysis.Report{
		Process:  analysis.Process{Name: "Process 7", PID: 7},
		Trace:    &analysis.Trace{ToNS: 9},
		Evidence: []analysis.Evidence{{SHA256: "heap", Used: true}},
	}
	narrow := func(file, process string) error {
		c := &capture.Capture{Process: capture.Process{Name: process, PID: 7},
			Trace: &capture.Trace{To: 9, Began: allocations.BeforeTrace}}
		list := []evidenceCaptures{{table: "t",
			Input: analysis.Input{Files: []analysis.File{{SHA256: file}}, Captures: []*capture.Capture{c}}}}
		return task.narrow(t.Context(), h, list, head)
	}
	if err := narrow("heap", "Process 7"); err != nil || h.open != 0 || !slices.Equal(h.opened, []string{"table"}) {
		t.Errorf("%v, opened %q, %d are open", err, h.opened, h.open)
	}
	for _, now := range [][2]string{{"heap", "app.exe"}, {"kernel", "Process 7"}} {
		var refused *analysis.Error
		if err := narrow(now[0], now[1]); !errors.As(err, &refused) || refused.Code != analysis.CodeReadAgain {
			t.Errorf("%s of %s: %v", now[1], now[0], err)
		}
	}
}
