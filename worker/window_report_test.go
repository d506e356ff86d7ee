package worker

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
)

type emptyTable struct{}

func (emptyTable) Len() int64                                                    { return 0 }
func (emptyTable) Scan(context.Context, int64, int64, ...allocations.Sink) error { return nil }

// After another file of a trace was read, and before the report on it is made, the captures may be of other files, or
// of a process that the report knows by another name. The answer is then neither a failure of the server nor that the
// run has no trace.
func TestWindowOfATraceThatWasReadAgain(t *testing.T) {
	blobs := newBlobs(t)
	var content bytes.Buffer
	if err := allocations.Write(t.Context(), &content, emptyTable{}, nil); err != nil {
		t.Fatal(err)
	}
	digest, err := blob.PutContent(t.Context(), blobs, &content)
	if err != nil {
		t.Fatal(err)
	}
	w := &WindowAnswers{Blobs: blobs}
	head := &analysis.Report{
		Process:  analysis.Process{Name: "Process 7", PID: 7},
		Trace:    &analysis.Trace{ToNS: 9},
		Evidence: []analysis.Evidence{{SHA256: "heap", Used: true}},
	}
	narrow := func(file, process string) error {
		c := &capture.Capture{Process: capture.Process{Name: process, PID: 7},
			Trace: &capture.Trace{To: 9, Began: allocations.BeforeTrace}}
		list := []evidenceCaptures{{table: store.AllocationTable{Key: blob.ContentKey(digest.SHA256)},
			Input: analysis.Input{Files: []analysis.File{{SHA256: file}}, Captures: []*capture.Capture{c}}}}
		return w.narrow(t.Context(), list, head, capture.Window{To: 9})
	}
	if err := narrow("heap", "Process 7"); err != nil {
		t.Error(err)
	}
	for _, now := range [][2]string{{"heap", "app.exe"}, {"kernel", "Process 7"}} {
		var refused *analysis.Error
		if err := narrow(now[0], now[1]); !errors.As(err, &refused) || refused.Code != analysis.CodeReadAgain {
			t.Errorf("%s of %s: %v", now[1], now[0], err)
		}
	}
}
