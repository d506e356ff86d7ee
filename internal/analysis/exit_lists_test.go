package analysis_test

import (
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A report says which tests and programs have a whole list of which tool; one list that breaks off takes that from all.
func TestExitLists(t *testing.T) {
	lost := leftSite{"Cache::Add", capture.ReachUnsearched, 2, 64}
	inA, outside := leftAtExit("crt-leaks", "", "A", lost), leftAtExit("vld", "App.exe", "", lost)
	inA.Ran = []string{"A", "Z", "B"}
	snapshot := leftAtExit(capture.KindUMDHSnapshot, "app.exe", "", leftSite{"Cache::Add", 0, 2, 64})
	snapshot.Shape = capture.ShapeSnapshot
	broken := leftAtExit("vld", "App.exe", "", lost)
	broken.Snapshots[0].LowerBound = true
	lossy := leftAtExit("vld", "App.exe", "", lost)
	lossy.Warnings = []capture.Warning{{Code: capture.Truncated, Count: 1}}
	whole := []analysis.ExitLists{{Tool: "vld", Programs: []string{"app.exe"}}, {Tool: "crt-leaks", Tests: []string{"A", "B", "Z"}}}
	for name, test := range map[string]struct {
		list []*capture.Capture
		want []analysis.ExitLists
		held bool
	}{
		"two tools":        {[]*capture.Capture{outside, inA}, whole, false},
		"beside snapshots": {[]*capture.Capture{outside, inA, snapshot}, whole, true},
		"breaks off":       {[]*capture.Capture{broken, inA}, nil, false},
		"a loss":           {[]*capture.Capture{lossy, inA}, nil, false},
		"no list":          {[]*capture.Capture{snapshot}, nil, true},
	} {
		r := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "a"}}, Captures: test.list}})
		if !reflect.DeepEqual(r.ExitLists, test.want) || r.ListsExit != (test.want != nil) {
			t.Errorf("%s: %t, %+v", name, r.ListsExit, r.ExitLists)
		}
		f := &r.Findings[0]
		if f.IsHeld() != test.held {
			t.Errorf("%s: held %t: %+v", name, f.IsHeld(), f)
		}
		if test.want == nil {
			continue
		}
		all := &analysis.ListedLeak{Tools: []string{"crt-leaks", "vld"}, Tests: []string{"A"}, Programs: []string{"app.exe"}, Lost: analysis.Amount{Count: 2, Bytes: 64}}
		if got := f.LeftAtExit.Listed(); !reflect.DeepEqual(got, all) {
			t.Errorf("%s: listed in %+v", name, got)
		}
	}
}
