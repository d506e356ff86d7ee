package analysis_test

import (
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// The work of a run's lists is the sum over its files, each once, and it is known only if each file with a list tells
// it and all lists are whole.
func TestExitWork(t *testing.T) {
	list := func(test string, printed int64) *capture.Capture {
		c := leftAtExit("vld", "app.exe", test, leftSite{"Cache::Add", capture.ReachUnsearched, 2, 64})
		c.Printed = printed
		return c
	}
	file := func(name string, work *float64, captures ...*capture.Capture) analysis.Input {
		return analysis.Input{Files: []analysis.File{{Name: name}}, Captures: captures, Work: work}
	}
	broken := list("", 1)
	broken.Snapshots[0].LowerBound = true
	snapshot := leftAtExit(capture.KindUMDHSnapshot, "app.exe", "", leftSite{"Cache::Add", 0, 2, 64})
	snapshot.Shape = capture.ShapeSnapshot
	for name, test := range map[string]struct {
		inputs []analysis.Input
		want   *analysis.ExitWork
	}{
		"a file of two lists": {[]analysis.Input{file("a", new(70.0), list("A", 2), list("B", 1))}, &analysis.ExitWork{Unit: "page", Count: 70, Lists: 3}},
		"two files": {[]analysis.Input{file("a", new(70.0), list("", 1)), file("b", new(30.0), list("", 1))},
			&analysis.ExitWork{Unit: "page", Count: 100, Lists: 2}},
		"beside snapshots": {[]analysis.Input{file("a", new(70.0), list("", 1)), file("b", nil, snapshot)},
			&analysis.ExitWork{Unit: "page", Count: 70, Lists: 1}},
		"one file does not tell": {[]analysis.Input{file("a", new(70.0), list("", 1)), file("b", nil, list("", 1))}, nil},
		"number unknown":         {[]analysis.Input{file("a", new(70.0), list("", 0))}, nil},
		"it breaks off":          {[]analysis.Input{file("a", new(70.0), broken)}, nil},
		"no list":                {[]analysis.Input{file("a", new(70.0), snapshot)}, nil},
	} {
		r, err := analysis.Analyze(t.Context(), test.inputs, analysis.Options{WorkUnit: "page"})
		if err != nil || !reflect.DeepEqual(r.ExitWork, test.want) {
			t.Errorf("%s: %+v, want %+v, %v", name, r.ExitWork, test.want, err)
		}
	}
}
