package worker

import (
	"errors"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

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
